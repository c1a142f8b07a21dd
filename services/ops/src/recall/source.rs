//! What a question is answered from, and how well an answer fits.

use std::sync::Arc;

use knowhow_domain::Result;

use super::question::Question;
use super::search::{NEAR, embed_searched};
use crate::Ctx;

/// A noun that is recalled. A further one implements this, and takes its place in [`recall`](super::recall).
pub(crate) trait Source {
    /// What is found.
    type Item;

    /// Finds the best answers to a question, best first.
    async fn find(&self, ctx: &Ctx, asked: &Asked<'_>) -> Result<Vec<Found<Self::Item>>>;
}

/// A question to a source.
pub(crate) struct Asked<'a> {
    /// In the words of who asks.
    pub(super) text: &'a str,
    /// What is looked for.
    pub(super) wanted: Wanted,
}

impl<'a> Asked<'a> {
    /// A question whose words are looked for.
    ///
    /// # Errors
    /// `Malformed` for one of nothing, or of more than 4,096 characters.
    pub(crate) fn by_words(text: &'a str, limit: usize) -> Result<Self> {
        let words = Arc::new(Question::of(text)?);
        Ok(Self { text, wanted: Wanted { words, vector: None, limit } })
    }

    /// The same with the question's vector.
    ///
    /// # Errors
    /// As [`Asked::by_words`].
    pub(super) async fn by_meaning(ctx: &Ctx, text: &'a str, limit: usize) -> Result<Self> {
        let mut asked = Self::by_words(text, limit)?;
        asked.wanted.vector = embed_searched(ctx, text).await?;
        Ok(asked)
    }
}

/// The words and the meaning to look for.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(super) words: Arc<Question>,
    /// The question's vector, where there is one in time.
    pub(super) vector: Option<Arc<[f32]>>,
    /// Most answers.
    pub(super) limit: usize,
}

/// An answer to a question.
#[derive(Debug)]
pub(crate) struct Found<T> {
    pub(crate) item: T,
    /// How well it fits, 0 to 1.
    pub(crate) score: f32,
    /// Why, in words and numbers.
    pub(crate) reason: String,
}

/// What an answer has in common with a question. Skills are judged by more, see [`Signals`](knowhow_domain::recall::Signals).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    /// Share of the question's words that it has, 0 to 1.
    pub(crate) words: f32,
    /// The cosine of their vectors, where both have one.
    pub(crate) cosine: Option<f32>,
}

impl Fit {
    /// Half for the words in common, half for the meaning; without a vector words alone.
    pub(super) fn score(&self) -> f32 {
        self.meaning().map_or(self.words, |meaning| f32::midpoint(self.words, meaning))
    }

    /// Whether there is anything in common.
    pub(super) fn is_some(&self) -> bool {
        self.words > 0.0 || self.cosine.is_some_and(|cosine| cosine > NEAR)
    }

    /// What was found so.
    pub(super) fn found<T>(self, item: T) -> Found<T> {
        let meant = self.meaning().map_or_else(String::new, |meaning| format!(", meaning ({meaning:.2})"));
        Found { item, score: self.score(), reason: format!("words ({:.2}){meant}", self.words) }
    }

    fn meaning(&self) -> Option<f32> {
        self.cosine.map(|cosine| cosine.clamp(0.0, 1.0))
    }
}
