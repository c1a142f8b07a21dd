//! Measures the candidates that code finds for dreams: repeated requests, and skills with the same content.

mod cost;
mod gaps;
mod pairs;
mod people;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::corpus::Corpus;
use crate::vectors::Vectors;

/// Half of the data: the code's constants were tuned on one half, and the other was used only for reporting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Tuned,
    HeldOut,
}

impl Half {
    pub const ALL: [Self; 2] = [Self::Tuned, Self::HeldOut];

    /// Returns the half of the data with this id.
    pub fn of(id: &str) -> Self {
        if rank(id) % 2 == 1 { Self::Tuned } else { Self::HeldOut }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Tuned => "tuned on",
            Self::HeldOut => "held out",
        }
    }
}

/// Returns the first 8 bytes (big endian) of the SHA-256 of an id.
pub fn rank(id: &str) -> u64 {
    Sha256::digest(id.as_bytes()).iter().take(8).fold(0, |rank, byte| rank << 8 | u64::from(*byte))
}

/// Counts for precision (`right` of `found`) and recall (`right` of `wanted`).
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub right: usize,
    pub found: usize,
    pub wanted: usize,
}

impl Score {
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.right as f64 / self.wanted.max(1) as f64
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (self.found + self.wanted).max(1) as f64
    }

    pub fn add(&mut self, other: Self) {
        self.right += other.right;
        self.found += other.found;
        self.wanted += other.wanted;
    }
}

/// Prints the tables, and writes the figures to `out` as JSON.
pub fn measure_all(corpus: &Corpus, vectors: &Vectors, pairs: &Path, out: Option<&Path>) -> Result<()> {
    let figures = json!({
        "gaps": gaps::measure(corpus, vectors),
        "answered": gaps::measure_answered(corpus, vectors),
        "overlaps": pairs::measure(corpus, vectors, pairs)?,
        "cost": cost::measure(corpus, vectors),
    });
    if let Some(out) = out {
        let text = serde_json::to_string_pretty(&figures)? + "\n";
        fs::write(out, text).with_context(|| out.display().to_string())?;
    }
    Ok(())
}
