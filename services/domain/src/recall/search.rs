//! Ranks the skills of a catalogue for a message.

use super::catalogue::Catalogue;
use super::counter::add_counter_examples;
use super::examples::Examples;
use super::fitted::{WORDS, WORDS_AND_MEANING};
use super::floor::{self, BestFeatures};
use super::hash::{hash, short};
use super::named_skills::list_near;
use super::passages::MessagePassages;
use super::phrases::print_of;
use super::ranking::{Hit, Ranking};
use super::score::{MessageTerm, add_examples, add_meaning, add_phrases, add_triggers, add_words};
use super::signals::{Context, Signals};
use super::spelling;
use super::tokens::{MESSAGE_TERMS, TermShape, each_term};
use super::weights::Fusion;
use crate::learning::pause::pause_at;

/// The input of a search.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    pub message: &'a str,
    /// Embedding of the message, which is compared with the embeddings of catalogue and examples. Without it, only
    /// words count.
    pub embedding: Option<&'a [f32]>,
    /// Cosines between the message and the skills, in catalogue order, if the caller has computed them. The cosine is
    /// `None` for a skill without an embedding.
    pub cosines: Option<&'a [Option<f32>]>,
    /// Messages after which skills were used; `None` to ignore earlier uses.
    pub examples: Option<&'a Examples>,
    /// Counter-examples, which are messages that skills did not apply to; `None` to ignore them.
    pub counter_examples: Option<&'a Examples>,
    /// The embeddings of [`list_chatter`](super::list_chatter); `None` if they have not been computed.
    pub chatter: Option<&'a Examples>,
    /// Positions of skills to exclude from the hits, because the message names them.
    pub without: &'a [usize],
    /// Whether to include reserved skills, which are otherwise recalled by name only.
    pub reserved: bool,
    /// Maximum number of hits.
    pub limit: usize,
}

/// Signals and properties of a message and a catalogue, before weighting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Signals of each skill, in catalogue order.
    pub signals: Vec<Signals>,
    pub context: Context,
    near: Vec<usize>,
}

/// Computes the signals of each skill from words, phrases, embeddings and examples.
pub fn gather(catalogue: &Catalogue, query: &Query<'_>) -> Evidence {
    let mut signals: Vec<Signals> =
        catalogue.depths.iter().map(|depth| Signals { depth: *depth, ..Signals::default() }).collect();
    let Read { asked, phrases, term_keys } = read_message(catalogue, query.message);
    add_words(catalogue, &asked, &mut signals);
    add_phrases(catalogue, &phrases, &mut signals);
    add_triggers(catalogue, &term_keys, &mut signals);
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
    Evidence { signals, context, near: list_near(cosines) }
}

/// Ranks the skills for a message.
///
/// Without embeddings, only skills that contain a word from the message are ranked. With embeddings, all skills are
/// ranked.
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
    // A skill that a counter-example excludes has no score. It is ranked last, so that the result can be explained.
    let is_ruled_out = |skill: u32| signals.get(skill as usize).is_some_and(|signal| signal.counter > 0.0);
    let ruled_out: Vec<(f32, usize)> = scored
        .iter()
        .filter(|(score, rank)| *score <= 0.0 && takes_part(*rank) && is_ruled_out(catalogue.by_name[*rank]))
        .copied()
        .collect();
    scored.retain(|(score, rank)| *score > 0.0 && takes_part(*rank));
    keep_best(&mut scored, query.limit.max(2));
    let best = scored.first().map_or(best_named, |(score, _)| score.max(best_named));
    let (fit, longness) = scored.first().map_or((0.0, 0.0), |(_, rank)| {
        let signals_of = |rank: usize| &signals[catalogue.by_name[rank] as usize];
        let own = signals_of(*rank);
        let fit_by = |context: &Context, weights: &Fusion| {
            let second = scored.get(1).map(|(_, rank)| weights.score(signals_of(*rank)));
            let best = BestFeatures { signals: own, score: weights.score(own), second, words: weights.words(own) };
            floor::estimate_fit(context, &best)
        };
        let fit = fit_by(&context, weights);
        // A skill without a vector may fit by its words alone, because the cosines of other skills do not apply to
        // it.
        let by_words = own.is_guessed.then(|| fit_by(&Context { has_meaning: false, ..context }, &WORDS));
        (by_words.map_or(fit, |by_words| fit.max(by_words)), floor::longness(&context, own))
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

/// Keeps the `count` best scores and sorts them. Each score comes with the rank of the skill's name; equal scores are
/// sorted by name.
fn keep_best(scored: &mut Vec<(f32, usize)>, count: usize) {
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < scored.len() {
        scored.select_nth_unstable_by(count, order);
        scored.truncate(count);
    }
    scored.sort_unstable_by(order);
}

/// Maximum number of misspelt words that are corrected, because each costs some hundred look-ups.
const CORRECTIONS: usize = 8;

/// The terms of a message.
#[derive(Default)]
struct Read {
    asked: Vec<MessageTerm>,
    phrases: Vec<u32>,
    /// Keys of all terms of the written text, in order.
    term_keys: Vec<u32>,
}

/// Returns the terms and phrases of a message. A misspelt term is replaced by the closest term of the catalogue.
/// Written text is read before pasted text. Pasted text weighs less, and its phrases are ignored.
fn read_message(catalogue: &Catalogue, message: &str) -> Read {
    let passages = MessagePassages::of(message);
    let mut reader = MessageReader { catalogue, read: Read::default(), corrections: CORRECTIONS, step: 0 };
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
struct MessageReader<'a> {
    catalogue: &'a Catalogue,
    read: Read,
    corrections: usize,
    step: usize,
}

impl MessageReader<'_> {
    /// Reads a text and gives its terms this weight. Phrases and triggers are only read from written text.
    fn read(&mut self, text: &str, weight: f32, is_written: bool) {
        let Self { catalogue, read: Read { asked, phrases, term_keys }, corrections, step } = self;
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
            } else if asked.len() < MESSAGE_TERMS {
                asked.push(MessageTerm { term: key, count: weight });
            }
            if !is_written {
                return;
            }
            if term_keys.len() < MESSAGE_TERMS {
                term_keys.push(key);
            }
            let word = (shape == TermShape::Word).then_some(key);
            let phrase = last.zip(word).filter(|(a, b)| a != b).map(|(a, b)| print_of(a, b));
            if let Some(phrase) = phrase.filter(|phrase| phrases.len() < MESSAGE_TERMS && !phrases.contains(phrase)) {
                phrases.push(phrase);
            }
            last = word;
        });
    }
}
