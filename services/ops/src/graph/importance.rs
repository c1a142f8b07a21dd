//! Set: what a skill's importance begins from, and how it fades.

use knowhow_domain::bounds::out_of_bounds;
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::graph::{self, SetImportance};
use knowhow_store::{WriteTx, skills};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::Ctx;
use crate::lookup::{self, Reach};

/// How much a skill matters. What is absent or null follows the tenant's settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutImportance {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// How much it matters when it is used, 0 to 1; absent, it stays as it is.
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// What is left of that from one idle day to the next, 0 to 1; 1 never fades.
    #[schema(minimum = 0, maximum = 1)]
    pub decay_rate: Option<f32>,
    /// The least that it fades to, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub importance_floor: Option<f32>,
}

/// Sets what a skill's importance begins from, and how it fades. It makes no version.
///
/// # Errors
/// `NotFound`; `Invalid` for a number that is not from 0 to 1.
pub async fn put_importance(ctx: &Ctx, input: &PutImportance) -> Result<()> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let wrong = out_of_bounds::<PutImportance>(&json!(input), "");
    if !wrong.is_empty() {
        return Err(Error::Invalid(wrong));
    }
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
