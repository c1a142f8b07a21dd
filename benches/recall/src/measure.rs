//! Searches the catalogue of every message and counts the results.

use std::collections::BTreeMap;

use knowhow_domain::recall::{FLOOR, Query, Ranking, search};

use crate::catalogues::{Drawing, Drawn};
use crate::cores;
use crate::corpus::{Corpus, Message};
use crate::settings::{Setting, Way};
use crate::vectors::Vectors;

/// Maximum hits of a search. The reciprocal rank considers all of them.
const LIMIT: usize = 10;
/// Maximum skills that a turn shows.
const SHOWN: usize = 5;

/// The results of a setting for each way of searching.
pub struct Outcome {
    pub setting: Setting,
    pub ways: Vec<(Way, Counts)>,
}

/// The results of one way of searching.
#[derive(Default)]
pub struct Counts {
    pub all: Tally,
    pub by_kind: BTreeMap<String, Tally>,
    /// For each kind of message without a relevant skill: the number of messages, and the number that a turn
    /// answered.
    pub negatives: BTreeMap<String, [usize; 2]>,
    /// Number of turns that show skills for such messages. `wrong_names` is the number of these skills.
    wrong_turns: usize,
    wrong_names: usize,
}

/// Counts for messages with relevant skills. A message counts as found if any of its relevant skills is found.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub messages: usize,
    first: usize,
    in_five: usize,
    reciprocal: f64,
    /// Number of messages found at rank 1 by the nearest text alone. `plain_five` counts those found in the first
    /// five.
    plain_first: usize,
    plain_five: usize,
    /// Number of messages that are found in the first five and for which the turn shows a relevant skill. `in_turn`
    /// counts all messages for which the turn shows one.
    kept: usize,
    in_turn: usize,
    /// Number of turns that show skills. `names` is the number of these skills.
    turns: usize,
    names: usize,
    /// Number of messages with several relevant skills. `relevant` counts the relevant skills of all messages, and
    /// `relevant_shown` those that turns show.
    pub several: usize,
    relevant: usize,
    relevant_shown: usize,
}

/// The result for one message.
struct Trial {
    message: usize,
    relevant: usize,
    /// Rank of the first relevant skill, from 1.
    rank: Option<u8>,
    /// Number of irrelevant skills with a description or example that is nearer to the message than those of every
    /// relevant skill.
    nearer: usize,
    /// Number of skills that a turn shows. `right` counts the relevant ones, and `answered` is whether any is not a
    /// starter.
    names: usize,
    right: usize,
    answered: bool,
}

/// The input of a measurement.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    pub corpus: &'a Corpus,
    /// The rules for drawing catalogues from the corpus.
    pub drawing: &'a Drawing,
    /// Vectors of the corpus; `None` if search uses words alone.
    pub vectors: Option<&'a Vectors>,
}

pub fn run(corpus: &Corpus, setting: &Setting, vectors: Option<&Vectors>) -> Outcome {
    let drawing = &setting.drawing;
    let ways = setting.ways(vectors.is_some());
    let groups = drawing.groups(corpus);
    let tried = cores::share(&groups, |group| try_group(Basis { corpus, drawing, vectors }, group, ways));
    let mut counted: Vec<(Way, Counts)> = ways.iter().map(|way| (*way, Counts::default())).collect();
    for trials in tried {
        for ((_, counts), trials) in counted.iter_mut().zip(trials) {
            for trial in trials {
                counts.add(&corpus.messages(drawing.world)[trial.message], &trial);
            }
        }
    }
    eprintln!("{}: done", setting.name);
    Outcome { setting: setting.clone(), ways: counted }
}

/// Searches the catalogue of a group for each of its messages, in all ways.
fn try_group(basis: Basis<'_>, group: &[usize], ways: &[Way]) -> Vec<Vec<Trial>> {
    let Basis { corpus, drawing, vectors } = basis;
    let drawn = drawing.build(corpus, drawing.draw(corpus, group), vectors);
    let try_one = |at: &usize, way: Way| {
        let ranking = search(&drawn.catalogue, &ask(basis, &drawn, *at, way));
        let nearer = count_nearer(basis, &drawn, *at, way);
        Trial { nearer, ..Trial::of(basis, &drawn, *at, &ranking) }
    };
    ways.iter().map(|way| group.iter().map(|at| try_one(at, *way)).collect()).collect()
}

/// Returns the query of a turn, except for the names in the message.
pub fn ask<'a>(basis: Basis<'a>, drawn: &'a Drawn, at: usize, way: Way) -> Query<'a> {
    let Basis { corpus, drawing, vectors } = basis;
    let vectors = vectors.filter(|_| way != Way::Words);
    Query {
        message: &corpus.messages(drawing.world)[at].text,
        embedding: vectors.map(|vectors| vectors.message(drawing.world, at)),
        examples: Some(&drawn.examples).filter(|_| way == Way::Examples),
        chatter: vectors.map(|vectors| &vectors.chatter),
        limit: LIMIT,
        ..Query::default()
    }
}

impl Trial {
    fn of(basis: Basis<'_>, drawn: &Drawn, at: usize, ranking: &Ranking) -> Self {
        let message = &basis.corpus.messages(basis.drawing.world)[at];
        let relevant = drawn.relevant(message);
        let shown = ranking.relevant(FLOOR).iter().take(SHOWN);
        let shown: Vec<usize> = shown.map(|hit| hit.skill).collect();
        let rank = (1..).zip(&ranking.hits).find(|(_, hit)| relevant.contains(&hit.skill)).map(|(rank, _)| rank);
        Self {
            message: at,
            relevant: relevant.len(),
            rank,
            nearer: usize::MAX,
            names: shown.len(),
            right: shown.iter().filter(|skill| relevant.contains(skill)).count(),
            answered: shown.iter().any(|skill| !drawn.is_starter(basis.corpus, *skill)),
        }
    }
}

/// Counts the irrelevant skills with a description or example that is nearer to the message than those of every
/// relevant skill.
fn count_nearer(basis: Basis<'_>, drawn: &Drawn, at: usize, way: Way) -> usize {
    let Basis { drawing, vectors, .. } = basis;
    let Some(vectors) = vectors else { return usize::MAX };
    let message = vectors.message(drawing.world, at);
    let dot = |text: &Vec<f32>| text.iter().zip(message).map(|(a, b)| a * b).sum::<f32>();
    let nearest = |place: &usize| {
        let examples = if way == Way::Examples { drawing.examples } else { 0 };
        let uses = vectors.uses[*place].iter().take(examples);
        uses.chain([&vectors.skills[*place]]).map(dot).fold(f32::NEG_INFINITY, f32::max)
    };
    let nearness: Vec<f32> = drawn.places().iter().map(nearest).collect();
    let relevant = drawn.relevant(&basis.corpus.messages(drawing.world)[at]);
    let best = relevant.iter().map(|skill| nearness[*skill]).fold(f32::NEG_INFINITY, f32::max);
    nearness.iter().filter(|other| **other > best).count()
}

impl Counts {
    fn add(&mut self, message: &Message, trial: &Trial) {
        if trial.relevant == 0 {
            let [messages, answered] = self.negatives.entry(message.kind.clone()).or_default();
            *messages += 1;
            *answered += usize::from(trial.answered);
            self.wrong_turns += usize::from(trial.names > 0);
            self.wrong_names += trial.names;
        } else {
            self.all.add(trial);
            self.by_kind.entry(message.kind.clone()).or_default().add(trial);
        }
    }

    /// Returns the mean number of skills that a turn shows for a message that asks for none, over the turns that show
    /// any.
    pub fn wrong_names(&self) -> f64 {
        share(self.wrong_names, self.wrong_turns)
    }

    /// Returns the share of messages without a relevant skill that a turn answers, as the mean over their kinds.
    pub fn answered(&self) -> f64 {
        let shares = self.negatives.values().map(|[messages, answered]| share(*answered, *messages));
        shares.sum::<f64>() / self.negatives.len().max(1) as f64
    }
}

impl Tally {
    fn add(&mut self, trial: &Trial) {
        let in_five = trial.rank.is_some_and(|rank| rank <= 5);
        self.messages += 1;
        self.first += usize::from(trial.rank == Some(1));
        self.in_five += usize::from(in_five);
        self.plain_first += usize::from(trial.nearer < 1);
        self.plain_five += usize::from(trial.nearer < 5);
        self.reciprocal += trial.rank.map_or(0.0, |rank| 1.0 / f64::from(rank));
        self.in_turn += usize::from(trial.right > 0);
        self.kept += usize::from(in_five && trial.right > 0);
        self.turns += usize::from(trial.names > 0);
        self.names += trial.names;
        self.several += usize::from(trial.relevant > 1);
        self.relevant += trial.relevant;
        self.relevant_shown += trial.right;
    }

    pub fn first(&self) -> f64 {
        share(self.first, self.messages)
    }

    pub fn five(&self) -> f64 {
        share(self.in_five, self.messages)
    }

    /// Returns recall at 1 and at 5 by the nearest text alone.
    pub fn plain(&self) -> [f64; 2] {
        [share(self.plain_first, self.messages), share(self.plain_five, self.messages)]
    }

    /// Returns the mean reciprocal rank in the first ten hits.
    pub fn reciprocal(&self) -> f64 {
        self.reciprocal / self.messages.max(1) as f64
    }

    /// Returns the share of messages for which a turn shows a relevant skill.
    pub fn turn(&self) -> f64 {
        share(self.in_turn, self.messages)
    }

    /// Returns the share of messages found in the first five for which a turn shows a relevant skill.
    pub fn kept(&self) -> f64 {
        share(self.kept, self.in_five)
    }

    /// Returns the mean number of skills that a turn shows, over the turns that show any.
    pub fn names(&self) -> f64 {
        share(self.names, self.turns)
    }

    /// Returns the share of all relevant skills that turns show.
    pub fn shown(&self) -> f64 {
        share(self.relevant_shown, self.relevant)
    }
}

pub fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}
