//! Measures recall on real skills and messages: `make bench-recall`, described in docs/recall.md. With `--features` it
//! writes what its weights are fitted on instead: `make fit-recall`. With `--dream` it measures what a dream finds before a
//! model is asked: `make bench-dream`.

mod catalogues;
mod cores;
mod corpus;
mod dream;
mod features;
mod json;
mod measure;
mod random;
mod report;
mod sets;
mod settings;
mod times;
mod vectors;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;

use crate::corpus::Corpus;
use crate::settings::Part;
use crate::vectors::Vectors;

/// Finds real skills by real messages, and counts how often and how fast.
#[derive(Parser)]
struct Arguments {
    /// Folder of the corpus; its README lists the files.
    #[arg(long)]
    corpus: PathBuf,
    /// Folder with the starter skills.
    #[arg(long)]
    starters: PathBuf,
    /// Folder of the embeddings model; words only where it is absent.
    #[arg(long)]
    model: Option<PathBuf>,
    /// File that keeps embeddings between runs.
    #[arg(long)]
    cache: PathBuf,
    /// Where to write the figures as JSON.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Folder to write the features of skills and messages into, for `fit.py`; nothing is measured then.
    #[arg(long, conflicts_with = "out")]
    features: Option<PathBuf>,
    /// Labelled pairs of skills: measures the candidates of dreams instead.
    #[arg(long, requires = "model", conflicts_with = "features")]
    dream: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let corpus = Corpus::read(&arguments.corpus, &arguments.starters)?;
    eprintln!("{} skills, {} messages", corpus.skills.len(), corpus.coding.len() + corpus.everyday.len());
    let vectors = arguments.model.map(|model| vectors::embed(&corpus, &model, &arguments.cache)).transpose()?;
    match (&arguments.features, &arguments.dream, &vectors) {
        (Some(folder), ..) => features::write_all(&corpus, vectors.as_ref(), folder),
        (None, Some(pairs), Some(vectors)) => dream::measure_all(&corpus, vectors, pairs, arguments.out.as_deref()),
        _ => measure_all(&corpus, vectors.as_ref(), arguments.out.as_deref()),
    }
}

fn measure_all(corpus: &Corpus, vectors: Option<&Vectors>, out: Option<&Path>) -> Result<()> {
    let settings = settings::list(corpus);
    let outcomes: Vec<_> = settings.iter().map(|setting| measure::run(corpus, setting, vectors)).collect();
    let timed = settings.iter().filter(|setting| matches!(setting.part, Part::Coding | Part::Everyday));
    let mut costs: Vec<_> = timed.map(|setting| times::time(corpus, setting, vectors)).collect();
    costs.push(times::time_whole(corpus, vectors));
    report::print(&outcomes, &costs);
    if let Some(out) = out {
        let text = serde_json::to_string_pretty(&json::of(&outcomes, &costs))? + "\n";
        fs::write(out, text).with_context(|| out.display().to_string())?;
    }
    Ok(())
}
