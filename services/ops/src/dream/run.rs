//! One run: look, ask, check, write down, and apply as far as the mode allows. No transaction is open while a model is asked.

mod end;

use chrono::TimeDelta;
use knowhow_domain::dream::{Mode, ModelCall, OpCounts, OpOutcome, Pass, RunState, read_plan};
use knowhow_domain::{DreamId, Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended, Fingerprint, NewOp, RunDetail};
use std::sync::Arc;

use self::end::{fail, give_up, skip};
use super::call::Call;
use super::carry_out::{Chosen, carry_out, state_of};
use super::compose::{Composed, compose, fingerprint};
use super::inputs::Inputs;
use super::question;
use super::ruled::{is_applied, point_at_each_other, review_those_to_apply, rule};
use super::settings::Known;
use crate::chat::ChatModel;
use crate::{Ctx, Priority, directives};

/// How long a run that would be the same is skipped.
const SAME_FOR: TimeDelta = TimeDelta::days(30);

/// Does a run. It may be done again: one that is done is left, and one that was cut off between its plan and its changes goes
/// on with them. One that fails for a reason of its own comes to an end with it: it would fail each time.
///
/// # Errors
/// `Unavailable` where the database does not answer; the run is done later then. Any other for the log.
pub async fn run_dream(ctx: &Ctx, id: DreamId, priority: Priority) -> Result<()> {
    or_give_up(ctx, id, attempt(ctx, id, priority).await).await
}

/// Brings a run to an end that fails for a reason of its own.
///
/// # Errors
/// The same that came of it.
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
    let known = Known::find(ctx).await?;
    // Who has switched it off, or down, since it was begun is heeded.
    let mode = run.mode.min(known.mode(ctx, pass));
    if mode == Mode::Off {
        return skip(ctx, id, "the pass was switched off").await;
    }
    if run.counts != OpCounts::default() {
        return apply_as_allowed(ctx, id, mode).await;
    }
    let inputs = Arc::new(Inputs::read(ctx, Some(pass), priority).await?);
    let composed = compose(ctx, pass, &known, &inputs).await?;
    let questions = &composed.questions;
    let directive = directives::find(ctx, question::frame(pass).1).await?;
    let chat = ctx.app.models.chat.as_deref();
    let system = question::frame(pass).0.around(&directive.text);
    let fingerprint = fingerprint(&system, &composed, chat.map_or("", ChatModel::model));
    let is_same = || known.is_same(ctx, pass, &fingerprint).then_some("nothing has changed since the last one");
    let why = known.why_skipped(ctx, pass, &composed).or_else(|| if run.dry_run { None } else { is_same() });
    if let Some(why) = why {
        return skip(ctx, id, why).await;
    }
    let mut plans = Vec::new();
    let mut calls = Vec::new();
    for question in questions {
        let Some(chat) = chat else { break };
        let asking = Call { chat, system: &system, directive: &directive, question, priority };
        let (call, answer) = asking.put().await;
        book(ctx, call.tokens).await?;
        calls.push(call);
        let read = answer.map_err(|none| none.reason).and_then(|answer| {
            let version =
                |name: &str| question.shown.skills.iter().find(|skill| skill.name == name).map(|skill| skill.version);
            read_plan(&answer, &version).map_err(|error| error.to_string())
        });
        match read {
            Ok(read) => plans.push((question, read)),
            // What is not to be trusted does not keep the rest from being looked at.
            Err(why) if question.shown.is_tainted && !plans.is_empty() => {
                tracing::warn!(why, run = %id, "a question about what is not to be trusted came to no plan");
            }
            Err(why) => return fail(ctx, &run, &why, &calls).await,
        }
    }
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
    let written = Written { pass, calls: &calls, fingerprint: &fingerprint, dry_run: run.dry_run, applies };
    write_down(ctx, id, &ops, &written).await?;
    if applies { apply_as_allowed(ctx, id, mode).await } else { Ok(()) }
}

impl Known {
    /// Why a run is not to be done.
    fn why_skipped(&self, ctx: &Ctx, pass: Pass, composed: &Composed) -> Option<&'static str> {
        let has_model = ctx.app.models.chat.is_some();
        match pass {
            Pass::Gaps | Pass::Optimize if !has_model => {
                Some("no chat model is configured; the candidates are at GET /v1/dreams/candidates")
            }
            _ if has_model && self.tokens_left(ctx) == 0 => {
                Some("the tokens of this day are used up; it goes on tomorrow")
            }
            Pass::Gaps | Pass::Optimize if composed.questions.is_empty() => Some("there is no candidate"),
            _ => None,
        }
    }

    /// Whether the last run that came to a plan was made of the same, not too long ago.
    fn is_same(&self, ctx: &Ctx, pass: Pass, fingerprint: &[u8]) -> bool {
        self.pass(pass).is_some_and(|row| {
            row.fingerprint.as_deref() == Some(fingerprint)
                && row.fingerprint_at.is_some_and(|at| at > ctx.now() - SAME_FOR)
        })
    }
}

/// What is written down of a run.
struct Written<'a> {
    pass: Pass,
    calls: &'a [ModelCall],
    fingerprint: &'a [u8],
    dry_run: bool,
    /// Whether something of it is applied next: the run is not over then.
    applies: bool,
}

/// Why nothing of a plan is left.
pub(crate) fn reason_of(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Skipped => Some("nothing is proposed"),
        RunState::Failed => Some("no check lets anything of it through"),
        _ => None,
    }
}

/// Writes a plan down; nothing of it is applied yet.
async fn write_down(ctx: &Ctx, id: DreamId, ops: &[NewOp], written: &Written<'_>) -> Result<()> {
    let Written { pass, calls, fingerprint, dry_run, applies } = *written;
    let state = state_of(ops.iter().map(|op| op.outcome));
    let reason = reason_of(state);
    let now = ctx.now();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.write_down").await?;
    if !is_untouched(&dreams::lock(&mut tx, id).await?) {
        return Ok(());
    }
    dreams::add_ops(&mut tx, id, ops);
    let state = (!applies).then_some(state);
    let ended = Ended { state, reason, fingerprint: Some(fingerprint), calls, now, ..Ended::default() };
    dreams::end(&mut tx, id, &ended);
    if !dry_run {
        dreams::note_success(&mut tx, Fingerprint { pass, digest: fingerprint, now });
    }
    tx.commit().await
}

/// Counts what a question took, whatever becomes of its answer.
pub(crate) async fn book(ctx: &Ctx, tokens: i64) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.book").await?;
    dreams::take_tokens(&mut tx, tokens, ctx.now());
    tx.commit().await
}

/// The same of several questions, together with COMMIT.
pub(crate) fn take_tokens(ctx: &Ctx, tx: &mut WriteTx, calls: &[ModelCall]) {
    let tokens = calls.iter().map(|call| call.tokens).sum();
    if tokens > 0 {
        dreams::take_tokens(tx, tokens, ctx.now());
    }
}

/// Applies what the mode lets through. The run comes to an end with it, also where that is nothing.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn apply_as_allowed(ctx: &Ctx, id: DreamId, mode: Mode) -> Result<()> {
    carry_out(ctx, id, &Chosen::ByMode(mode)).await
}

/// Whether nobody has done a run, or begun to, while this process was at it.
fn is_untouched(found: &RunDetail) -> bool {
    found.run.state == RunState::Queued && found.run.counts == OpCounts::default()
}
