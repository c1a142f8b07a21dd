//! Counts the terms in skills.

use super::claims::claims_of;
use super::phrases::{Phrases, print_of};
use super::postings::Count;
use super::skill_text::SkillText;
use super::tokens::{TermShape, Vocabulary};

/// Count of one term in one skill. Term and skill are given by their numbers.
pub(super) struct Row {
    pub(super) term: u32,
    pub(super) skill: u32,
    pub(super) count: Count,
}

/// Numbers of terms in a skill, by field.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lengths {
    /// Number of terms in name, description and triggers.
    pub(super) text: f32,
    /// Number of terms in the body.
    pub(super) body: f32,
    /// Number of different terms in name, description and triggers.
    pub(super) claims: u32,
}

/// Term counts of all skills added so far.
#[derive(Default)]
pub(super) struct Counter {
    pub(super) vocabulary: Vocabulary,
    /// Rows in the order of the skills.
    pub(super) rows: Vec<Row>,
    pub(super) lengths: Vec<Lengths>,
    pub(super) phrases: Phrases,
    /// Counts of each term in the current skill.
    counts: Vec<Count>,
    touched: Vec<usize>,
    /// Terms of the current body, with `None` at phrase breaks.
    body: Vec<Option<u32>>,
    prints: Vec<u32>,
}

impl Counter {
    /// Counts the terms in the next skill.
    pub(super) fn add(&mut self, skill: &SkillText<'_>) {
        let mut own = Lengths::default();
        let claims = claims_of(skill.description);
        for text in [skill.name, &claims].into_iter().chain(skill.triggers.iter().map(String::as_str)) {
            self.count(text, |count| count.text = count.text.saturating_add(1), &mut own.text);
        }
        own.claims = self.touched.len() as u32;
        self.body.clear();
        self.count(skill.body, |count| count.body = count.body.saturating_add(1), &mut own.body);
        self.collect_phrases();
        let place = self.lengths.len() as u32;
        self.lengths.push(own);
        for term in self.touched.drain(..) {
            let count = std::mem::take(&mut self.counts[term]);
            self.rows.push(Row { term: term as u32, skill: place, count });
        }
    }

    fn count(&mut self, text: &str, bump: fn(&mut Count), length: &mut f32) {
        let Self { vocabulary, counts, touched, body, .. } = self;
        vocabulary.visit(text, |term, shape| {
            if counts.len() <= term {
                counts.resize(term + 1, Count::default());
            }
            let count = &mut counts[term];
            if count.text == 0 && count.body == 0 {
                touched.push(term);
            }
            bump(count);
            *length += 1.0;
            // Letter pairs overlap, so they are not consecutive words and cannot form phrases.
            body.push((shape == TermShape::Word).then_some(term as u32));
        });
    }

    fn collect_phrases(&mut self) {
        let terms = self.vocabulary.terms();
        self.prints.clear();
        let phrases = self.body.windows(2).filter_map(|pair| Some((pair[0]?, pair[1]?))).filter(|(a, b)| a != b);
        self.prints.extend(phrases.map(|(a, b)| print_of(terms[a as usize], terms[b as usize])));
        self.phrases.add(&mut self.prints);
    }
}
