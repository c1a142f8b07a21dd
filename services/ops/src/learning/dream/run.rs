//! Runs a dream: reads inputs, asks the model, checks and stores the plan, and applies it as far as the mode allows.
//! No transaction is open during a model call.

mod ask;
mod end;

use chrono::TimeDelta;
use knowhow_domain::learning::dream::{Mode, ModelCall, OpCounts, OpOutcome, Pass, RunState};
use knowhow_domain::{DreamId, Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun, Fingerprint, NewOp, RunDetail};
use std::sync::Arc;

use self::ask::{Asked, DreamAnswers, QuestionsToAsk};
use self::end::{fail, give_up, postpone, skip};
use super::carry_out::{Chosen, carry_out, state_of};
use super::compose::{RunInput, compose, fingerprint};
use super::inputs::Inputs;
use super::question;
use super::settings::LearningState;
use crate::learning::directives;
use crate::learning::dream::rulings::{is_applied, point_at_each_other, review_those_to_apply, rule};
use crate::models::chat::ChatModel;
use crate::{Ctx, Priority};

/// A run is skipped if a run with the same fingerprint succeeded within this time.
const SAME_FOR: TimeDelta = TimeDelta::days(30);

/// Runs a dream. The call can be repeated: a finished run is skipped, and a run interrupted between plan and changes
/// continues with the changes. A run with a permanent error is ended, as every retry would fail.
///
/// # Errors
/// `Unavailable` if the database or the model is not available; the run is retried later. Other errors are for the log.
pub async fn run_dream(ctx: &Ctx, id: DreamId, priority: Priority) -> Result<()> {
    or_give_up(ctx, id, attempt(ctx, id, priority).await).await
}

/// Ends the run if `done` is a permanent error.
///
/// # Errors
/// Returns the error of `done`.
pub(crate) async fn or_give_up(ctx: &Ctx, id: DreamId, done: Result<()>) -> Result<()> {
    match done {
        Ok(()) => Ok(()),
        Err(later @ (Error::Unavailable(_) | Error::RateLimited { .. })) => Err(later),
        Err(error) => {
            give_up(ctx, id, &error).await?;
            Err(error)
        }
    }
}

async fn attempt(ctx: &Ctx, id: DreamId, priority: Priority) -> Result<()> {
    let found = dreams::find(&ctx.app.db, &ctx.principal, id).await?;
    let Some(RunDetail { run, .. }) = found else { return Ok(()) };
    let Some(pass) = run.pass.pass() else { return Ok(()) };
    if run.state != RunState::Queued {
        return Ok(());
    }
    let known = LearningState::find(ctx).await?;
    // The mode may have been lowered since the run was queued.
    let mode = run.mode.min(known.mode(ctx, pass));
    if mode == Mode::Off {
        return skip(ctx, id, "the pass was switched off").await;
    }
    if run.counts != OpCounts::default() {
        return apply_as_allowed(ctx, id, mode).await;
    }
    let inputs = Arc::new(Inputs::read(ctx, Some(pass), priority).await?);
    let composed = compose(ctx, pass, &known, &inputs).await?;
    let directive = directives::find(ctx, question::frame(pass).1).await?;
    let chat = ctx.app.models.chat.as_deref();
    let system = question::frame(pass).0.around(&directive.text);
    let fingerprint = fingerprint(&system, &composed, chat.map_or("", ChatModel::model));
    let is_same = || known.is_same(ctx, pass, &fingerprint).then_some("the inputs have not changed since the last run");
    let why = known.why_skipped(ctx, pass, &composed).or_else(|| if run.dry_run { None } else { is_same() });
    if let Some(why) = why {
        return skip(ctx, id, why).await;
    }
    let asked = QuestionsToAsk { composed: &composed, system: &system, directive: &directive, priority };
    let DreamAnswers { plans, calls, is_complete } = match asked.ask(ctx, id).await? {
        Asked::Answered(answers) => answers,
        Asked::Useless { why, calls } => return fail(ctx, &run, &why, &calls).await,
        Asked::Outage(why) => return postpone(ctx, &run, &why, priority).await,
    };
    let mut ops = Vec::new();
    for (question, read) in plans {
        ops.extend(rule(ctx, question, read, priority).await?);
    }
    if pass == Pass::Consolidate {
        let pointing = point_at_each_other(&composed, &inputs, &ops);
        ops.extend(pointing);
    }
    review_those_to_apply(ctx, &mut ops, mode, priority).await?;
    let is_let = |op: &NewOp| op.outcome == OpOutcome::Proposed && is_applied(mode, op.kind);
    let applies = !run.dry_run && ops.iter().any(is_let);
    let is_final = !run.dry_run && is_complete;
    let written = PlanToWrite { pass, calls: &calls, fingerprint: &fingerprint, is_final, applies };
    write_down(ctx, id, &ops, &written).await?;
    if applies { apply_as_allowed(ctx, id, mode).await } else { Ok(()) }
}

impl LearningState {
    /// Returns the reason to skip a run; `None` if it is not skipped.
    fn why_skipped(&self, ctx: &Ctx, pass: Pass, composed: &RunInput) -> Option<&'static str> {
        let has_model = ctx.app.models.chat.is_some();
        match pass {
            Pass::Gaps | Pass::Optimize if !has_model => {
                Some("no chat model is configured; the candidates are at GET /v1/dreams/candidates")
            }
            _ if has_model && self.tokens_left(ctx) == 0 => {
                Some("today's tokens are used up; the pass continues tomorrow")
            }
            Pass::Gaps | Pass::Optimize if !composed.questions.is_empty() => None,
            Pass::Gaps | Pass::Optimize if composed.has_resting => Some(ALL_REST),
            Pass::Gaps | Pass::Optimize => Some("there is no candidate"),
            _ => None,
        }
    }

    /// Returns whether the last planned run had the same inputs and is younger than `SAME_FOR`.
    fn is_same(&self, ctx: &Ctx, pass: Pass, fingerprint: &[u8]) -> bool {
        self.pass(pass).is_some_and(|row| {
            row.fingerprint.as_deref() == Some(fingerprint)
                && row.fingerprint_at.is_some_and(|at| at > ctx.now() - SAME_FOR)
        })
    }
}

/// The plan of a run to store.
struct PlanToWrite<'a> {
    pass: Pass,
    calls: &'a [ModelCall],
    fingerprint: &'a [u8],
    /// Whether the same inputs need no further run.
    is_final: bool,
    /// Whether operations are applied next, so that the run has not ended yet.
    applies: bool,
}

/// Reason of a run if all candidates or proposals rest.
const ALL_REST: &str = "each proposal waits for a decision, or was applied, rejected or undone before";

/// Returns the state of a run with these proposals before any of them is applied, and the reason to store.
pub(crate) fn planned_state(ops: &[NewOp]) -> (RunState, Option<&'static str>) {
    if !ops.is_empty() && ops.iter().all(|op| op.rests) {
        return (RunState::Skipped, Some(ALL_REST));
    }
    let state = state_of(ops.iter().map(|op| op.outcome));
    let reason = match state {
        RunState::Skipped => Some("there are no proposals"),
        RunState::Failed => Some("the checks rejected all proposals"),
        _ => None,
    };
    (state, reason)
}

/// Stores a plan without applying it.
async fn write_down(ctx: &Ctx, id: DreamId, ops: &[NewOp], written: &PlanToWrite<'_>) -> Result<()> {
    let PlanToWrite { pass, calls, fingerprint, is_final, applies } = *written;
    let (state, reason) = planned_state(ops);
    let now = ctx.now();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.write_down").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    dreams::add_ops(&mut tx, id, ops);
    let state = (!applies).then_some(state);
    let ended = EndedRun { state, reason, fingerprint: Some(fingerprint), calls, now, ..EndedRun::default() };
    dreams::end(&mut tx, id, &ended);
    if is_final {
        dreams::note_success(&mut tx, Fingerprint { pass, digest: fingerprint, now });
    }
    tx.commit().await
}

/// Applies the operations that the mode allows, and ends the run.
pub(crate) async fn apply_as_allowed(ctx: &Ctx, id: DreamId, mode: Mode) -> Result<()> {
    carry_out(ctx, id, &Chosen::ByMode(mode)).await
}

/// Returns whether no other process has worked on a run in the meantime.
fn is_untouched(found: &RunDetail) -> bool {
    found.run.state == RunState::Queued && found.run.counts == OpCounts::default()
}
