//! Measures how well skills with the same content are distinguished from merely similar ones, by labelled pairs of
//! real skills.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use knowhow_domain::learning::dream::{Claim, find_overlaps};
use serde_json::{Value, json};

use super::{Half, Score};
use crate::corpus::Corpus;
use crate::random::Random;
use crate::vectors::Vectors;

/// Number of other skills in the library around each pair.
const OTHERS: usize = 150;
/// Maximum number of them from the repositories of the pair.
const NEAR: usize = 60;
/// Minimum cosine of an overlap in the simplest method, which is measured for comparison.
const PLAIN_COSINE: f32 = 0.85;

struct Pair {
    id: String,
    /// Indexes of the two skills in the corpus.
    skills: [usize; 2],
    overlaps: bool,
}

/// Scores the overlaps that are found in the library around each pair.
pub fn measure(corpus: &Corpus, vectors: &Vectors, file: &Path) -> Result<Value> {
    println!("\n## Overlaps of labelled pairs (goal .90 / .95, bar .83 / .90)\n");
    println!("| pairs | way | P | R | F1 |\n|---|---|---|---|---|");
    let pairs = read(corpus, file)?;
    let found: Vec<[bool; 2]> = pairs.iter().map(|pair| judge(corpus, vectors, pair)).collect();
    let mut figures = Vec::new();
    let halves = Half::ALL.map(|half| (half.name(), Some(half)));
    for (name, half) in halves.into_iter().chain([("all", None)]) {
        for (at, way) in ["overlaps", "cosine .85"].into_iter().enumerate() {
            let mut score = Score::default();
            for (pair, found) in
                pairs.iter().zip(&found).filter(|(pair, _)| half.is_none_or(|h| Half::of(&pair.id) == h))
            {
                score.right += usize::from(found[at] && pair.overlaps);
                score.found += usize::from(found[at]);
                score.wanted += usize::from(pair.overlaps);
            }
            let [precision, recall, f1] = [score.precision(), score.recall(), score.f1()];
            println!("| {name} | {way} | {precision:.3} | {recall:.3} | {f1:.3} |");
            figures.push(json!({ "pairs": name, "way": way, "precision": precision, "recall": recall, "f1": f1 }));
        }
    }
    Ok(json!(figures))
}

/// Returns whether the pair is found by the code of dreams, and whether it is found by the cosine alone.
fn judge(corpus: &Corpus, vectors: &Vectors, pair: &Pair) -> [bool; 2] {
    let library = draw_library(corpus, pair);
    let claims: Vec<Claim<'_>> = library
        .iter()
        .map(|at| Claim {
            name: &corpus.skills[*at].name,
            body: &corpus.skills[*at].body,
            vector: Some(&vectors.skills[*at]),
        })
        .collect();
    let [a, b] = pair.skills.map(|at| &vectors.skills[at]);
    let cosine: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    [find_overlaps(&claims).iter().any(|overlap| (overlap.first, overlap.second) == (0, 1)), cosine >= PLAIN_COSINE]
}

/// Returns the pair and other skills: first from the repositories of the pair, then from the whole corpus.
fn draw_library(corpus: &Corpus, pair: &Pair) -> Vec<usize> {
    let mut random = Random::seeded(&pair.id);
    let sources = pair.skills.map(|at| &corpus.skills[at].source);
    let is_other = |at: &usize| !pair.skills.contains(at);
    let near = (0..corpus.everyday_at).filter(is_other).filter(|at| sources.contains(&&corpus.skills[*at].source));
    let mut library = pair.skills.to_vec();
    library.extend(random.choose(near.collect(), NEAR));
    let far = (0..corpus.everyday_at).filter(|at| !library.contains(at)).collect();
    library.extend(random.choose(far, OTHERS + 2 - library.len()));
    library
}

fn read(corpus: &Corpus, file: &Path) -> Result<Vec<Pair>> {
    let ids: HashMap<&str, usize> =
        corpus.skills[..corpus.everyday_at].iter().enumerate().map(|(at, skill)| (skill.id.as_str(), at)).collect();
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let mut cells = line.split('\t');
            let mut skill = || ids.get(cells.next()?).copied();
            let skills = skill().zip(skill()).with_context(|| format!("not in the corpus: {line}"))?;
            let id: String = line.split('\t').take(2).collect();
            Ok(Pair { id, skills: skills.into(), overlaps: line.ends_with("\t1") })
        })
        .collect()
}
