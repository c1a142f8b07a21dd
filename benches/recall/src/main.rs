//! Measures recall on real skills and messages: `make bench-recall`, described in docs/recall.md.

mod catalogues;
mod corpus;
mod measure;
mod report;
mod vectors;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use crate::corpus::Corpus;
use crate::measure::Outcome;

/// Finds real skills by real messages, and counts how often and how fast.
#[derive(Parser)]
struct Arguments {
    /// Folder with `skills.jsonl.zst`, `queries-dev.jsonl` and `queries-negative-dev.jsonl`.
    #[arg(long)]
    corpus: PathBuf,
    /// Folder of the embeddings model; words only where it is absent.
    #[arg(long)]
    model: Option<PathBuf>,
    /// File that keeps embeddings between runs.
    #[arg(long)]
    cache: PathBuf,
    /// File for the figures.
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let corpus = Corpus::read(&arguments.corpus)?;
    eprintln!("{} skills, {} messages", corpus.skills.len(), corpus.messages.len());
    let vectors = arguments.model.map(|model| vectors::embed(&corpus, &model, &arguments.cache)).transpose()?;
    let outcomes: Vec<Outcome> =
        measure::SETTINGS.iter().map(|setting| measure::run(&corpus, setting, vectors.as_ref())).collect();
    let whole = measure::time_whole(&corpus, vectors.as_ref());
    report::print(&outcomes, &whole);
    let json = serde_json::to_string_pretty(&report::to_json(&outcomes, &whole))?;
    std::fs::write(&arguments.out, json + "\n").with_context(|| arguments.out.display().to_string())
}
