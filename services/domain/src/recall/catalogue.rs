//! The in-memory search index of one user's skills.

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
use super::segment::CatalogueSegment;
use super::skill_text::SkillText;
use super::tokens::{list_distinct_terms, list_keys};
use super::triggers::Triggers;
use scale::{Scale, Weights};

/// A skill in the new list of a catalogue update.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedSkill<'a> {
    /// Position in the previous catalogue; `None` for a new skill.
    pub before: Option<usize>,
    pub name: &'a str,
    /// Name in the frontmatter, if it differs from `name`.
    pub alias: Option<&'a str>,
    /// The text, or `None` if it is unchanged. Its `embedding` is ignored.
    pub text: Option<SkillText<'a>>,
    /// The embedding, or `None` if it is unchanged; `Some(None)` if the skill has no embedding.
    pub embedding: Option<Option<&'a [f32]>>,
}

/// The search index of a list of skills; each skill is identified by its position in the list.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Parts of the index, at most two. Each part has the word counts of some skills.
    parts: Vec<CatalogueSegment>,
    /// Location of each skill: the part that has its word counts, and its number in that part.
    homes: Vec<(u8, u32)>,
    /// BM25 scale for each skill.
    scales: Vec<Scale>,
    /// Depth of each skill, from 0 for an empty body to almost 1 for a very long one. `median_depth` is the median.
    pub(super) depths: Vec<f32>,
    pub(super) median_depth: f32,
    /// Positions of the reserved skills, in ascending order. A reserved skill is recalled by name only.
    reserved: Vec<u32>,
    pub(super) triggers: Triggers,
    /// Positions of the skills, sorted by name.
    pub(super) by_name: Vec<u32>,
    pub(super) meanings: Meanings,
    pub(super) names: Names,
    /// Hashes of the names in each skill's `see_also`. Unknown names are included, because the skill may be added
    /// later.
    see_also: Vec<Box<[u64]>>,
    /// Lists of related skills for all skills, concatenated. `related_ends` has the end index of each list.
    related: Vec<u32>,
    related_ends: Vec<u32>,
}

/// Maximum number of related skills stored per skill. A SKILL.md may list thousands, but a turn shows five.
pub(super) const RELATED: usize = 64;

impl Catalogue {
    /// Builds a catalogue. The same list always gives the same content.
    pub fn build(skills: &[SkillText<'_>]) -> Self {
        let listed = skills.iter().map(|skill| ListedSkill {
            before: None,
            name: skill.name,
            alias: skill.alias,
            text: Some(*skill),
            embedding: Some(skill.embedding),
        });
        Self::default().update(&listed.collect::<Vec<_>>())
    }

    /// Returns the number of skills.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns whether the catalogue has no skills.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns at most `RELATED` skills that the `see_also` of `skill` names and that are in this catalogue,
    /// without `skill` itself.
    pub fn related(&self, skill: usize) -> &[u32] {
        let end_of = |at: usize| self.related_ends.get(at).map_or(0, |end| *end as usize);
        let start = skill.checked_sub(1).map_or(0, end_of);
        self.related.get(start..end_of(skill)).unwrap_or_default()
    }

    /// Returns the memory use in bytes.
    pub fn weight(&self) -> usize {
        let numbers = [&self.by_name, &self.related, &self.related_ends, &self.reserved];
        let numbers: usize = numbers.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        let words: usize = self.parts.iter().map(CatalogueSegment::weight).sum();
        let names = self.names.weight() + self.triggers.weight();
        let pointed: usize = self.see_also.iter().map(|names| size_of_val(&**names)).sum();
        let each = size_of::<(u8, u32)>() + size_of::<Scale>() + size_of::<f32>() + size_of::<Box<[u64]>>();
        size_of::<Self>() + numbers + words + names + pointed + self.len() * each + self.meanings.weight()
    }

    /// Returns whether a skill is reserved, which means that it is recalled by name only.
    pub fn is_reserved(&self, skill: usize) -> bool {
        !self.reserved.is_empty() && u32::try_from(skill).is_ok_and(|skill| self.reserved.binary_search(&skill).is_ok())
    }

    /// Returns for each skill the Jaccard index (0 to 1) of its words and the words of `other`. Only words from name,
    /// description and triggers count.
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

    /// Returns for each skill the total weight of the given stemmed terms that it contains.
    pub fn weigh_terms(&self, terms: &[String], weights: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.len()];
        for (term, weight) in terms.iter().zip(weights) {
            for (skill, _) in self.count(short(hash(term.as_bytes()))) {
                sums[skill] += weight;
            }
        }
        sums
    }

    /// Returns the skills that contain all stemmed terms of a text, in order; empty for a text without terms.
    pub fn find_with_all(&self, text: &str) -> Vec<usize> {
        let terms = list_distinct_terms(text);
        let Some((first, others)) = terms.split_first() else { return Vec::new() };
        let holders = |term: &String| -> BTreeSet<usize> {
            self.count(short(hash(term.as_bytes()))).map(|(skill, _)| skill).collect()
        };
        let with_all = others.iter().fold(holders(first), |left, term| &left & &holders(term));
        with_all.into_iter().collect()
    }

    /// Returns the cosine of a vector to each skill's embedding; `None` for a skill without one. The list is empty if
    /// no skill can be compared.
    pub fn cosines(&self, embedding: &[f32]) -> Vec<Option<f32>> {
        self.meanings.cosines(embedding)
    }

    /// Returns the skills that contain a term, with BM25 weights, in no particular order; empty for an unknown term.
    pub(super) fn list(&self, term: u32) -> impl Iterator<Item = (usize, Weights)> {
        self.count(term).map(|(skill, count)| (skill, self.scales[skill].weigh(count)))
    }

    /// Returns the skills that contain a term, with counts, in no particular order.
    pub(super) fn count(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        self.parts.iter().flat_map(move |part| part.find(term))
    }

    /// Returns the skills that contain a term in name, description or triggers.
    pub(super) fn claimants(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        self.count(term).filter(|(_, count)| count.text > 0)
    }

    /// Counts how many of `phrases` the body of a skill repeats.
    pub(super) fn count_phrases(&self, skill: usize, phrases: &[u32]) -> usize {
        let Some((part, own)) = self.homes.get(skill) else { return 0 };
        self.parts.get(usize::from(*part)).map_or(0, |part| part.count_phrases(*own as usize, phrases))
    }

    /// Returns the number of parts.
    #[cfg(test)]
    pub(super) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Returns the whole content with exact numbers, including the counts of `terms`, for comparisons in tests. The
    /// distribution over parts is left out, because it depends on the order of updates.
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
