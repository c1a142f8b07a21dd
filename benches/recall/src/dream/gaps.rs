//! Measures how well repeated requests are found, and whether a skill that answers them is recognised.

use std::collections::{BTreeSet, HashSet};

use knowhow_domain::learning::dream::{Gap, KnownVectors, Request, find_gaps, find_terms};
use knowhow_domain::recall::list_terms;
use serde_json::{Value, json};

use super::people::{Person, Source, draw_people};
use super::{Half, Score};
use crate::corpus::Corpus;
use crate::random::Random;
use crate::vectors::Vectors;

/// Goal for the F1 of pairs of requests. `BAR` is the minimum.
const GOAL: f64 = 0.85;
const BAR: f64 = 0.82;

/// A function that groups the requests of a user. Each group is a list of indexes.
type Group<'a> = dyn Fn(&Person<'_>) -> Vec<Vec<usize>> + 'a;

/// Scores pairs of requests that are reported as the same intent, and whole intents, over all users of a set.
///
/// An intent counts as found by a gap if most requests of the gap have that intent, and the gap has at least half of
/// the intent's requests.
pub fn measure(corpus: &Corpus, vectors: &Vectors) -> Value {
    let chatter = vectors.chatter_rows();
    println!("\n## Gaps: pairs of requests (goal {GOAL}, bar {BAR})\n");
    println!("| users | way | P | R | F1 | intents P | R | F1 |\n|---|---|---|---|---|---|---|---|");
    let mut figures = Vec::new();
    for half in Half::ALL {
        for source in Source::ALL {
            let people = draw_people(corpus, vectors, source, half);
            let known = KnownVectors { chatter: &chatter, ..KnownVectors::default() };
            let ways: [(&str, &Group<'_>); 3] = [
                ("gaps", &|person| list_groups(find_gaps(&person.requests, &known))),
                ("gaps, chatter not known", &|person| {
                    list_groups(find_gaps(&person.requests, &KnownVectors::default()))
                }),
                ("terms alone", &|person| group_by_terms(&person.requests)),
            ];
            for (way, group) in ways {
                let (mut pairs, mut intents) = (Score::default(), Score::default());
                for person in &people {
                    let groups = group(person);
                    pairs.add(score_pairs(person, &groups));
                    intents.add(score_intents(person, &groups));
                }
                print_line(&format!("{}, {}", source.name(), half.name()), way, [&pairs, &intents]);
                figures.push(json!({
                    "source": source.name(), "half": half.name(), "way": way,
                    "pairs": figures_of(&pairs), "intents": figures_of(&intents),
                }));
            }
        }
    }
    json!(figures)
}

/// Counts the gaps that a library of 30 skills closes. The library has half of the skills that the user asks for
/// repeatedly.
pub fn measure_answered(corpus: &Corpus, vectors: &Vectors) -> Value {
    let chatter = vectors.chatter_rows();
    println!("\n## Gaps that a skill answers\n");
    println!("| users | known | closed, of those with a skill | of those without |\n|---|---|---|---|");
    let mut figures = Vec::new();
    for half in Half::ALL {
        let people = draw_people(corpus, vectors, Source::Messages, half);
        for examples in [0, 5] {
            let (mut with, mut without) = ([0, 0], [0, 0]);
            for (at, person) in people.iter().enumerate() {
                let library = draw_library(corpus, person, &format!("library-{}-{at}", half.name()));
                let skills: Vec<&[f32]> = library.iter().map(|skill| vectors.skills[*skill].as_slice()).collect();
                let used = library.iter().flat_map(|skill| vectors.uses[*skill].iter().take(examples));
                let examples: Vec<&[f32]> = used.map(Vec::as_slice).collect();
                let open = find_gaps(&person.requests, &KnownVectors { chatter: &chatter, ..KnownVectors::default() });
                let known = KnownVectors { skills: &skills, examples: &examples, chatter: &chatter };
                let left: HashSet<Vec<usize>> = list_groups(find_gaps(&person.requests, &known)).into_iter().collect();
                for gap in open {
                    let Some(skill) = find_intent(person, &gap.requests) else { continue };
                    let counts = if library.contains(&skill) { &mut with } else { &mut without };
                    counts[0] += usize::from(!left.contains(&gap.requests));
                    counts[1] += 1;
                }
            }
            let [with, without] = [with, without].map(|[closed, all]| closed as f64 / f64::from(all.max(1) as u32));
            println!("| {} | {examples} examples a skill | {with:.3} | {without:.3} |", half.name());
            figures.push(
                json!({ "half": half.name(), "examples": examples, "closed_with": with, "closed_without": without }),
            );
        }
    }
    json!(figures)
}

/// Draws a library of half of the user's recurring skills and other skills.
fn draw_library(corpus: &Corpus, person: &Person<'_>, seed: &str) -> Vec<usize> {
    const SKILLS: usize = 30;
    let mut library: Vec<usize> = person.recurring.iter().copied().step_by(2).collect();
    let others = (corpus.everyday_at..corpus.starters_at).filter(|skill| !person.recurring.contains(skill)).collect();
    library.extend(Random::seeded(seed).choose(others, SKILLS - library.len()));
    library
}

fn list_groups(gaps: Vec<Gap>) -> Vec<Vec<usize>> {
    gaps.into_iter().map(|gap| gap.requests).collect()
}

/// Groups requests without embeddings: each frequent word gives the group of requests that contain it.
fn group_by_terms(requests: &[Request<'_>]) -> Vec<Vec<usize>> {
    let has = |request: &Request<'_>, word: &str| {
        let terms = list_terms(request.text);
        list_terms(word).iter().all(|term| terms.contains(term))
    };
    let group = |word: String| (0..requests.len()).filter(|at| has(&requests[*at], &word)).collect();
    find_terms(requests).into_iter().map(|term| group(term.word)).collect()
}

fn list_pairs(groups: &[Vec<usize>]) -> BTreeSet<[usize; 2]> {
    let of = |group: &Vec<usize>| {
        let all = group.iter().enumerate();
        all.flat_map(|(at, a)| group[at + 1..].iter().map(|b| [*a, *b])).collect::<Vec<_>>()
    };
    groups.iter().flat_map(of).collect()
}

/// Returns the indexes of the requests for each recurring skill.
fn list_wanted(person: &Person<'_>) -> Vec<Vec<usize>> {
    let of = |skill: &usize| (0..person.wanted.len()).filter(|at| person.wanted[*at] == Some(*skill)).collect();
    person.recurring.iter().map(of).collect()
}

fn score_pairs(person: &Person<'_>, groups: &[Vec<usize>]) -> Score {
    let (found, wanted) = (list_pairs(groups), list_pairs(&list_wanted(person)));
    Score { right: found.intersection(&wanted).count(), found: found.len(), wanted: wanted.len() }
}

fn score_intents(person: &Person<'_>, groups: &[Vec<usize>]) -> Score {
    let found: BTreeSet<usize> = groups.iter().filter_map(|group| find_intent(person, group)).collect();
    Score { right: found.len(), found: groups.len(), wanted: person.recurring.len() }
}

/// Returns the recurring skill of the group's intent. More than half of the group's requests ask for it, and they are
/// at least half of all requests for it.
fn find_intent(person: &Person<'_>, group: &[usize]) -> Option<usize> {
    person.recurring.iter().copied().find(|skill| {
        let is_of = |at: &usize| person.wanted[*at] == Some(*skill);
        let shared = group.iter().filter(|at| is_of(at)).count();
        let all = (0..person.wanted.len()).filter(is_of).count();
        shared * 2 > group.len() && shared * 2 >= all
    })
}

fn print_line(users: &str, way: &str, scores: [&Score; 2]) {
    let [pairs, intents] =
        scores.map(|score| format!("{:.3} | {:.3} | {:.3}", score.precision(), score.recall(), score.f1()));
    println!("| {users} | {way} | {pairs} | {intents} |");
}

fn figures_of(score: &Score) -> Value {
    json!({ "precision": score.precision(), "recall": score.recall(), "f1": score.f1() })
}
