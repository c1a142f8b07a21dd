//! Measures recall on real skills: `cargo run --release -p knowhow-domain --example recall_bench [VECTORS]`.
//!
//! VECTORS is a folder with `skills.f32` and `queries.f32`: rows of 384 little-endian floats in the order of
//! `skills.jsonl`, and of `queries-dev.jsonl` followed by `queries-negative-dev.jsonl`.

mod corpus;
mod measure;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use corpus::Corpus;
use measure::{Outcome, SETTINGS, Tally, Vectors};

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !folder.join("skills.jsonl.zst").is_file() {
        println!("skipped: there is no corpus at {}", folder.display());
        return Ok(());
    }
    let corpus = Corpus::read(&folder)?;
    report("words only", &corpus, None);
    if let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) {
        let vectors =
            Vectors { skills: read_rows(&folder, "skills.f32")?, messages: read_rows(&folder, "queries.f32")? };
        report("words and meaning", &corpus, Some(&vectors));
    }
    Ok(())
}

fn read_rows(folder: &Path, file: &str) -> Result<Vec<Vec<f32>>> {
    const DIMS: usize = 384;
    let path = folder.join(file);
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let floats: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes: &[u8; 4]| f32::from_le_bytes(*bytes)).collect();
    Ok(floats.chunks_exact(DIMS).map(<[f32]>::to_vec).collect())
}

fn report(title: &str, corpus: &Corpus, vectors: Option<&Vectors>) {
    println!("## {title}\n");
    println!(
        "| catalogue | goal r@1 / r@5 | r@1 | r@5 | MRR@10 | r@5 as share | negatives at the 97 % floor (goal .35) | built-in floor: hits kept, negatives | build us/skill | search us | bytes/skill |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut kinds = String::new();
    for setting in &SETTINGS {
        let outcome = measure::run(corpus, setting, vectors);
        println!("| {} | {} | {} |", setting.name, setting.goal, cells(&outcome));
        for (kind, tally) in &outcome.by_kind {
            kinds += &format!("| {} | {kind} | {} | {} |\n", setting.name, tally.messages, rates(tally));
        }
    }
    println!(
        "\n| catalogue | kind | messages | r@1 | r@5 | MRR@10 | r@5 as share |\n|---|---|---|---|---|---|---|\n{kinds}"
    );
}

fn cells(outcome: &Outcome) -> String {
    let kept = outcome.kept as f64 / outcome.fits.len().max(1) as f64;
    let through = outcome.let_through as f64 / outcome.negatives.len().max(1) as f64;
    let searches = (outcome.fits.len().max(outcome.all.messages) + outcome.negatives.len()) as f64;
    format!(
        "{} | {:.3} | {kept:.3}, {through:.3} | {:.1} | {:.1} | {} |",
        rates(&outcome.all),
        outcome.negatives_let_through(),
        outcome.building.as_secs_f64() * 1e6 / outcome.skills as f64,
        outcome.searching.as_secs_f64() * 1e6 / searches,
        outcome.bytes / outcome.skills.max(1),
    )
    .trim_end_matches(" |")
    .to_owned()
}

fn rates(tally: &Tally) -> String {
    let messages = tally.messages as f64;
    format!(
        "{:.4} | {:.4} | {:.4} | {:.4}",
        tally.first as f64 / messages,
        tally.in_five as f64 / messages,
        tally.reciprocal / messages,
        tally.share_in_five / messages
    )
}
