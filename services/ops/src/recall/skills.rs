//! Skills as a source of recall.

use knowhow_domain::Result;

use super::source::{RecallSource, SourceHit, SourceQuery};
use super::{Query, SearchedSkill, catalogue_now, list_found, rank};
use crate::Ctx;

/// Finds the caller's skills, except skills that are recalled only by name.
pub(super) struct SkillSource;

impl RecallSource for SkillSource {
    type Item = SearchedSkill;

    async fn find(&self, ctx: &Ctx, asked: &SourceQuery<'_>) -> Result<Vec<SourceHit<SearchedSkill>>> {
        let (embedding, limit) = (asked.wanted.vector.clone(), asked.wanted.limit);
        let query = Query { message: asked.text, embedding, searched: true, limit, ..Query::default() };
        let catalogue = catalogue_now(ctx).await?;
        let found = rank(ctx, &catalogue, query).await?;
        Ok(list_found(&catalogue, &found))
    }
}
