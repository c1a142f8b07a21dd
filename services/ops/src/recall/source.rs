//! Defines sources of recall, and the score of their results.

use std::sync::Arc;

use knowhow_domain::Result;

use super::meaning::{NEAR, embed_searched};
use super::question::QuestionTerms;
use crate::Ctx;

/// A source of answers to a question. A new source implements this trait and is called in [`recall`](super::recall).
pub(crate) trait RecallSource {
    /// Type of the results.
    type Item;

    /// Finds the best answers to a question, best first.
    async fn find(&self, ctx: &Ctx, asked: &SourceQuery<'_>) -> Result<Vec<SourceHit<Self::Item>>>;
}

/// A question to a source.
pub(crate) struct SourceQuery<'a> {
    /// The question as text.
    pub(super) text: &'a str,
    /// The words and the vector to search for.
    pub(super) wanted: SearchTerms,
}

impl<'a> SourceQuery<'a> {
    /// Returns a question that is searched for by words only.
    ///
    /// # Errors
    /// `Malformed` if the text is empty or longer than 4,096 characters.
    pub(crate) fn by_words(text: &'a str, limit: usize) -> Result<Self> {
        let words = Arc::new(QuestionTerms::of(text)?);
        Ok(Self { text, wanted: SearchTerms { words, vector: None, limit } })
    }

    /// Returns a question that is searched for by words and by its vector. The vector is omitted if it is not
    /// computed in time.
    ///
    /// # Errors
    /// `Malformed` if the text is empty or longer than 4,096 characters.
    pub(super) async fn by_meaning(ctx: &Ctx, text: &'a str, limit: usize) -> Result<Self> {
        let mut asked = Self::by_words(text, limit)?;
        asked.wanted.vector = embed_searched(ctx, text).await?;
        Ok(asked)
    }
}

/// Words and vector to search for.
#[derive(Clone)]
pub(crate) struct SearchTerms {
    pub(super) words: Arc<QuestionTerms>,
    /// The question's vector, if it was computed in time.
    pub(super) vector: Option<Arc<[f32]>>,
    /// Maximum number of results.
    pub(super) limit: usize,
}

/// An answer to a question.
#[derive(Debug)]
pub(crate) struct SourceHit<T> {
    pub(crate) item: T,
    /// Fit to the question, 0 to 1.
    pub(crate) score: f32,
    /// Explanation of the score, in words and numbers.
    pub(crate) reason: String,
}

/// Features that answers of all sources have in common. Skills have more features, see
/// [`Signals`](knowhow_domain::recall::Signals).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MatchFeatures {
    /// Weighted share of the question's words that the answer contains, 0 to 1.
    pub(crate) words: f32,
    /// Cosine of the vectors of question and answer, if both have one.
    pub(crate) cosine: Option<f32>,
}

impl MatchFeatures {
    /// Returns the score: the mean of words and meaning, or the words alone if a vector is missing.
    pub(super) fn score(&self) -> f32 {
        self.meaning().map_or(self.words, |meaning| f32::midpoint(self.words, meaning))
    }

    /// Returns whether question and answer share a word or are near in meaning.
    pub(super) fn is_some(&self) -> bool {
        self.words > 0.0 || self.cosine.is_some_and(|cosine| cosine > NEAR)
    }

    /// Returns `item` as a hit with the score and reason of these features.
    pub(super) fn found<T>(self, item: T) -> SourceHit<T> {
        let meant = self.meaning().map_or_else(String::new, |meaning| format!(", meaning ({meaning:.2})"));
        SourceHit { item, score: self.score(), reason: format!("words ({:.2}){meant}", self.words) }
    }

    fn meaning(&self) -> Option<f32> {
        self.cosine.map(|cosine| cosine.clamp(0.0, 1.0))
    }
}
