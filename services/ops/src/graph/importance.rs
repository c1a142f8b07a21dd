//! Sets the initial importance of a skill and its decay.

use knowhow_domain::kernel::bounds::share_or_null;
use knowhow_domain::{Result, Scope};
use knowhow_store::graph::{self, SetImportance};
use knowhow_store::{WriteTx, skills};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::change::guard::guard_skill;
use crate::context::lookup::{self, NameMatching};

/// Importance settings of a skill. Absent members stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutImportance {
    /// The skill, by name or id; taken from the path, not from the body.
    #[serde(skip)]
    pub skill: String,
    /// Importance directly after a use, 0 to 1; null leaves it unchanged.
    #[serde(default, deserialize_with = "share_or_null")]
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// Factor of the importance per idle day, 0 to 1. 1 disables the decay; null uses the tenant's setting.
    #[serde(default, deserialize_with = "given_share", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f32>, minimum = 0, maximum = 1)]
    pub decay_rate: Option<Option<f32>>,
    /// Minimum importance after decay, 0 to 1; null uses the tenant's setting.
    #[serde(default, deserialize_with = "given_share", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f32>, minimum = 0, maximum = 1)]
    pub importance_floor: Option<Option<f32>>,
}

fn given_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f32>>, D::Error> {
    share_or_null(deserializer).map(Some)
}

/// Sets the importance of a skill and its decay. Creates no version.
///
/// # Errors
/// `NotFound`; `Conflict` `needs-review`.
pub async fn put_importance(ctx: &Ctx, input: &PutImportance) -> Result<()> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.importance").await?;
    ctx.once(&mut tx, &("importance", &input.skill, input), async |tx| {
        guard_skill(ctx, tx).await?;
        let (skill, ..) = lookup::find_in(tx, &input.skill, NameMatching::Segment, skills::find).await?;
        let PutImportance { importance: base, decay_rate: rate, importance_floor: floor, .. } = *input;
        graph::set_importance(tx, SetImportance { skill, base, rate, floor }, ctx.now());
        Ok(())
    })
    .await?;
    tx.commit().await
}
