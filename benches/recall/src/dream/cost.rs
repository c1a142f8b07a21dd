//! Measures how long a dream takes to find the candidates of a user with 200 skills and 90 sessions, on one core.

use std::hint::black_box;
use std::time::Instant;

use knowhow_domain::learning::dream::{Claim, KnownVectors, find_gaps, find_overlaps, find_terms};
use serde_json::{Value, json};

use super::Half;
use super::people::{Source, draw_people};
use crate::catalogues::{Drawing, World};
use crate::corpus::Corpus;
use crate::vectors::Vectors;

const SKILLS: usize = 200;
const RUNS: usize = 21;
/// Maximum median time that meets the goal, in milliseconds.
const GOAL: f64 = 100.0;

/// Measures the time with random skills, and with skills of one repository, which have many near neighbours.
pub fn measure(corpus: &Corpus, vectors: &Vectors) -> Value {
    println!("\n## Time, {SKILLS} skills and 90 sessions, medians in ms (goal {GOAL})\n");
    println!("| skills | gaps | terms | overlaps | together |\n|---|---|---|---|---|");
    let chatter = vectors.chatter_rows();
    let people = draw_people(corpus, vectors, Source::Messages, Half::HeldOut);
    let requests = &people[0].requests;
    let mut figures = Vec::new();
    for (name, same_source) in [("at random", false), ("of one repository first", true)] {
        let drawing = Drawing {
            world: World::Coding,
            same_source,
            size: SKILLS,
            body_chars: usize::MAX,
            examples: 0,
            starters: false,
            halved: false,
        };
        let library = drawing.draw(corpus, &[0]);
        let claims: Vec<Claim<'_>> = library
            .iter()
            .map(|at| {
                let skill = &corpus.skills[*at];
                Claim { name: &skill.name, body: &skill.body, vector: Some(&vectors.skills[*at]) }
            })
            .collect();
        let skills: Vec<&[f32]> = claims.iter().filter_map(|claim| claim.vector).collect();
        let known = KnownVectors { skills: &skills, examples: &[], chatter: &chatter };
        let gaps = median_ms(|| find_gaps(requests, &known));
        let terms = median_ms(|| find_terms(requests));
        let overlaps = median_ms(|| find_overlaps(&claims));
        let together = gaps + terms + overlaps;
        println!("| {name} | {gaps:.1} | {terms:.1} | {overlaps:.1} | {together:.1} |");
        figures
            .push(json!({ "skills": name, "gaps": gaps, "terms": terms, "overlaps": overlaps, "together": together }));
    }
    json!(figures)
}

fn median_ms<T>(work: impl Fn() -> T) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            black_box(work());
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}
