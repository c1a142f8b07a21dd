//! A question as the database compares it: stemmed words, each with its share of what the question says.

use knowhow_domain::Result;
use knowhow_domain::recall::{find_rarity, list_distinct_terms};

use crate::page::check_question;

/// Most words that are looked for, the rarest: each is compared with all words of a user's memories.
const TERMS: usize = 64;
/// What a stem is worth that is also a word which says nothing, as `other` is of `others`.
const LEAST_RARITY: f32 = 0.5;

/// Words to look for.
pub(crate) struct Question {
    /// Stemmed, each once, the rarest of a long question.
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
        check_question("q", text)?;
        let rarity = |term: &str| find_rarity(term).unwrap_or(LEAST_RARITY);
        let mut terms: Vec<(f32, String)> =
            list_distinct_terms(text).into_iter().map(|term| (rarity(&term), term)).collect();
        terms.sort_by(|a, b| b.0.total_cmp(&a.0));
        terms.truncate(TERMS);
        let all = terms.iter().map(|(rarity, _)| rarity).sum::<f32>().max(f32::MIN_POSITIVE);
        let (weights, terms) = terms.into_iter().map(|(rarity, term)| (rarity / all, term)).unzip();
        Ok(Self { terms, weights })
    }
}

#[cfg(test)]
mod tests;
