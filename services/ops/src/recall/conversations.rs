//! Ended conversations as a source of recall. They are found by the words of their summaries.

use knowhow_domain::{Conversation, Result};
use knowhow_store::sessions::conversations;

use super::source::{MatchFeatures, RecallSource, SourceHit, SourceQuery};
use crate::Ctx;

/// Finds the caller's conversations.
pub(crate) struct Conversations;

impl RecallSource for Conversations {
    type Item = Conversation;

    async fn find(&self, ctx: &Ctx, asked: &SourceQuery<'_>) -> Result<Vec<SourceHit<Conversation>>> {
        let (words, limit) = (&asked.wanted.words, asked.wanted.limit);
        let looked_for = conversations::AskedWords { terms: &words.terms, weights: &words.weights };
        let found = conversations::search(&ctx.app.db, &ctx.principal, looked_for, limit as i64).await?;
        Ok(found.into_iter().map(|(words, item)| MatchFeatures { words, cosine: None }.found(item)).collect())
    }
}
