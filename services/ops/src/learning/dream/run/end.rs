//! Ends a run without a plan: the run is skipped, the model gave no plan, or the run failed.

use chrono::TimeDelta;
use knowhow_domain::learning::dream::{DreamRun, ModelCall, RunState};
use knowhow_domain::{DreamId, Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun};

use super::is_untouched;
use crate::{Ctx, Priority};

pub(super) async fn skip(ctx: &Ctx, id: DreamId, why: &str) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.skip").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    let ended = EndedRun { state: Some(RunState::Skipped), reason: Some(why), now: ctx.now(), ..EndedRun::default() };
    dreams::end(&mut tx, id, &ended);
    tx.commit().await
}

/// Maximum age of a run that is retried because the model did not answer. The attempts of a job take a little longer.
const RETRIED_FOR: TimeDelta = TimeDelta::hours(3);

/// Leaves a run to a later attempt of its job, as the model did not answer. Ends the run without counting a failure if
/// there is no later attempt.
///
/// # Errors
/// `Unavailable` if there is a later attempt.
pub(super) async fn postpone(ctx: &Ctx, run: &DreamRun, why: &str, priority: Priority) -> Result<()> {
    let now = ctx.now();
    // Only jobs run in the background, and only jobs are retried.
    if priority != Priority::Background || now - run.created_at > RETRIED_FOR {
        return skip(ctx, run.id, why).await;
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.postpone").await?;
    if is_untouched(&dreams::lock(&mut tx, run.id).await?) {
        let reason = format!("{why}; it will be tried again");
        dreams::end(&mut tx, run.id, &EndedRun { reason: Some(&reason), now, ..EndedRun::default() });
        tx.commit().await?;
    }
    Err(Error::Unavailable(why.to_owned()))
}

/// Records that the model gave no usable plan. The run is not retried; the next night starts a new run.
pub(super) async fn fail(ctx: &Ctx, run: &DreamRun, why: &str, calls: &[ModelCall]) -> Result<()> {
    let (id, now) = (run.id, ctx.now());
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.fail").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    let reason = Some(why);
    let ended = EndedRun { state: Some(RunState::Failed), reason, calls, now, ..EndedRun::default() };
    dreams::end(&mut tx, id, &ended);
    if let Some(pass) = run.pass.pass() {
        dreams::note_failure(&mut tx, pass, now);
    }
    tx.commit().await
}

/// Records a permanent error in a run. Open proposals of the run are left to a person.
pub(super) async fn give_up(ctx: &Ctx, id: DreamId, error: &Error) -> Result<()> {
    let now = ctx.now();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.give_up").await?;
    let (found, ops) = dreams::lock_with_ops(&mut tx, id).await?;
    if found.run.state != RunState::Queued {
        return Ok(());
    }
    let state = match ops.iter().any(|op| op.op.outcome.is_open()) {
        true => RunState::Planned,
        false => RunState::Failed,
    };
    let reason = format!("the run failed: {error}");
    let ended = EndedRun { state: Some(state), reason: Some(&reason), now, ..EndedRun::default() };
    dreams::end(&mut tx, id, &ended);
    if let Some(pass) = found.run.pass.pass() {
        dreams::note_failure(&mut tx, pass, now);
    }
    tx.commit().await
}
