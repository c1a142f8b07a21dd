//! Ranks the skills of a catalogue by a message.

use super::catalogue::Catalogue;
use super::counter::add_counter_examples;
use super::examples::Examples;
use super::fitted::{WORDS, WORDS_AND_MEANING};
use super::floor::{self, Best};
use super::hash::{hash, short};
use super::mentions;
use super::passages::Passages;
use super::phrases::print_of;
use super::score::{Asked, Context, Signals, add_examples, add_meaning, add_phrases, add_triggers, add_words};
use super::spelling;
use super::tokens::{Shape, each_term};
use crate::pause::pause_at;

/// A skill that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place in the list that the catalogue was built from.
    pub skill: usize,
    /// The fused score; comparable within one answer only, where a difference is the logarithm of how much likelier one
    /// skill is than another.
    pub score: f32,
    /// How likely it is beside the best hit, 0 to 1.
    pub closeness: f32,
    /// What the score was made of.
    pub signals: Signals,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The best skills, best first, equal ones by name.
    pub hits: Vec<Hit>,
    /// How likely the message asks for any of the skills at all, 0 to 1.
    pub fit: f32,
    /// What is known of message and catalogue as a whole.
    pub context: Context,
    /// The best score of all, skills that were left out included.
    pub(super) best: f32,
    /// How long the best skill and most others are, 0 to 1.
    pub(super) longness: f32,
    /// The skills whose embeddings are clearly near the message's, nearest first, few.
    pub(super) near: Vec<usize>,
}

/// How far below the best a skill may stand to come along with it, among short skills and among long ones: twenty and a hundred
/// and fifty times less likely. Nearly all that answers a message stands nearer.
const NEAR_SHORT: f32 = 3.0;
const NEAR_LONG: f32 = 5.0;

impl Ranking {
    /// The hits that come along: those near the best one, or none where the message most likely asks for no skill.
    pub fn relevant(&self, floor: f32) -> &[Hit] {
        if self.fit < floor {
            return &[];
        }
        let near = self.hits.partition_point(|hit| hit.closeness > 0.0 && hit.score >= self.best - self.reach());
        &self.hits[..near]
    }

    /// How far below the best a skill may stand.
    pub(super) fn reach(&self) -> f32 {
        NEAR_SHORT + (NEAR_LONG - NEAR_SHORT) * self.longness
    }
}

/// What to look for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    pub message: &'a str,
    /// Its embedding, to compare with those that the catalogue and the examples hold; without one words alone decide.
    pub embedding: Option<&'a [f32]>,
    /// The cosine to each skill in the order of the catalogue, where it was computed elsewhere; `None` for a skill not
    /// embedded yet.
    pub cosines: Option<&'a [Option<f32>]>,
    /// Messages after which skills were used.
    pub examples: Option<&'a Examples>,
    /// Messages to which skills did not apply.
    pub counter_examples: Option<&'a Examples>,
    /// The embeddings of [`list_chatter`](super::list_chatter).
    pub chatter: Option<&'a Examples>,
    /// Skills that are no hits, by their places: those that the message names.
    pub without: &'a [usize],
    /// Whether skills take part that want to be recalled by name alone.
    pub reserved: bool,
    /// Most hits.
    pub limit: usize,
}

/// What is known of a message and a catalogue before anything is weighed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Of each skill, in the order of the catalogue.
    pub signals: Vec<Signals>,
    pub context: Context,
    near: Vec<usize>,
}

/// Gathers what words, phrases, embeddings and examples say of each skill.
pub fn gather(catalogue: &Catalogue, query: &Query<'_>) -> Evidence {
    let mut signals: Vec<Signals> =
        catalogue.depths.iter().map(|depth| Signals { depth: *depth, ..Signals::default() }).collect();
    let Read { asked, phrases, said } = read_message(catalogue, query.message);
    add_words(catalogue, &asked, &mut signals);
    add_phrases(catalogue, &phrases, &mut signals);
    add_triggers(catalogue, &said, &mut signals);
    let compared;
    let cosines = match (query.cosines, query.embedding) {
        (Some(cosines), _) => cosines,
        (None, Some(embedding)) => {
            compared = catalogue.meanings.cosines(embedding);
            compared.as_slice()
        }
        (None, None) => &[],
    };
    let has_meaning = add_meaning(cosines, &mut signals);
    let mut context = Context::of(catalogue, &signals, has_meaning);
    if let Some(embedding) = query.embedding {
        if let Some(examples) = query.examples {
            add_examples(examples, embedding, &mut signals);
            context.own = examples.learned.own;
        }
        if let Some(chatter) = query.chatter {
            context.chatter = chatter.nearest(embedding);
        }
        if let Some(counter_examples) = query.counter_examples {
            add_counter_examples(counter_examples, embedding, &mut signals);
        }
    }
    Evidence { signals, context, near: mentions::list_near(cosines) }
}

/// Ranks the skills for a message.
///
/// Every skill with a word of the message takes part, and with a meaning every skill.
pub fn search(catalogue: &Catalogue, query: &Query<'_>) -> Ranking {
    let Evidence { signals, context, near } = gather(catalogue, query);
    let weights = if context.has_meaning { &WORDS_AND_MEANING } else { &WORDS };
    let score_of = |skill: &u32| weights.score(&signals[*skill as usize]);
    let mut scored: Vec<(f32, usize)> = catalogue.by_name.iter().map(score_of).zip(0..).collect();
    let takes_part = |rank: usize| {
        let skill = catalogue.by_name[rank] as usize;
        (query.reserved || !catalogue.is_reserved(skill)) && !query.without.contains(&skill)
    };
    let best_named = query.without.iter().filter_map(|skill| Some(weights.score(signals.get(*skill)?)));
    let best_named = best_named.fold(f32::NEG_INFINITY, f32::max);
    // A skill that a counter-example rules out scores nothing. It is a hit behind all others, so that it can be explained.
    let is_ruled_out = |skill: u32| signals.get(skill as usize).is_some_and(|signal| signal.counter > 0.0);
    let ruled_out: Vec<(f32, usize)> = scored
        .iter()
        .filter(|(score, rank)| *score <= 0.0 && takes_part(*rank) && is_ruled_out(catalogue.by_name[*rank]))
        .copied()
        .collect();
    scored.retain(|(score, rank)| *score > 0.0 && takes_part(*rank));
    keep_best(&mut scored, query.limit.max(2));
    let best = scored.first().map_or(best_named, |(score, _)| score.max(best_named));
    let (fit, longness) = scored.first().map_or((0.0, 0.0), |(score, rank)| {
        let signals = &signals[catalogue.by_name[*rank] as usize];
        let second = scored.get(1).map(|(score, _)| *score);
        let best = Best { signals, score: *score, second, words: weights.words(signals) };
        (floor::estimate_fit(&context, &best), floor::longness(&context, signals))
    });
    let top = scored.first().map_or(0.0, |(score, _)| *score);
    let hit_of = |(score, rank): (f32, usize)| {
        let skill = catalogue.by_name[rank] as usize;
        Hit { skill, score, closeness: (score - top).exp(), signals: signals[skill] }
    };
    let ruled_out = ruled_out.into_iter().map(|found| Hit { closeness: 0.0, ..hit_of(found) });
    let hits = scored.into_iter().map(hit_of).chain(ruled_out).take(query.limit).collect();
    Ranking { hits, fit, context, best, longness, near }
}

/// Leaves the `count` best of scores with ranks of names, in order; equal scores stand in the order of names.
fn keep_best(scored: &mut Vec<(f32, usize)>, count: usize) {
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < scored.len() {
        scored.select_nth_unstable_by(count, order);
        scored.truncate(count);
    }
    scored.sort_unstable_by(order);
}

/// Distinct terms, and phrases, of a message that are searched for: the first ones of a long text say what it is about.
pub(super) const TERMS: usize = 512;
/// Misspelt words that are looked at; each costs some hundred look-ups.
const CORRECTIONS: usize = 8;

/// What a message says, in terms.
#[derive(Default)]
struct Read {
    asked: Vec<Asked>,
    phrases: Vec<u32>,
    /// All, in order.
    said: Vec<u32>,
}

/// Returns the terms and phrases of a message; a misspelt term stands for the one of the catalogue closest to it. Written text
/// comes before pasted text, whose words weigh less and make no phrases.
fn read_message(catalogue: &Catalogue, message: &str) -> Read {
    let passages = Passages::of(message);
    let mut reader = Reader { catalogue, read: Read::default(), corrections: CORRECTIONS, step: 0 };
    for text in &passages.written {
        reader.read(text, 1.0, true);
    }
    let weight = passages.pasted_weight();
    for text in &passages.pasted {
        reader.read(text, weight, false);
    }
    reader.read
}

/// Reads the passages of a message.
struct Reader<'a> {
    catalogue: &'a Catalogue,
    read: Read,
    corrections: usize,
    step: usize,
}

impl Reader<'_> {
    /// Reads a text whose terms have this weight, and its phrases and triggers if it was written.
    fn read(&mut self, text: &str, weight: f32, is_written: bool) {
        let Self { catalogue, read: Read { asked, phrases, said }, corrections, step } = self;
        let mut last = None;
        each_term(text, |term, shape| {
            pause_at(*step);
            *step += 1;
            let mut key = short(hash(term.as_bytes()));
            if catalogue.count(key).next().is_none() && *corrections > 0 && spelling::is_correctable(term) {
                *corrections -= 1;
                key = spelling::find_correction(term, catalogue).unwrap_or(key);
            }
            if let Some(other) = asked.iter_mut().find(|other| other.term == key) {
                other.count += weight;
            } else if asked.len() < TERMS {
                asked.push(Asked { term: key, count: weight });
            }
            if !is_written {
                return;
            }
            if said.len() < TERMS {
                said.push(key);
            }
            let word = (shape == Shape::Word).then_some(key);
            let phrase = last.zip(word).filter(|(a, b)| a != b).map(|(a, b)| print_of(a, b));
            if let Some(phrase) = phrase.filter(|phrase| phrases.len() < TERMS && !phrases.contains(phrase)) {
                phrases.push(phrase);
            }
            last = word;
        });
    }
}
