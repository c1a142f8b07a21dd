//! Applies chosen operations of a run in one transaction, and records the outcome of each.

use chrono::TimeDelta;
use knowhow_domain::learning::dream::{Cause, DreamOp, DreamRun, Mode, OpOutcome, Operation, RunPass, RunState};
use knowhow_domain::{DreamId, Error, Result, Source};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun, OpState, RunDetail, StoredOp};
use serde_json::json;
use std::collections::BTreeMap;

use super::apply::{Applying, Halt, apply};
use super::journal::{self, JournalStep, JournalledChange, JournalledCreation};
use super::resting::{REST, request_keys};
use crate::Ctx;
use crate::learning::dream::rulings::is_applied;
use crate::skills::follow_up;

/// The operations to apply, chosen by the mode or by a person.
pub(super) enum Chosen<'a> {
    /// Operations without a failed check that the mode applies automatically.
    ByMode(Mode),
    /// Open operations that a person approves: at the positions `places`, or all if `places` is empty. `who` is the
    /// person.
    ByPerson { places: &'a [i32], who: &'a str },
}

impl Chosen<'_> {
    fn takes(&self, op: &DreamOp) -> bool {
        match self {
            Self::ByMode(mode) => op.outcome == OpOutcome::Proposed && is_applied(*mode, op.kind),
            // Only a person can approve operations that a check holds.
            Self::ByPerson { places, .. } => {
                op.outcome.is_open() && (places.is_empty() || places.contains(&op.position))
            }
        }
    }

    fn person(&self) -> Option<&str> {
        match self {
            Self::ByMode(_) => None,
            Self::ByPerson { who, .. } => Some(who),
        }
    }
}

/// Applies open operations of a run. Operations that were decided in the meantime are skipped. The changes are atomic.
///
/// # Errors
/// `NotFound`; `Conflict` `decided` for a run that was undone; `Unavailable`, without any change.
pub(super) async fn carry_out(ctx: &Ctx, run: DreamId, chosen: &Chosen<'_>) -> Result<()> {
    match attempt(ctx, run, chosen).await {
        Err(Error::MustBeReviewed(_)) if chosen.person().is_none() => leave_to_person(ctx, run, chosen).await,
        done => done,
    }
}

async fn attempt(ctx: &Ctx, run: DreamId, chosen: &Chosen<'_>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.apply").await?;
    let (RunDetail { run: of, .. }, mut ops) = dreams::lock_with_ops(&mut tx, run).await?;
    if of.state == RunState::Undone {
        return Err(undone_error());
    }
    if !ops.iter().any(|op| chosen.takes(&op.op)) && of.state != RunState::Queued {
        // The operations were decided by another request in the meantime.
        return Ok(());
    }
    let mut own = Vec::new();
    for op in ops.iter().filter(|op| op.op.outcome == OpOutcome::Applied) {
        own.extend(journal::read(&op.journal)?);
    }
    let (mut states, mut touched) = (Vec::new(), Vec::new());
    for op in ops.iter_mut().filter(|op| chosen.takes(&op.op)) {
        catch_up(&mut op.bases, own.iter().chain(&touched));
        let OperationResult { state, steps } =
            carry_out_one(ctx, &mut tx, RunOperation { run: &of, op, chosen }).await?;
        op.op.outcome = state.outcome.unwrap_or(op.op.outcome);
        states.push(state);
        touched.extend(steps);
    }
    dreams::put_ops(&mut tx, run, &states);
    // An answered request is not answered again, even if the new skill is not found for it.
    let applied = ops.iter().filter(|op| op.op.outcome == OpOutcome::Applied && of.pass == RunPass::Gaps);
    let answered =
        applied.filter_map(|op| Some(request_keys(&Operation::read(&op.op.op).ok()?, of.pass, &op.sessions)));
    dreams::put_rests(&mut tx, answered.flatten().collect(), ctx.now() + REST);
    let state = state_of(ops.iter().map(|op| op.op.outcome));
    let archived = touched.iter().filter(|step| matches!(step, JournalStep::Archived(_))).count();
    let archived = i32::try_from(archived).unwrap_or(i32::MAX);
    // An undo is possible as long as the archive stores the newly archived skills.
    let texts_until = Some(ctx.now() + undo_period(ctx));
    let ended = EndedRun { state: Some(state), archived, texts_until, now: ctx.now(), ..EndedRun::default() };
    dreams::end(&mut tx, run, &ended);
    tx.commit().await?;
    settle(ctx, &touched, chosen.person().is_some());
    Ok(())
}

/// Replaces base versions by the versions that this run itself has created since. Only changes by others are
/// conflicts.
fn catch_up<'s>(bases: &mut BTreeMap<String, i32>, own: impl Iterator<Item = &'s JournalStep>) {
    for step in own {
        let JournalStep::Changed(changed) = step else { continue };
        if let Some(base) = bases.get_mut(&changed.name).filter(|base| **base + 1 == changed.version) {
            *base = changed.version;
        }
    }
}

/// Returns the error for a decision on an undone run.
pub(super) fn undone_error() -> Error {
    let detail = "the dream was undone; its operations cannot be decided any more".to_owned();
    Error::Conflict { code: "decided", detail }
}

/// Returns the time within which a run can be undone: the tenant's archive period, and at least a day.
pub(crate) fn undo_period(ctx: &Ctx) -> TimeDelta {
    TimeDelta::days(ctx.principal.settings().archive_days.max(1).into())
}

/// The outcome of an operation, and its steps.
struct OperationResult {
    state: OpState,
    steps: Vec<JournalStep>,
}

/// An operation of a run, and the choice that includes it.
struct RunOperation<'a> {
    run: &'a DreamRun,
    op: &'a StoredOp,
    chosen: &'a Chosen<'a>,
}

async fn carry_out_one(ctx: &Ctx, tx: &mut WriteTx, one: RunOperation<'_>) -> Result<OperationResult> {
    let RunOperation { run, op, chosen } = one;
    let operation = Operation::read(&op.op.op)?;
    let by_person = chosen.person().is_some();
    let applying = Applying {
        operation: &operation,
        tainted_by: &op.op.tainted_by,
        sessions: &op.sessions,
        bases: &op.bases,
        // A person has seen the findings of the review model.
        checks: if by_person { &[] } else { &op.op.checks },
        by_person,
        answers_failures: run.pass != RunPass::Gaps,
        source: match run.cause {
            Cause::Reflection => Source::Reflection,
            _ => Source::Dream,
        },
    };
    let decided_by = chosen.person().map(str::to_owned);
    let state = OpState { position: op.op.position, decided_by, ..OpState::default() };
    match apply(ctx, tx, &applying).await {
        Ok(steps) => {
            let journal = Some(json!(steps));
            Ok(OperationResult { state: OpState { outcome: Some(OpOutcome::Applied), journal, ..state }, steps })
        }
        Err(Halt::Op(outcome, reasons, held)) => {
            let checks = (!held.is_empty()).then_some(held);
            let state = OpState { outcome: Some(outcome), reasons: Some(reasons), checks, ..state };
            Ok(OperationResult { state, steps: Vec::new() })
        }
        Err(Halt::Fault(fault)) => Err(fault),
    }
}

/// Returns the state of a run with these outcomes.
pub(super) fn state_of(outcomes: impl Iterator<Item = OpOutcome>) -> RunState {
    let outcomes: Vec<OpOutcome> = outcomes.collect();
    let has = |outcome: OpOutcome| outcomes.contains(&outcome);
    let is_open = outcomes.iter().any(|outcome| outcome.is_open());
    match has(OpOutcome::Applied) {
        true if is_open || has(OpOutcome::Conflict) || has(OpOutcome::Rejected) => RunState::Partly,
        true => RunState::Applied,
        false if is_open => RunState::Planned,
        false if has(OpOutcome::Rejected) => RunState::Rejected,
        false if has(OpOutcome::Conflict) || has(OpOutcome::Refused) => RunState::Failed,
        false => RunState::Skipped,
    }
}

/// Leaves all chosen operations to a person, after a write detected that a text is tainted.
async fn leave_to_person(ctx: &Ctx, run: DreamId, chosen: &Chosen<'_>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.leave").await?;
    let (_, mut ops) = dreams::lock_with_ops(&mut tx, run).await?;
    let why = "its text comes from untrusted content; a person has to decide";
    let mut states = Vec::new();
    for op in ops.iter_mut().filter(|op| chosen.takes(&op.op)) {
        op.op.outcome = OpOutcome::Waiting;
        let reasons = Some(vec![why.to_owned()]);
        states.push(OpState {
            position: op.op.position,
            outcome: Some(OpOutcome::Waiting),
            reasons,
            ..OpState::default()
        });
    }
    dreams::put_ops(&mut tx, run, &states);
    let state = state_of(ops.iter().map(|op| op.op.outcome));
    dreams::end(&mut tx, run, &EndedRun { state: Some(state), now: ctx.now(), ..EndedRun::default() });
    tx.commit().await
}

/// Invalidates cached copies of changed skills. After a person's decision the vectors are computed immediately, as
/// the user may search for the skills. Otherwise the jobs that were queued with the change compute them.
pub(super) fn settle(ctx: &Ctx, steps: &[JournalStep], by_person: bool) {
    let answers = &ctx.app.catalogues.answers;
    answers.indexes.forget(ctx);
    for step in steps {
        let written = match step {
            JournalStep::Made(JournalledCreation { skill, name, .. })
            | JournalStep::Changed(JournalledChange { skill, name, .. }) => {
                answers.skills.forget(ctx, name);
                Some(*skill)
            }
            JournalStep::Archived(archived) => {
                answers.skills.forget(ctx, &archived.name);
                answers.skills.forget(ctx, &archived.into_name);
                None
            }
        };
        if let Some(skill) = written.filter(|_| by_person) {
            follow_up::embed_at_once(ctx, skill);
        }
    }
}
