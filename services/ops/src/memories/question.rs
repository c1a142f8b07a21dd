//! A question as the database compares it: stemmed words, each with its share of what the question says.

use knowhow_domain::recall::{find_rarity, list_terms};
use knowhow_domain::{Error, Result};

/// Longest question, characters.
const QUESTION_CHARS: usize = 4096;

/// What a stem is worth that is also a word which says nothing, as `other` is of `others`.
const LEAST_RARITY: f32 = 0.5;

/// Words to look for.
pub(crate) struct Question {
    /// Stemmed, each once.
    pub(crate) terms: Vec<String>,
    /// What each is worth by its rarity, together 1.
    pub(crate) weights: Vec<f32>,
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// `Malformed` for one of nothing, or of more than 4,096 characters.
    pub(crate) fn of(text: &str) -> Result<Self> {
        let length = text.chars().count();
        if text.trim().is_empty() || length > QUESTION_CHARS || text.contains('\0') {
            return Err(Error::Malformed(format!("q takes 1 to {QUESTION_CHARS} characters and no NUL")));
        }
        let mut terms = list_terms(text);
        terms.sort_unstable();
        terms.dedup();
        let rarities: Vec<f32> = terms.iter().map(|term| find_rarity(term).unwrap_or(LEAST_RARITY)).collect();
        let all = rarities.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Ok(Self { weights: rarities.into_iter().map(|rarity| rarity / all).collect(), terms })
    }
}
