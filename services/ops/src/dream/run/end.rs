//! Ends a run that comes to nothing: it is skipped, its model gave no plan, or it cannot be done.

use knowhow_domain::dream::{DreamRun, ModelCall, RunState};
use knowhow_domain::{DreamId, Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended};

use super::is_untouched;
use crate::Ctx;

pub(super) async fn skip(ctx: &Ctx, id: DreamId, why: &str) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.skip").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    let ended = Ended { state: Some(RunState::Skipped), reason: Some(why), now: ctx.now(), ..Ended::default() };
    dreams::end(&mut tx, id, &ended);
    tx.commit().await
}

/// Writes down that there is no plan. It is not tried again: the next night it is.
pub(super) async fn fail(ctx: &Ctx, run: &DreamRun, why: &str, calls: &[ModelCall]) -> Result<()> {
    let (id, now) = (run.id, ctx.now());
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.fail").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    let reason = Some(why);
    let ended = Ended { state: Some(RunState::Failed), reason, calls, now, ..Ended::default() };
    dreams::end(&mut tx, id, &ended);
    if let Some(pass) = run.pass.pass() {
        dreams::note_failure(&mut tx, pass, now);
    }
    tx.commit().await
}

/// Writes down that a run cannot be done. What it proposes is left to a person.
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
    let reason = format!("it could not be done: {error}");
    let ended = Ended { state: Some(state), reason: Some(&reason), now, ..Ended::default() };
    dreams::end(&mut tx, id, &ended);
    if let Some(pass) = found.run.pass.pass() {
        dreams::note_failure(&mut tx, pass, now);
    }
    tx.commit().await
}
