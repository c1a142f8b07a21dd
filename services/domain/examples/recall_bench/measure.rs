//! Runs every message against its catalogue and counts what comes back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use knowhow_domain::recall::{Catalogue, Ranking, SkillText, search};

use crate::corpus::{Corpus, Message};

/// One of the four kinds of catalogue, and what is to be reached on it.
pub struct Setting {
    pub name: &'static str,
    pub same_source: bool,
    pub size: usize,
    pub goal: &'static str,
}

pub const SETTINGS: [Setting; 4] = [
    Setting { name: "random-50", same_source: false, size: 50, goal: "- / .994" },
    Setting { name: "random-200", same_source: false, size: 200, goal: "- / .988" },
    Setting { name: "same-50", same_source: true, size: 50, goal: "- / .972" },
    Setting { name: "same-200", same_source: true, size: 200, goal: ".84 / .955" },
];

/// Embeddings of all skills and all messages of the corpus, in its order.
pub struct Vectors {
    pub skills: Vec<Vec<f32>>,
    pub messages: Vec<Vec<f32>>,
}

/// Sums over messages; a message counts as found where any of its skills is.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub messages: usize,
    pub first: usize,
    pub in_five: usize,
    pub reciprocal: f64,
    /// Share of each message's relevant skills among the first five.
    pub share_in_five: f64,
}

#[derive(Default)]
pub struct Outcome {
    pub by_kind: BTreeMap<String, Tally>,
    pub all: Tally,
    /// The fit of each message whose skill was among the first five.
    pub fits: Vec<f32>,
    /// The fit of each message that asks for no skill.
    pub negatives: Vec<f32>,
    /// Of those found, and of the negatives, how many pass the floor that is built in.
    pub kept: usize,
    pub let_through: usize,
    pub building: Duration,
    pub searching: Duration,
    pub skills: usize,
    pub bytes: usize,
}

pub fn run(corpus: &Corpus, setting: &Setting, vectors: Option<&Vectors>) -> Outcome {
    let mut outcome = Outcome::default();
    for (at, message) in corpus.messages.iter().enumerate() {
        let drawn = corpus.draw(message, setting.same_source, setting.size);
        let started = Instant::now();
        let catalogue = Catalogue::build(&texts_of(corpus, &drawn, vectors));
        outcome.building += started.elapsed();
        let started = Instant::now();
        let embedding = vectors.and_then(|vectors| vectors.messages.get(at)).map(Vec::as_slice);
        let ranking = search(&catalogue, &message.query, embedding, 10);
        outcome.searching += started.elapsed();
        outcome.skills += drawn.len();
        outcome.bytes += catalogue.weight();
        outcome.count(message, corpus.relevant(message).len(), ranking);
    }
    outcome
}

fn texts_of<'a>(corpus: &'a Corpus, drawn: &[usize], vectors: Option<&'a Vectors>) -> Vec<SkillText<'a>> {
    let text = |place: &usize| {
        let skill = &corpus.skills[*place];
        let embedding = vectors.and_then(|vectors| vectors.skills.get(*place)).map(Vec::as_slice);
        SkillText {
            name: &skill.name,
            description: &skill.description,
            body: &skill.body,
            embedding,
            ..SkillText::default()
        }
    };
    drawn.iter().map(text).collect()
}

impl Outcome {
    /// The relevant skills are the first of the catalogue.
    fn count(&mut self, message: &Message, relevant: usize, ranking: Ranking) {
        let ranks: Vec<usize> =
            ranking.hits.iter().zip(1..).filter(|(hit, _)| hit.skill < relevant).map(|(_, rank)| rank).collect();
        let best = ranks.first().copied();
        let in_five = best.is_some_and(|rank| rank <= 5);
        let fit = ranking.fit;
        let passes = !ranking.above_floor().is_empty();
        if relevant == 0 {
            self.negatives.push(fit);
            self.let_through += usize::from(passes);
            return;
        }
        if in_five {
            self.fits.push(fit);
            self.kept += usize::from(passes);
        }
        for tally in [&mut self.all, self.by_kind.entry(message.kind.clone()).or_default()] {
            tally.messages += 1;
            tally.first += usize::from(best == Some(1));
            tally.in_five += usize::from(in_five);
            tally.reciprocal += best.map_or(0.0, |rank| 1.0 / rank as f64);
            tally.share_in_five += ranks.iter().filter(|rank| **rank <= 5).count() as f64 / relevant as f64;
        }
    }

    /// How many negatives get anything at the floor that keeps 97 % of the hits.
    pub fn negatives_let_through(&self) -> f64 {
        let mut fits = self.fits.clone();
        fits.sort_by(f32::total_cmp);
        let floor = fits.get(fits.len() * 3 / 100).copied().unwrap_or_default();
        let passing = self.negatives.iter().filter(|fit| **fit > 0.0 && **fit >= floor).count();
        passing as f64 / self.negatives.len().max(1) as f64
    }
}
