//! Counts the terms of skill after skill.

use super::catalogue::SkillText;
use super::claims::claims_of;
use super::phrases::{Phrases, print_of};
use super::postings::Count;
use super::tokens::{Shape, Vocabulary};

/// A term, by its number, of a skill.
pub(super) struct Row {
    pub(super) term: u32,
    pub(super) skill: u32,
    pub(super) count: Count,
}

/// How much one skill says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lengths {
    /// Terms of name, description and triggers.
    pub(super) text: f32,
    /// Terms of the body.
    pub(super) body: f32,
    /// Different terms of name, description and triggers.
    pub(super) claims: u32,
}

/// What has been counted.
#[derive(Default)]
pub(super) struct Counter {
    pub(super) vocabulary: Vocabulary,
    /// In the order of the skills.
    pub(super) rows: Vec<Row>,
    pub(super) lengths: Vec<Lengths>,
    pub(super) phrases: Phrases,
    /// Per term: the counts in the skill at hand.
    counts: Vec<Count>,
    touched: Vec<usize>,
    /// The terms of the body at hand and where phrases break, then its phrases.
    body: Vec<Option<u32>>,
    said: Vec<u32>,
}

impl Counter {
    /// Counts the next skill.
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
            // Pairs of letters overlap: they are no words that follow each other.
            body.push((shape == Shape::Word).then_some(term as u32));
        });
    }

    fn collect_phrases(&mut self) {
        let terms = self.vocabulary.terms();
        self.said.clear();
        let phrases = self.body.windows(2).filter_map(|pair| Some((pair[0]?, pair[1]?))).filter(|(a, b)| a != b);
        self.said.extend(phrases.map(|(a, b)| print_of(terms[a as usize], terms[b as usize])));
        self.phrases.add(&mut self.said);
    }
}
