//! Everything that finds the skills of one user, ready in memory.

use std::collections::HashMap;

use super::meaning::Meanings;
use super::names::Names;
use super::postings::{Reader, Weights, Writer};
use super::tokens::Vocabulary;

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
    /// The embedding of name, description and triggers, if there is one yet; any length but the same for all.
    pub embedding: Option<&'a [f32]>,
}

/// The searchable form of a list of skills; a skill is known by its place in that list.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Short hashes of the terms, ascending.
    terms: Vec<u32>,
    /// Where the list of each term ends in `lists`.
    ends: Vec<u32>,
    lists: Vec<u8>,
    /// Places of the skills in the order of their names.
    pub(super) by_name: Vec<u32>,
    pub(super) meanings: Meanings,
    pub(super) names: Names,
    /// The skills that each one points to, and where each one's end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
}

/// BM25's parameters, as usual (Robertson and Zaragoza 2009); other values gained nothing.
const K1: f32 = 1.2;
const B: f32 = 0.75;

#[derive(Clone, Copy, Default)]
struct Count {
    name: u16,
    text: u16,
    body: u16,
}

struct Row {
    term: u32,
    skill: u32,
    count: Count,
}

/// Numbers of terms per field of one skill.
#[derive(Clone, Copy, Default)]
struct Lengths {
    name: f32,
    text: f32,
    body: f32,
}

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
            ..Self::default()
        };
        catalogue.write_lists(counter);
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

    /// The skills that `skill` names in its `see_also`, as far as they are here, without itself.
    pub fn related(&self, skill: usize) -> &[u32] {
        let end_of = |at: usize| self.related_ends.get(at).map_or(0, |end| *end as usize);
        let start = skill.checked_sub(1).map_or(0, end_of);
        self.related.get(start..end_of(skill)).unwrap_or_default()
    }

    /// Bytes of memory held.
    pub fn weight(&self) -> usize {
        let numbers = [&self.terms, &self.ends, &self.by_name, &self.related, &self.related_ends];
        let numbers: usize = numbers.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        size_of::<Self>() + numbers + self.lists.capacity() + self.meanings.weight() + self.names.weight()
    }

    /// The skills that hold a term, in order; none for an unknown term.
    pub(super) fn list(&self, term: u32) -> Reader<'_> {
        let bytes = self.terms.binary_search(&term).ok().and_then(|at| {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
            self.lists.get(start..self.ends[at] as usize)
        });
        Reader::new(bytes.unwrap_or_default())
    }

    fn write_lists(&mut self, counter: Counter) {
        let Counter { vocabulary, rows, lengths, .. } = counter;
        let terms = vocabulary.terms();
        let average = |field: fn(&Lengths) -> f32| {
            let sum: f32 = lengths.iter().map(field).sum();
            (sum / lengths.len().max(1) as f32).max(1.0)
        };
        let mean = Lengths { name: average(|l| l.name), text: average(|l| l.text), body: average(|l| l.body) };
        let mut order: Vec<(u32, u32)> = rows.iter().zip(0..).map(|(row, at)| (terms[row.term as usize], at)).collect();
        order.sort_unstable();
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            let mut writer = Writer::new(&mut self.lists);
            let mut last = None;
            for row in run.iter().map(|(_, at)| &rows[*at as usize]) {
                // Two terms of one hash in one skill: the first stands for both.
                if last != Some(row.skill) {
                    writer.push(row.skill, weigh(row.count, &lengths[row.skill as usize], &mean));
                }
                last = Some(row.skill);
            }
            self.terms.extend(run.first().map(|(term, _)| term));
            self.ends.push(self.lists.len() as u32);
        }
        self.terms.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    fn link(&mut self, skills: &[SkillText<'_>]) {
        let places: HashMap<&str, u32> = skills.iter().map(|skill| skill.name).zip(0..).collect();
        for (own, skill) in (0..).zip(skills) {
            let start = self.related.len();
            let found = skill.see_also.iter().filter_map(|name| places.get(name.as_str()).copied());
            for place in found.filter(|place| *place != own) {
                if !self.related[start..].contains(&place) {
                    self.related.push(place);
                }
            }
            self.related_ends.push(self.related.len() as u32);
        }
    }
}

fn weigh(count: Count, own: &Lengths, mean: &Lengths) -> Weights {
    let saturate = |count: u16, own: f32, mean: f32| {
        let frequency = f32::from(count);
        frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * own / mean))
    };
    Weights {
        name: saturate(count.name, own.name, mean.name),
        text: saturate(count.text, own.text, mean.text),
        body: saturate(count.body, own.body, mean.body),
    }
}

/// Counts the terms of skill after skill.
#[derive(Default)]
struct Counter {
    vocabulary: Vocabulary,
    rows: Vec<Row>,
    lengths: Vec<Lengths>,
    /// Per term: the counts in the skill at hand.
    counts: Vec<Count>,
    touched: Vec<usize>,
}

impl Counter {
    fn add(&mut self, skill: &SkillText<'_>) {
        let Self { vocabulary, rows, lengths, counts, touched } = self;
        let mut own = Lengths::default();
        let mut count = |text: &str, vocabulary: &mut Vocabulary, bump: fn(&mut Count, &mut Lengths)| {
            vocabulary.visit(text, |term| {
                if counts.len() <= term {
                    counts.resize(term + 1, Count::default());
                }
                let counted = &mut counts[term];
                if counted.text == 0 && counted.body == 0 {
                    touched.push(term);
                }
                bump(counted, &mut own);
            });
        };
        count(skill.name, vocabulary, |count, own| {
            count.name = count.name.saturating_add(1);
            count.text = count.text.saturating_add(1);
            own.name += 1.0;
            own.text += 1.0;
        });
        for text in std::iter::once(skill.description).chain(skill.triggers.iter().map(String::as_str)) {
            count(text, vocabulary, |count, own| {
                count.text = count.text.saturating_add(1);
                own.text += 1.0;
            });
        }
        count(skill.body, vocabulary, |count, own| {
            count.body = count.body.saturating_add(1);
            own.body += 1.0;
        });
        let place = lengths.len() as u32;
        lengths.push(own);
        for term in touched.drain(..) {
            rows.push(Row { term: term as u32, skill: place, count: std::mem::take(&mut counts[term]) });
        }
    }
}
