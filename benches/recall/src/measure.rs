//! Tries every message on its catalogue and counts what comes back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use knowhow_domain::recall::{Catalogue, Ranking, search};

use crate::catalogues::{draw, texts};
use crate::corpus::{Corpus, Message};
use crate::vectors::Vectors;

/// One of the four kinds of catalogue, and what is to be reached on it.
pub struct Setting {
    pub name: &'static str,
    same_source: bool,
    pub size: usize,
    pub goal_first: Option<f64>,
    pub goal_five: f64,
}

pub const SETTINGS: [Setting; 4] = [
    Setting { name: "random-50", same_source: false, size: 50, goal_first: None, goal_five: 0.994 },
    Setting { name: "random-200", same_source: false, size: 200, goal_first: None, goal_five: 0.988 },
    Setting { name: "same-50", same_source: true, size: 50, goal_first: None, goal_five: 0.972 },
    Setting { name: "same-200", same_source: true, size: 200, goal_first: Some(0.84), goal_five: 0.955 },
];

/// Counts of messages; one counts as found where any of its skills is.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub messages: usize,
    pub first: usize,
    pub in_five: usize,
    pub reciprocal: f64,
}

/// How one way of searching did.
#[derive(Default)]
pub struct Counts {
    pub by_kind: BTreeMap<String, Tally>,
    pub all: Tally,
    /// Of those found among the first five, how many the floor keeps.
    pub kept: usize,
    pub negatives: usize,
    /// Of the negatives, how many the floor lets through.
    pub let_through: usize,
    pub searching: Times,
}

/// How long each of many took.
#[derive(Default)]
pub struct Times(Vec<Duration>);

pub struct Outcome {
    pub setting: &'static Setting,
    pub words: Counts,
    /// With embeddings.
    pub meaning: Option<Counts>,
    pub catalogues: usize,
    pub building: Times,
    pub bytes: usize,
}

/// How the whole corpus does as one catalogue: the size of a tenant's library rather than a user's.
pub struct Whole {
    pub skills: usize,
    pub building: Duration,
    pub bytes: usize,
    /// Per search, by words, and with embeddings.
    pub words: Duration,
    pub meaning: Option<Duration>,
}

pub fn run(corpus: &Corpus, setting: &'static Setting, vectors: Option<&Vectors>) -> Outcome {
    let mut outcome = Outcome {
        setting,
        words: Counts::default(),
        meaning: vectors.map(|_| Counts::default()),
        catalogues: 0,
        building: Times::default(),
        bytes: 0,
    };
    for (at, message) in corpus.messages.iter().enumerate() {
        let drawn = draw(corpus, message, setting.same_source, setting.size);
        let texts = texts(corpus, &drawn, vectors);
        let catalogue = outcome.building.time(|| Catalogue::build(&texts));
        outcome.bytes += catalogue.weight();
        outcome.catalogues += 1;
        let relevant = corpus.relevant(message).len();
        outcome.words.search(&catalogue, message, None, relevant);
        if let (Some(counts), Some(vectors)) = (&mut outcome.meaning, vectors) {
            counts.search(&catalogue, message, Some(&vectors.messages[at]), relevant);
        }
    }
    eprintln!("{}: done", setting.name);
    outcome
}

pub fn time_whole(corpus: &Corpus, vectors: Option<&Vectors>) -> Whole {
    const EVERY: usize = 8;
    let places: Vec<usize> = (0..corpus.skills.len()).collect();
    let texts = texts(corpus, &places, vectors);
    let mut building = Times::default();
    let catalogue = building.time(|| Catalogue::build(&texts));
    let building = building.median();
    let some = || corpus.messages.iter().enumerate().step_by(EVERY);
    let time = |vectors: Option<&Vectors>| {
        let mut times = Times::default();
        for (at, message) in some() {
            let embedding = vectors.map(|vectors| vectors.messages[at].as_slice());
            times.time(|| std::hint::black_box(search(&catalogue, &message.query, embedding, 5)));
        }
        times.median()
    };
    let (words, meaning) = (time(None), vectors.map(|vectors| time(Some(vectors))));
    Whole { skills: places.len(), building, bytes: catalogue.weight(), words, meaning }
}

impl Counts {
    fn search(&mut self, catalogue: &Catalogue, message: &Message, embedding: Option<&[f32]>, relevant: usize) {
        let ranking = self.searching.time(|| search(catalogue, &message.query, embedding, 10));
        self.count(message, relevant, &ranking);
    }

    /// The relevant skills are the first of the catalogue.
    fn count(&mut self, message: &Message, relevant: usize, ranking: &Ranking) {
        let passes = !ranking.above_floor().is_empty();
        if relevant == 0 {
            self.negatives += 1;
            self.let_through += usize::from(passes);
            return;
        }
        let best = ranking.hits.iter().zip(1..).find(|(hit, _)| hit.skill < relevant).map(|(_, rank)| rank);
        let in_five = best.is_some_and(|rank| rank <= 5);
        self.kept += usize::from(in_five && passes);
        for tally in [&mut self.all, self.by_kind.entry(message.kind.clone()).or_default()] {
            tally.messages += 1;
            tally.first += usize::from(best == Some(1));
            tally.in_five += usize::from(in_five);
            tally.reciprocal += best.map_or(0.0, |rank| 1.0 / f64::from(rank));
        }
    }
}

impl Times {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let made = work();
        self.0.push(started.elapsed());
        made
    }

    /// What other work on the machine disturbs least.
    pub fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

impl Tally {
    pub fn share(&self, count: usize) -> f64 {
        count as f64 / self.messages.max(1) as f64
    }

    /// Recall at 1 and at 5 and the mean reciprocal rank of the first ten.
    pub fn rates(&self) -> [f64; 3] {
        [self.share(self.first), self.share(self.in_five), self.reciprocal / self.messages.max(1) as f64]
    }
}
