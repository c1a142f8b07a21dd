//! Splits a question into stemmed words with weights, which the database compares with stored words.

use knowhow_domain::Result;
use knowhow_domain::recall::{find_rarity, list_distinct_terms};

use crate::context::page::check_question;

/// Maximum number of words to search for; the rarest are kept. Each is compared with all words of a user's memories.
const TERMS: usize = 64;
/// Rarity of a stem that is itself a stop word, e.g. `other`, the stem of `others`.
const LEAST_RARITY: f32 = 0.5;

/// The words of a question, with their weights.
pub(crate) struct QuestionTerms {
    /// Stemmed words without repetitions. Of a long question only the rarest are included.
    pub(crate) terms: Vec<String>,
    /// Weight of each word, by its rarity. The sum of all weights is 1.
    pub(crate) weights: Vec<f32>,
}

impl QuestionTerms {
    /// Splits a question into words, and weighs them by rarity.
    ///
    /// # Errors
    /// `Malformed` if the text is empty or longer than 4,096 characters.
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
