//! Set: what a skill's importance begins from, and how it fades.

use knowhow_domain::bounds::share_or_null;
use knowhow_domain::{Result, Scope};
use knowhow_store::graph::{self, SetImportance};
use knowhow_store::{WriteTx, skills};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::lookup::{self, Reach};

/// How much a skill matters. An absent member stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutImportance {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// How much it matters when it is used, 0 to 1; null, it stays as it is.
    #[serde(default, deserialize_with = "share_or_null")]
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// The share of it that is left from one idle day to the next, 0 to 1; 1 never fades, null follows the tenant's.
    #[serde(default, deserialize_with = "given_share", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f32>, minimum = 0, maximum = 1)]
    pub decay_rate: Option<Option<f32>>,
    /// The least that it fades to, 0 to 1; null follows the tenant's.
    #[serde(default, deserialize_with = "given_share", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f32>, minimum = 0, maximum = 1)]
    pub importance_floor: Option<Option<f32>>,
}

fn given_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f32>>, D::Error> {
    share_or_null(deserializer).map(Some)
}

/// Sets what a skill's importance begins from, and how it fades. It makes no version.
///
/// # Errors
/// `NotFound`.
pub async fn put_importance(ctx: &Ctx, input: &PutImportance) -> Result<()> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.importance").await?;
    ctx.once(&mut tx, &("importance", &input.skill, input), async |tx| {
        let (skill, ..) = lookup::find_in(tx, &input.skill, Reach::Segment, skills::find).await?;
        let PutImportance { importance: base, decay_rate: rate, importance_floor: floor, .. } = *input;
        graph::set_importance(tx, SetImportance { skill, base, rate, floor }, ctx.now());
        Ok(())
    })
    .await?;
    tx.commit().await
}
