//! Requests for a reflection before its regular time, or for a retry.

use chrono::NaiveDate;
use knowhow_domain::learning::reflection::TRIES;
use knowhow_domain::{Cadence, Error, Reflection, ReflectionState, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::learning::reflections::{self, QueuedReflection};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::learning::dream::undo_period;

/// A request for a reflection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"cadence": "daily"}))]
pub struct StartReflection {
    /// `daily`: today; `weekly`: the week that ends today, or the last week; `monthly`: the last month.
    pub cadence: Cadence,
}

/// A requested reflection.
#[derive(Debug, Clone)]
pub struct StartedReflection {
    pub reflection: Reflection,
    /// Whether a worker will make the reflection; false if the reflection exists already, or has failed too often.
    pub is_begun: bool,
}

/// Requests the reflection for the current period now, as if it was 23:00 in the user's time zone.
///
/// # Errors
/// `Forbidden`; `Conflict` `reflections-off` if the tenant has disabled reflections, and `no-model` if no chat model
/// is configured.
pub async fn start_reflection(ctx: &Ctx, input: &StartReflection) -> Result<StartedReflection> {
    ctx.principal.require(Scope::Memories)?;
    if !ctx.principal.settings().reflections {
        let detail = "reflections are off; enable them with the tenant's setting reflections".to_owned();
        return Err(Error::Conflict { code: "reflections-off", detail });
    }
    if ctx.app.models.chat.is_none() {
        let detail = "no chat model is configured, and reflections require one".to_owned();
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
    let reflection = found.ok_or_else(|| Error::internal("the requested reflection is missing"))?;
    Ok(StartedReflection { reflection, is_begun: true })
}

/// Returns the reflection to queue. Its prompts are stored as long as the archive stores skills.
pub(super) fn queued(ctx: &Ctx, cadence: Cadence, period: NaiveDate) -> QueuedReflection {
    let now = ctx.now();
    QueuedReflection { cadence, period, now, texts_until: now + undo_period(ctx) }
}
