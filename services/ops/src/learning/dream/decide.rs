//! Decisions of a person on a run: apply pending operations, reject them, or undo the run.

use knowhow_domain::learning::dream::{OpOutcome, RunState};
use knowhow_domain::{DreamId, Error, Result, Scope, Source};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun, OpState, RunDetail};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::carry_out::{Chosen, carry_out, state_of, undone_error};
use super::read::{DreamDetail, GetDream, access_owner, get};
use super::resting::{REST, keys};
use super::undo::undo;
use crate::Ctx;
use crate::change::author;

/// A decision on a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DecideDream {
    /// The run's id; taken from the path.
    #[serde(skip)]
    pub id: DreamId,
    /// Positions of the operations to decide on; by default all pending operations.
    #[serde(default)]
    pub ops: Vec<i32>,
    /// The reason; stored with rejected operations.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
    /// The user, by external id; from an admin's query.
    #[serde(skip)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    pub reason: Option<String>,
}

/// Applies pending operations of a run, approved by the caller. Operations on skills that have changed since are
/// skipped and reported.
///
/// # Errors
/// `NotFound`; `Forbidden` for callers without the right to decide; `Conflict` `decided` if no operation is pending.
pub async fn apply_dream(ctx: &Ctx, input: &DecideDream) -> Result<DreamDetail> {
    let reached = access_owner(ctx, input.user.as_deref(), input.reason.as_deref()).await?;
    reached.require_reviewer()?;
    let ctx = &reached.ctx;
    require_open(ctx, input).await?;
    let chosen = Chosen::ByPerson { places: &input.ops, who: ctx.principal.actor() };
    carry_out(ctx, input.id, &chosen).await?;
    get(ctx, input.id, true).await
}

/// Rejects pending operations of a run. The same operations are not proposed again for 90 days.
pub async fn reject_dream(ctx: &Ctx, input: &DecideDream) -> Result<DreamDetail> {
    if input.comment.as_deref().is_some_and(|text| text.chars().count() > 2000 || text.contains('\0')) {
        return Err(Error::invalid("/comment", "takes at most 2,000 characters and no NUL"));
    }
    let reached = access_owner(ctx, input.user.as_deref(), input.reason.as_deref()).await?;
    reached.require_reviewer()?;
    let ctx = &reached.ctx;
    require_open(ctx, input).await?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.reject").await?;
    let (found, mut ops) = dreams::lock_with_ops(&mut tx, input.id).await?;
    if found.run.state == RunState::Undone {
        return Err(undone_error());
    }
    let (mut states, mut rests) = (Vec::new(), Vec::new());
    for op in ops.iter_mut().filter(|op| op.op.outcome.is_open() && is_named(input, op.op.position)) {
        op.op.outcome = OpOutcome::Rejected;
        rests.extend(keys(op, found.run.pass));
        states.push(OpState {
            position: op.op.position,
            outcome: Some(OpOutcome::Rejected),
            reasons: input.comment.clone().map(|comment| [op.op.reasons.clone(), vec![comment]].concat()),
            decided_by: Some(ctx.principal.actor().to_owned()),
            ..OpState::default()
        });
    }
    dreams::put_ops(&mut tx, input.id, &states);
    dreams::put_rests(&mut tx, rests, ctx.now() + REST);
    let state = state_of(ops.iter().map(|op| op.op.outcome));
    dreams::end(&mut tx, input.id, &EndedRun { state: Some(state), now: ctx.now(), ..EndedRun::default() });
    tx.commit().await?;
    get(ctx, input.id, true).await
}

fn is_named(input: &DecideDream, position: i32) -> bool {
    input.ops.is_empty() || input.ops.contains(&position)
}

/// Rejects a decision if the run was a dry run or was undone, or if the operations are unknown or already decided.
async fn require_open(ctx: &Ctx, input: &DecideDream) -> Result<()> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let RunDetail { run, .. } =
        dreams::find(db, principal, input.id).await?.ok_or_else(|| Error::not_found("dream"))?;
    if run.dry_run {
        let detail = "the dream was a dry run, which only shows proposals; start one without dry_run".into();
        return Err(Error::Conflict { code: "dry-run", detail });
    }
    if run.state == RunState::Undone {
        return Err(undone_error());
    }
    let ops = dreams::list_ops(db, principal, input.id).await?;
    if let Some(unknown) = input.ops.iter().find(|place| ops.iter().all(|op| op.op.position != **place)) {
        return Err(Error::invalid("/ops", format!("the dream has no operation {unknown}")));
    }
    if !ops.iter().any(|op| op.op.outcome.is_open() && is_named(input, op.op.position)) {
        let detail = format!("the dream is {}; it has no such pending operation", run.state);
        return Err(Error::Conflict { code: "decided", detail });
    }
    Ok(())
}

/// Undoes a whole run. Users may undo a run; an agent needs the right to review. Later changes by people are
/// preserved, and the operations are not proposed again for 90 days. Idempotent.
///
/// # Errors
/// `NotFound`; `Forbidden`; `Conflict` `not-applied` for a run without changes, `undo-later-first` if a later run
/// depends on this run.
pub async fn undo_dream(ctx: &Ctx, query: &GetDream) -> Result<DreamDetail> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let reached = access_owner(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    // An agent must not undo changes that a person approved.
    if author(ctx) == Source::Agent {
        reached.require_reviewer()?;
    }
    undo(&reached.ctx, query.id).await?;
    get(&reached.ctx, query.id, reached.sees_text()).await
}
