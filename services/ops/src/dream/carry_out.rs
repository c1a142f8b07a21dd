//! Carrying out: some operations of a run become changes in one transaction, and the run says how each came out.

use chrono::TimeDelta;
use knowhow_domain::dream::{Cause, DreamOp, DreamRun, Mode, OpOutcome, Operation, RunState};
use knowhow_domain::{DreamId, Error, Result, Source};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended, OpState, RunDetail, StoredOp};
use serde_json::json;
use std::collections::BTreeMap;

use super::apply::{Applying, Halt, apply};
use super::journal::{self, Changed, Made, Step};
use super::ruled::is_applied;
use crate::{Ctx, follow_up};

/// Which operations, and on whose word.
pub(super) enum Chosen<'a> {
    /// What no check holds, as far as the mode goes.
    ByMode(Mode),
    /// What a person lets in: the open ones at these places, or all of them where no place is named.
    ByPerson { places: &'a [i32], who: &'a str },
}

impl Chosen<'_> {
    fn takes(&self, op: &DreamOp) -> bool {
        match self {
            Self::ByMode(mode) => op.outcome == OpOutcome::Proposed && is_applied(*mode, op.kind),
            // What a check holds is a person's to let in.
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

/// Applies operations of a run that are still open; those that were decided meanwhile are left. All of it happens, or nothing.
///
/// # Errors
/// `NotFound`; `Conflict` `decided` for a run that was taken back; `Unavailable`, and nothing is changed.
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
        return Err(taken_back());
    }
    if !ops.iter().any(|op| chosen.takes(&op.op)) && of.state != RunState::Queued {
        // Somebody else has decided meanwhile.
        return Ok(());
    }
    let mut own = Vec::new();
    for op in ops.iter().filter(|op| op.op.outcome == OpOutcome::Applied) {
        own.extend(journal::read(&op.journal)?);
    }
    let (mut states, mut touched) = (Vec::new(), Vec::new());
    for op in ops.iter_mut().filter(|op| chosen.takes(&op.op)) {
        catch_up(&mut op.bases, own.iter().chain(&touched));
        let Came { state, steps } = carry_out_one(ctx, &mut tx, One { run: &of, op, chosen }).await?;
        op.op.outcome = state.outcome.unwrap_or(op.op.outcome);
        states.push(state);
        touched.extend(steps);
    }
    dreams::put_ops(&mut tx, run, &states);
    let state = state_of(ops.iter().map(|op| op.op.outcome));
    let archived = touched.iter().filter(|step| matches!(step, Step::Archived(_))).count();
    let archived = i32::try_from(archived).unwrap_or(i32::MAX);
    // What is archived now can be put back from now on as long as the archive keeps it.
    let texts_until = Some(ctx.now() + kept_for(ctx));
    let ended = Ended { state: Some(state), archived, texts_until, now: ctx.now(), ..Ended::default() };
    dreams::end(&mut tx, run, &ended);
    tx.commit().await?;
    settle(ctx, &touched, chosen.person().is_some());
    Ok(())
}

/// Brings the versions at which skills were shown up to what the run itself has made of them since: the checks of a plan know of
/// that, and only what others have changed is a conflict.
fn catch_up<'s>(bases: &mut BTreeMap<String, i32>, own: impl Iterator<Item = &'s Step>) {
    for step in own {
        let Step::Changed(changed) = step else { continue };
        if let Some(base) = bases.get_mut(&changed.name).filter(|base| **base + 1 == changed.version) {
            *base = changed.version;
        }
    }
}

/// The refusal of a decision on what is left of a run that was taken back.
pub(super) fn taken_back() -> Error {
    let detail = "the dream was taken back, and nothing of it is decided any more".to_owned();
    Error::Conflict { code: "decided", detail }
}

/// How long a run is kept, and can be undone: as long as the tenant's archive keeps a skill, and a day at least.
pub(crate) fn kept_for(ctx: &Ctx) -> TimeDelta {
    TimeDelta::days(ctx.principal.settings().archive_days.max(1).into())
}

/// How an operation came out, and the steps that it took.
struct Came {
    state: OpState,
    steps: Vec<Step>,
}

/// One operation of a run, on somebody's word.
struct One<'a> {
    run: &'a DreamRun,
    op: &'a StoredOp,
    chosen: &'a Chosen<'a>,
}

async fn carry_out_one(ctx: &Ctx, tx: &mut WriteTx, one: One<'_>) -> Result<Came> {
    let One { run, op, chosen } = one;
    let operation = Operation::read(&op.op.op)?;
    let by_person = chosen.person().is_some();
    let applying = Applying {
        operation: &operation,
        tainted_by: &op.op.tainted_by,
        sessions: &op.sessions,
        bases: &op.bases,
        // A person has seen what the model found that reads changes.
        checks: if by_person { &[] } else { &op.op.checks },
        by_person,
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
            Ok(Came { state: OpState { outcome: Some(OpOutcome::Applied), journal, ..state }, steps })
        }
        Err(Halt::Op(outcome, reasons, held)) => {
            let checks = (!held.is_empty()).then_some(held);
            let state = OpState { outcome: Some(outcome), reasons: Some(reasons), checks, ..state };
            Ok(Came { state, steps: Vec::new() })
        }
        Err(Halt::Fault(fault)) => Err(fault),
    }
}

/// Where a run stands whose operations came to this.
pub(crate) fn state_of(outcomes: impl Iterator<Item = OpOutcome>) -> RunState {
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

/// A text of theirs came from what is not to be trusted, which showed only as it was written: a person decides.
async fn leave_to_person(ctx: &Ctx, run: DreamId, chosen: &Chosen<'_>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.leave").await?;
    let (_, mut ops) = dreams::lock_with_ops(&mut tx, run).await?;
    let why = "text of it comes from what is not to be trusted; a person will look at it";
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
    dreams::end(&mut tx, run, &Ended { state: Some(state), now: ctx.now(), ..Ended::default() });
    tx.commit().await
}

/// Lets go of what this process keeps of skills that were changed. Where a person waits to find them, their vectors are made at
/// once; else the jobs make them that were queued with the change.
pub(super) fn settle(ctx: &Ctx, steps: &[Step], by_person: bool) {
    let answers = &ctx.app.catalogues.answers;
    answers.indexes.forget(ctx);
    for step in steps {
        let written = match step {
            Step::Made(Made { skill, name, .. }) | Step::Changed(Changed { skill, name, .. }) => {
                answers.skills.forget(ctx, name);
                Some(*skill)
            }
            Step::Archived(archived) => {
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
