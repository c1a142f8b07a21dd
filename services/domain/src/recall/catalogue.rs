//! Everything that finds the skills of one user, ready in memory.

mod scale;
mod update;

#[cfg(test)]
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::claims::claims_of;
use super::hash::{hash, short};
use super::meaning::Meanings;
use super::names::Names;
use super::postings::Count;
use super::segment::Part;
use super::tokens::{list_distinct_terms, list_keys};
use super::triggers::Triggers;
use scale::{Scale, Weights};

/// What recall reads of one skill.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkillText<'a> {
    pub name: &'a str,
    /// What the skill does and when to use it.
    pub description: &'a str,
    /// Short phrases that call for it.
    pub triggers: &'a [String],
    pub body: &'a str,
    /// Names of related skills.
    pub see_also: &'a [String],
    /// Whether it is recalled by name alone, as its author wants it.
    pub reserved: bool,
    /// The embedding of name, description and triggers, if there is one yet; any length but the same for all.
    pub embedding: Option<&'a [f32]>,
}

/// A skill of the list that a catalogue is to hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listed<'a> {
    /// Its place in the catalogue of before, if it was there.
    pub before: Option<usize>,
    pub name: &'a str,
    /// Its text, whose embedding is not looked at; `None` where the text is as it was before.
    pub text: Option<SkillText<'a>>,
    /// Its embedding, `Some(None)` where it has none; `None` where it is as it was before.
    pub embedding: Option<Option<&'a [f32]>>,
}

/// The searchable form of a list of skills; a skill is known by its place in that list.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// At most two.
    parts: Vec<Part>,
    /// Of each skill: the part that has its words, and its number there.
    homes: Vec<(u8, u32)>,
    /// What the words of each skill count.
    scales: Vec<Scale>,
    /// How much each skill has to say, 0 to 1, and the one in the middle.
    pub(super) depths: Vec<f32>,
    pub(super) median_depth: f32,
    /// Skills that are recalled by name alone, ascending.
    reserved: Vec<u32>,
    pub(super) triggers: Triggers,
    /// Places of the skills in the order of their names.
    pub(super) by_name: Vec<u32>,
    pub(super) meanings: Meanings,
    pub(super) names: Names,
    /// The names in each skill's `see_also`, as hashes: one that is missing may come later.
    see_also: Vec<Box<[u64]>>,
    /// The skills that each one points to, and where each one's end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
}

/// Most related skills of one: a SKILL.md may name thousands, and a turn shows five.
pub(super) const RELATED: usize = 64;

impl Catalogue {
    /// Reads the skills; the same list gives the same catalogue, byte for byte.
    pub fn build(skills: &[SkillText<'_>]) -> Self {
        let listed = skills.iter().map(|skill| Listed {
            before: None,
            name: skill.name,
            text: Some(*skill),
            embedding: Some(skill.embedding),
        });
        Self::default().update(&listed.collect::<Vec<_>>())
    }

    /// How many skills it holds.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The first skills that `skill` names in its `see_also`, as far as they are here, without itself.
    pub fn related(&self, skill: usize) -> &[u32] {
        let end_of = |at: usize| self.related_ends.get(at).map_or(0, |end| *end as usize);
        let start = skill.checked_sub(1).map_or(0, end_of);
        self.related.get(start..end_of(skill)).unwrap_or_default()
    }

    /// Bytes of memory held.
    pub fn weight(&self) -> usize {
        let numbers = [&self.by_name, &self.related, &self.related_ends, &self.reserved];
        let numbers: usize = numbers.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        let words: usize = self.parts.iter().map(Part::weight).sum();
        let names = self.names.weight() + self.triggers.weight();
        let pointed: usize = self.see_also.iter().map(|names| size_of_val(&**names)).sum();
        let each = size_of::<(u8, u32)>() + size_of::<Scale>() + size_of::<f32>() + size_of::<Box<[u64]>>();
        size_of::<Self>() + numbers + words + names + pointed + self.len() * each + self.meanings.weight()
    }

    /// Whether a skill is recalled by name alone.
    pub fn is_reserved(&self, skill: usize) -> bool {
        !self.reserved.is_empty() && u32::try_from(skill).is_ok_and(|skill| self.reserved.binary_search(&skill).is_ok())
    }

    /// Of each skill the share of words that its name, description and triggers have in common with those of another
    /// (Jaccard's index), 0 to 1.
    pub fn shared_words(&self, other: &SkillText<'_>) -> Vec<f32> {
        let claims = claims_of(other.description);
        let texts = [other.name, &*claims].into_iter().chain(other.triggers.iter().map(String::as_str));
        let mut terms: Vec<u32> = texts.flat_map(list_keys).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut common = vec![0_u32; self.len()];
        for (skill, _) in terms.iter().flat_map(|term| self.claimants(*term)) {
            common[skill] += 1;
        }
        let of = |(common, (part, own)): (&u32, &(u8, u32))| {
            let claims = self.parts.get(usize::from(*part)).map_or(0, |part| part.lengths(*own as usize).claims);
            let all = terms.len() as u32 + claims - common;
            *common as f32 / all.max(1) as f32
        };
        common.iter().zip(&self.homes).map(of).collect()
    }

    /// Of each skill the weights of those of some stemmed terms that it holds anywhere, together.
    pub fn weigh_terms(&self, terms: &[String], weights: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.len()];
        for (term, weight) in terms.iter().zip(weights) {
            for (skill, _) in self.count(short(hash(term.as_bytes()))) {
                sums[skill] += weight;
            }
        }
        sums
    }

    /// The skills that hold all stemmed terms of a text, in their order; none for a text without any.
    pub fn find_with_all(&self, text: &str) -> Vec<usize> {
        let terms = list_distinct_terms(text);
        let Some((first, others)) = terms.split_first() else { return Vec::new() };
        let holders = |term: &String| -> BTreeSet<usize> {
            self.count(short(hash(term.as_bytes()))).map(|(skill, _)| skill).collect()
        };
        let with_all = others.iter().fold(holders(first), |left, term| &left & &holders(term));
        with_all.into_iter().collect()
    }

    /// The cosine of a vector to the embedding of each skill; `None` for those without one, nothing where there is none.
    pub fn cosines(&self, embedding: &[f32]) -> Vec<Option<f32>> {
        self.meanings.cosines(embedding)
    }

    /// The skills that hold a term, in no order; none for an unknown term.
    pub(super) fn list(&self, term: u32) -> impl Iterator<Item = (usize, Weights)> {
        self.count(term).map(|(skill, count)| (skill, self.scales[skill].weigh(count)))
    }

    /// The same with how often they hold it.
    pub(super) fn count(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        self.parts.iter().flat_map(move |part| part.find(term))
    }

    /// The skills whose name, description or triggers hold a term.
    pub(super) fn claimants(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        self.count(term).filter(|(_, count)| count.text > 0)
    }

    /// How many of the phrases the body of a skill repeats.
    pub(super) fn count_phrases(&self, skill: usize, phrases: &[u32]) -> usize {
        let Some((part, own)) = self.homes.get(skill) else { return 0 };
        self.parts.get(usize::from(*part)).map_or(0, |part| part.count_phrases(*own as usize, phrases))
    }

    /// How many parts its words are in.
    #[cfg(test)]
    pub(super) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// All that it holds, its numbers to the last bit, with the words among these terms; but not which part has whose words,
    /// which depends on how it came about.
    #[cfg(test)]
    pub(super) fn contents(&self, terms: &[u32]) -> [String; 5] {
        let Self {
            parts: _,
            homes,
            scales,
            depths,
            median_depth,
            reserved,
            triggers,
            by_name,
            meanings,
            names,
            see_also,
            related,
            related_ends,
        } = self;
        let counts = terms.iter().map(|term| (term, self.count(*term).collect::<BTreeMap<_, _>>())).collect::<Vec<_>>();
        let lengths = homes.iter().map(|(part, own)| self.parts[usize::from(*part)].lengths(*own as usize));
        [
            format!("{counts:?}"),
            format!("{:?}", (lengths.collect::<Vec<_>>(), scales, depths, median_depth)),
            format!("{:?}", (triggers, names, by_name, reserved)),
            format!("{meanings:?}"),
            format!("{:?}", (see_also, related, related_ends)),
        ]
    }
}
