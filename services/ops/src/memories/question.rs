//! A question as the database compares it: stemmed words, each with its share of what the question says.

use knowhow_domain::Result;
use knowhow_domain::recall::{find_rarity, list_distinct_terms};

use crate::page::check_question;

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
        check_question("q", text)?;
        let terms = list_distinct_terms(text);
        let rarities: Vec<f32> = terms.iter().map(|term| find_rarity(term).unwrap_or(LEAST_RARITY)).collect();
        let all = rarities.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Ok(Self { weights: rarities.into_iter().map(|rarity| rarity / all).collect(), terms })
    }
}
