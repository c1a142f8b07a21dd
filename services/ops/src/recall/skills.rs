//! Skills as a source of recall.

use knowhow_domain::Result;

use super::source::{Asked, Found, Source};
use super::{Query, SearchedSkill, catalogue_now, list_found, rank};
use crate::Ctx;

/// The caller's skills but those that want to be recalled by name alone.
pub(super) struct Skills;

impl Source for Skills {
    type Item = SearchedSkill;

    async fn find(&self, ctx: &Ctx, asked: &Asked<'_>) -> Result<Vec<Found<SearchedSkill>>> {
        let (embedding, limit) = (asked.wanted.vector.clone(), asked.wanted.limit);
        let query = Query { message: asked.text, embedding, searched: true, limit, ..Query::default() };
        let catalogue = catalogue_now(ctx).await?;
        let ranking = rank(ctx, &catalogue, query).await?;
        Ok(list_found(&catalogue, &ranking))
    }
}
