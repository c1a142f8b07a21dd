//! Tries every message on its catalogue and counts what comes back.

use std::collections::BTreeMap;

use knowhow_domain::recall::{FLOOR, Query, Ranking, search};

use crate::catalogues::{Drawing, Drawn};
use crate::cores;
use crate::corpus::{Corpus, Message};
use crate::settings::{Setting, Way};
use crate::vectors::Vectors;

/// Hits that a search brings: what the reciprocal rank looks at.
const LIMIT: usize = 10;
/// Skills that a turn names at most.
const SHOWN: usize = 5;

/// How a setting did in each of its ways.
pub struct Outcome {
    pub setting: Setting,
    pub ways: Vec<(Way, Counts)>,
}

/// How one way of searching did.
#[derive(Default)]
pub struct Counts {
    pub all: Tally,
    pub by_kind: BTreeMap<String, Tally>,
    /// Of each kind of messages that no skill answers, how many there are and how many were answered in a turn.
    pub negatives: BTreeMap<String, [usize; 2]>,
    /// Turns that name skills for such messages, and the names.
    wrong_turns: usize,
    wrong_names: usize,
}

/// Counts of messages that skills answer; one counts as found where any of its skills is.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub messages: usize,
    first: usize,
    in_five: usize,
    reciprocal: f64,
    /// Likewise by the nearest text alone.
    plain_first: usize,
    plain_five: usize,
    /// Of those found among the first five, how many a turn shows; of all, how many.
    kept: usize,
    in_turn: usize,
    /// Turns that name skills, and the names.
    turns: usize,
    names: usize,
    /// Messages with several relevant skills; relevant skills of all messages, and how many of these turns show.
    pub several: usize,
    relevant: usize,
    relevant_shown: usize,
}

/// What came back for one message.
struct Trial {
    message: usize,
    relevant: usize,
    /// Where the first relevant skill stands, from 1.
    rank: Option<u8>,
    /// The number of irrelevant skills whose description or an example is nearer to the message than those of every relevant skill.
    nearer: usize,
    /// Skills that a turn names, how many of these are relevant, and whether any is the user's own.
    names: usize,
    right: usize,
    answered: bool,
}

/// What messages are tried on.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    pub corpus: &'a Corpus,
    /// How catalogues are drawn of the corpus.
    pub drawing: &'a Drawing,
    /// Those of the corpus; `None` where search goes by words alone.
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

/// Tries the messages of a catalogue in all ways.
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

/// What a turn would ask, but for the names in the message.
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

/// Counts the skills whose description or an example is nearer to the message than those of every relevant skill.
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

    /// Skills that a turn names for a message that asks for none, where it names any.
    pub fn wrong_names(&self) -> f64 {
        share(self.wrong_names, self.wrong_turns)
    }

    /// Share of the negatives that a turn answers, mean of their kinds.
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

    /// Recall at 1 and at 5 by the nearest text alone.
    pub fn plain(&self) -> [f64; 2] {
        [share(self.plain_first, self.messages), share(self.plain_five, self.messages)]
    }

    /// The mean reciprocal rank among the first ten.
    pub fn reciprocal(&self) -> f64 {
        self.reciprocal / self.messages.max(1) as f64
    }

    /// Share of the messages for which a turn names a relevant skill.
    pub fn turn(&self) -> f64 {
        share(self.in_turn, self.messages)
    }

    /// Share of what search finds among five that a turn shows.
    pub fn kept(&self) -> f64 {
        share(self.kept, self.in_five)
    }

    /// Skills that a turn names, where it names any.
    pub fn names(&self) -> f64 {
        share(self.names, self.turns)
    }

    /// Share of all relevant skills that turns show.
    pub fn shown(&self) -> f64 {
        share(self.relevant_shown, self.relevant)
    }
}

pub fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}
