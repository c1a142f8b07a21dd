//! Conversations that are over as a source of recall: found by the words of their summaries.

use knowhow_domain::{Conversation, Result};
use knowhow_store::conversations;

use super::source::{Asked, Fit, Found, Source};
use crate::Ctx;

/// The caller's conversations.
pub(crate) struct Conversations;

impl Source for Conversations {
    type Item = Conversation;

    async fn find(&self, ctx: &Ctx, asked: &Asked<'_>) -> Result<Vec<Found<Conversation>>> {
        let (words, limit) = (&asked.wanted.words, asked.wanted.limit);
        let looked_for = conversations::AskedWords { terms: &words.terms, weights: &words.weights };
        let found = conversations::search(&ctx.app.db, &ctx.principal, looked_for, limit as i64).await?;
        Ok(found.into_iter().map(|(words, item)| Fit { words, cosine: None }.found(item)).collect())
    }
}
