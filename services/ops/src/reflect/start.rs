//! Asking for a reflection before its time, or once more.

use chrono::NaiveDate;
use knowhow_domain::reflection::TRIES;
use knowhow_domain::{Cadence, Error, Reflection, ReflectionState, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::reflections::{self, Queued};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::dream::kept_for;

/// A reflection that somebody asks for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"cadence": "daily"}))]
pub struct StartReflection {
    /// `daily` is of today; `weekly` of the week that ends today or ended last; `monthly` of the last month.
    pub cadence: Cadence,
}

/// A reflection that was asked for.
#[derive(Debug, Clone)]
pub struct StartedReflection {
    /// As it is now.
    pub reflection: Reflection,
    /// Whether a worker makes it; else it was made, or tried often enough, before.
    pub is_begun: bool,
}

/// Has the reflection of the present period made now, as if it was 23:00 where the user is.
///
/// # Errors
/// `Forbidden`; `Conflict` `reflections-off` where the tenant wants none, and `no-model` where no chat model is configured.
pub async fn start_reflection(ctx: &Ctx, input: &StartReflection) -> Result<StartedReflection> {
    ctx.principal.require(Scope::Memories)?;
    if !ctx.principal.settings().reflections {
        let detail = "reflections are off; the tenant's setting reflections switches them on".to_owned();
        return Err(Error::Conflict { code: "reflections-off", detail });
    }
    if ctx.app.models.chat.is_none() {
        let detail = "no chat model is configured, and code alone cannot tell what happened".to_owned();
        return Err(Error::Conflict { code: "no-model", detail });
    }
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let today = reflections::find_today(db, principal, ctx.now(), &principal.settings().time_zone).await?;
    let period = input.cadence.due_on(today);
    if let Some(reflection) = reflections::find(db, principal, input.cadence, period).await?
        && (reflection.state == ReflectionState::Made || reflection.tries >= TRIES)
    {
        return Ok(StartedReflection { reflection, is_begun: false });
    }
    let mut tx = WriteTx::begin(db, principal, "reflections.start").await?;
    reflections::queue(&mut tx, queued(ctx, input.cadence, period));
    tx.commit().await?;
    let found = reflections::find(db, principal, input.cadence, period).await?;
    let reflection = found.ok_or_else(|| Error::internal("a reflection that was just asked for is gone"))?;
    Ok(StartedReflection { reflection, is_begun: true })
}

/// Which reflection, and how long its questions are kept: as long as the archive keeps skills.
pub(super) fn queued(ctx: &Ctx, cadence: Cadence, period: NaiveDate) -> Queued {
    let now = ctx.now();
    Queued { cadence, period, now, texts_until: now + kept_for(ctx) }
}
