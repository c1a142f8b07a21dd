//! Updates a catalogue after its list of skills changed: unchanged skills are copied, and only changed texts are read.

use std::collections::HashMap;

use super::{Catalogue, ListedSkill, RELATED, SkillText};
use crate::recall::hash::{KeyHashBuilder, hash};
use crate::recall::meaning::Vector;
use crate::recall::names::Names;
use crate::recall::postings::GONE;
use crate::recall::segment::{CatalogueSegment, compact};
use crate::recall::tokens::list_keys;
use crate::recall::triggers::Triggers;
use crate::skills::name::lookup_key;

/// Maximum number of `see_also` names read per skill.
const SEE_ALSO: usize = 1024;

/// Returns the hash of a name's lookup key, or of the name itself if it has no key.
fn hash_of_name(name: &str) -> u64 {
    hash(lookup_key(name).as_deref().unwrap_or(name).as_bytes())
}

impl Catalogue {
    /// Returns the catalogue for a new list of skills. Only changed texts are read. Search results are the same as with
    /// a catalogue built from all texts.
    pub fn update(&self, skills: &[ListedSkill<'_>]) -> Self {
        let mut by_name: Vec<u32> = (0..).take(skills.len()).collect();
        by_name.sort_by_key(|place| skills.get(*place as usize).map(|skill| skill.name));
        let vectors = skills.iter().map(|skill| match (skill.embedding, skill.before) {
            (Some(embedding), _) => Vector::New(embedding),
            (None, Some(before)) => Vector::Of(before),
            (None, None) => Vector::New(None),
        });
        let mut catalogue = Self {
            by_name,
            meanings: self.meanings.update(vectors),
            names: Names::new(skills.iter().map(|skill| (skill.name, skill.alias))),
            parts: self.update_parts(skills),
            triggers: self.update_triggers(skills),
            see_also: self.update_see_also(skills),
            reserved: (0..).zip(skills).filter(|(_, skill)| self.reserves(skill)).map(|(place, _)| place).collect(),
            ..Self::default()
        };
        catalogue.find_homes(skills.len());
        catalogue.scale();
        catalogue.link(skills);
        catalogue
    }

    fn update_parts(&self, skills: &[ListedSkill<'_>]) -> Vec<CatalogueSegment> {
        let mut moved = vec![GONE; self.len()];
        let mut read = Vec::new();
        for (place, skill) in (0..).zip(skills) {
            match (skill.text, skill.before.and_then(|before| moved.get_mut(before))) {
                (Some(text), _) => read.push((place, text)),
                (None, Some(moved)) => *moved = place,
                (None, None) => read.push((place, SkillText { name: skill.name, ..SkillText::default() })),
            }
        }
        let kept = self.parts.iter().map(|part| part.moved(&moved));
        compact(kept.chain((!read.is_empty()).then(|| CatalogueSegment::count(&read))).collect())
    }

    fn update_triggers(&self, skills: &[ListedSkill<'_>]) -> Triggers {
        let mut moved = vec![GONE; self.len()];
        let mut read = Vec::new();
        for (place, skill) in (0..).zip(skills) {
            match (skill.text, skill.before.and_then(|before| moved.get_mut(before))) {
                (Some(text), _) => read.push((place, text.triggers.iter().map(|trigger| list_keys(trigger)).collect())),
                (None, Some(moved)) => *moved = place,
                (None, None) => {}
            }
        }
        self.triggers.update(&moved, read.into_iter())
    }

    fn update_see_also(&self, skills: &[ListedSkill<'_>]) -> Vec<Box<[u64]>> {
        let of = |skill: &ListedSkill<'_>| match (skill.text, skill.before.and_then(|before| self.see_also.get(before)))
        {
            (Some(text), _) => text.see_also.iter().take(SEE_ALSO).map(|name| hash_of_name(name)).collect(),
            (None, kept) => kept.cloned().unwrap_or_default(),
        };
        skills.iter().map(of).collect()
    }

    fn reserves(&self, skill: &ListedSkill<'_>) -> bool {
        match skill.text {
            Some(text) => text.reserved,
            None => skill.before.is_some_and(|before| self.is_reserved(before)),
        }
    }

    fn find_homes(&mut self, skills: usize) {
        self.homes = vec![(u8::MAX, 0); skills];
        for (at, part) in (0..).zip(&self.parts) {
            for (place, own) in part.live() {
                self.homes[place] = (at, own as u32);
            }
        }
    }

    fn link(&mut self, skills: &[ListedSkill<'_>]) {
        let mut places: HashMap<u64, u32, KeyHashBuilder> =
            skills.iter().map(|skill| hash(skill.name.as_bytes())).zip(0..).collect();
        for (alias, place) in skills.iter().zip(0..).filter_map(|(skill, place)| Some((skill.alias?, place))) {
            places.entry(hash(alias.as_bytes())).or_insert(place);
        }
        for (own, names) in (0..).zip(&self.see_also) {
            let start = self.related.len();
            let found = names.iter().filter_map(|name| places.get(name).copied());
            for place in found.filter(|place| *place != own) {
                if self.related.len() == start + RELATED {
                    break;
                }
                if !self.related[start..].contains(&place) {
                    self.related.push(place);
                }
            }
            self.related_ends.push(self.related.len() as u32);
        }
    }
}
