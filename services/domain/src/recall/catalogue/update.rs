//! Makes the catalogue of a list that has changed: what is known of the skills that stayed is taken over, and only the
//! texts of the others are read.

use std::collections::HashMap;

use super::{Catalogue, Listed, RELATED, SkillText};
use crate::recall::hash::{Keyed, hash};
use crate::recall::meaning::Vector;
use crate::recall::names::Names;
use crate::recall::postings::GONE;
use crate::recall::segment::{Part, compact};
use crate::recall::tokens::list_keys;
use crate::recall::triggers::Triggers;

/// Most names in a `see_also` that are looked at.
const SEE_ALSO: usize = 1024;

impl Catalogue {
    /// The catalogue of a list in which some skills are as they are in this one: only the texts of the others are read. It
    /// finds what one that was built of all texts finds.
    pub fn update(&self, skills: &[Listed<'_>]) -> Self {
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
            names: Names::new(skills.iter().map(|skill| skill.name)),
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

    fn update_parts(&self, skills: &[Listed<'_>]) -> Vec<Part> {
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
        compact(kept.chain((!read.is_empty()).then(|| Part::count(&read))).collect())
    }

    fn update_triggers(&self, skills: &[Listed<'_>]) -> Triggers {
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

    fn update_see_also(&self, skills: &[Listed<'_>]) -> Vec<Box<[u64]>> {
        let of = |skill: &Listed<'_>| match (skill.text, skill.before.and_then(|before| self.see_also.get(before))) {
            (Some(text), _) => text.see_also.iter().take(SEE_ALSO).map(|name| hash(name.as_bytes())).collect(),
            (None, kept) => kept.cloned().unwrap_or_default(),
        };
        skills.iter().map(of).collect()
    }

    fn reserves(&self, skill: &Listed<'_>) -> bool {
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

    fn link(&mut self, skills: &[Listed<'_>]) {
        let places: HashMap<u64, u32, Keyed> =
            skills.iter().map(|skill| hash(skill.name.as_bytes())).zip(0..).collect();
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
