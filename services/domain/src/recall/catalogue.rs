//! Everything that finds the skills of one user, ready in memory.

use std::collections::HashMap;

use super::count::{Count, Counter, Lengths, Row};
use super::meaning::Meanings;
use super::names::Names;
use super::phrases::Phrases;
use super::postings::{Lists, Reader, Weights};
use super::tokens::list_keys;
use super::triggers::Triggers;

/// What recall reads of one skill.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkillText<'a> {
    /// The whole name.
    pub name: &'a str,
    /// What the skill does and when to use it.
    pub description: &'a str,
    /// Short phrases that call for it.
    pub triggers: &'a [String],
    /// The markdown body.
    pub body: &'a str,
    /// Names of related skills.
    pub see_also: &'a [String],
    /// Whether it is recalled by name alone, as its author wants it.
    pub reserved: bool,
    /// The embedding of name, description and triggers, if there is one yet; any length but the same for all.
    pub embedding: Option<&'a [f32]>,
}

/// The searchable form of a list of skills; a skill is known by its place in that list.
#[derive(Debug, Default)]
pub struct Catalogue {
    lists: Lists,
    pub(super) phrases: Phrases,
    /// The mean length of the bodies.
    pub(super) body_terms: f32,
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
    /// The skills that each one points to, and where each one's end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
}

/// Most related skills of one: a SKILL.md may name thousands, and a turn shows five.
pub(super) const RELATED: usize = 64;

/// See [`depth`].
const HALF_DEPTH: f32 = 200.0;
/// What a word of the shortest body counts, beside one of a long body.
const SHORT_BODY: f32 = 0.3;

/// BM25's parameters, as usual (Robertson and Zaragoza 2009); other values gained nothing.
const K1: f32 = 1.2;
const B: f32 = 0.75;

impl Catalogue {
    /// Reads the skills; the same list gives the same catalogue, byte for byte.
    pub fn build(skills: &[SkillText<'_>]) -> Self {
        let mut counter = Counter::default();
        for skill in skills {
            counter.add(skill);
        }
        let mut by_name: Vec<u32> = (0..).take(skills.len()).collect();
        by_name.sort_by_key(|place| skills.get(*place as usize).map(|skill| skill.name));
        let mut catalogue = Self {
            by_name,
            meanings: Meanings::new(skills.iter().map(|skill| skill.embedding)),
            names: Names::new(skills.iter().map(|skill| skill.name)),
            triggers: Triggers::new((0..).zip(skills).map(|(at, skill)| (at, keys_of(skill.triggers)))),
            reserved: (0..).zip(skills).filter(|(_, skill)| skill.reserved).map(|(at, _)| at).collect(),
            ..Self::default()
        };
        let mean = Lengths::mean(&counter.lengths);
        catalogue.lists = write_lists(&counter, &mean);
        catalogue.body_terms = mean.body;
        catalogue.depths = counter.lengths.iter().map(depth).collect();
        catalogue.median_depth = median(&catalogue.depths);
        catalogue.phrases = counter.phrases;
        catalogue.phrases.shrink();
        catalogue.link(skills);
        catalogue
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
        let words = self.lists.weight() + self.phrases.weight() + self.names.weight() + self.triggers.weight();
        let depths = self.depths.capacity() * size_of::<f32>();
        size_of::<Self>() + numbers + depths + words + self.meanings.weight()
    }

    /// Whether a skill is recalled by name alone.
    pub fn is_reserved(&self, skill: usize) -> bool {
        !self.reserved.is_empty() && u32::try_from(skill).is_ok_and(|skill| self.reserved.binary_search(&skill).is_ok())
    }

    /// The skills that hold a term, in order; none for an unknown term.
    pub(super) fn list(&self, term: u32) -> Reader<'_> {
        self.lists.find(term)
    }

    fn link(&mut self, skills: &[SkillText<'_>]) {
        let places: HashMap<&str, u32> = skills.iter().map(|skill| skill.name).zip(0..).collect();
        for (own, skill) in (0..).zip(skills) {
            let start = self.related.len();
            let found = skill.see_also.iter().filter_map(|name| places.get(name.as_str()).copied());
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

/// Sorts what was counted by term and weighs it.
fn write_lists(counter: &Counter, mean: &Lengths) -> Lists {
    let Counter { vocabulary, rows, lengths, .. } = counter;
    let terms = vocabulary.terms();
    let mut lists = Lists::sized(terms.len());
    let cut_of = |row: &Row| lists.cut(terms[row.term as usize]);
    let mut order: Vec<(u32, u32)> = rows.iter().zip(0..).map(|(row, at)| (cut_of(row), at)).collect();
    order.sort_unstable();
    // Two terms of one hash in one skill: the first stands for both.
    order.dedup_by_key(|(term, at)| (*term, rows[*at as usize].skill));
    lists.fill(order.chunk_by(|a, b| a.0 == b.0).map(|run| {
        let weighed = run
            .iter()
            .map(|(_, at)| &rows[*at as usize])
            .map(|row| (row.skill, weigh(row.count, &lengths[row.skill as usize], mean)));
        (run[0].0, weighed)
    }));
    lists
}

/// The terms of each trigger.
fn keys_of(triggers: &[String]) -> Vec<Vec<u32>> {
    triggers.iter().map(|trigger| list_keys(trigger)).collect()
}

/// The one in the middle; 0 of none.
fn median(all: &[f32]) -> f32 {
    let mut sorted = all.to_vec();
    let middle = sorted.len() / 2;
    if middle < sorted.len() { *sorted.select_nth_unstable_by(middle, f32::total_cmp).1 } else { 0.0 }
}

/// Words of a short body repeat the description; only a long one says more. Half at [`HALF_DEPTH`] terms.
fn depth(own: &Lengths) -> f32 {
    own.body / (own.body + HALF_DEPTH)
}

fn weigh(count: Count, own: &Lengths, mean: &Lengths) -> Weights {
    let saturate = |count: u16, own: f32, mean: f32| {
        let frequency = f32::from(count);
        frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * own / mean.max(1.0)))
    };
    Weights {
        name: saturate(count.name, own.name, mean.name),
        text: saturate(count.text, own.text, mean.text),
        body: saturate(count.body, own.body, mean.body) * (SHORT_BODY + (1.0 - SHORT_BODY) * depth(own)),
    }
}
