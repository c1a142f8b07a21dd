//! Measures recall on real skills and messages with `make bench-recall`; docs/internals/recall-fit.md describes it.
//! With `--features` (`make fit-recall`) it writes the data for fitting the weights of recall instead. With `--dream`
//! (`make bench-dream`) it measures the candidates that a dream finds before it asks a model.

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
use knowhow_encoder::{Encoder, Networks};

use crate::corpus::Corpus;
use crate::settings::Part;
use crate::vectors::Vectors;

/// Searches real skills by real messages, and measures accuracy and time.
#[derive(Parser)]
struct Arguments {
    /// Folder of the corpus; its README lists the files.
    #[arg(long)]
    corpus: PathBuf,
    /// Folder with the starter skills.
    #[arg(long)]
    starters: PathBuf,
    /// Folder of the embeddings model; without it, search uses words only.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Uses the networks for every language.
    #[arg(long, requires = "model")]
    every_language: bool,
    /// File that stores embeddings between runs.
    #[arg(long)]
    cache: PathBuf,
    /// File for the figures as JSON.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Folder for the features of skills and messages, for `fit.py`; nothing is measured.
    #[arg(long, conflicts_with = "out")]
    features: Option<PathBuf>,
    /// File with labelled pairs of skills; measures the candidates of dreams instead.
    #[arg(long, requires = "model", conflicts_with = "features")]
    dream: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let corpus = Corpus::read(&arguments.corpus, &arguments.starters)?;
    eprintln!("{} skills, {} messages", corpus.skills.len(), corpus.coding.len() + corpus.everyday.len());
    let networks = if arguments.every_language { Networks::EveryLanguage } else { Networks::All };
    let embed = |model: PathBuf| vectors::embed(&corpus, &Encoder::open(&model, networks)?, &arguments.cache);
    let vectors = arguments.model.map(embed).transpose()?;
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
