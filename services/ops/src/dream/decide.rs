//! What a person does with a run: apply what waits, reject it, or take the run back.

use knowhow_domain::dream::{OpOutcome, RunState};
use knowhow_domain::{DreamId, Error, Result, Scope, Source};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended, OpState, RunDetail};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::carry_out::{Chosen, carry_out, state_of, taken_back};
use super::read::{DreamDetail, GetDream, get, reach};
use super::undo::{REST, keys, undo};
use crate::Ctx;
use crate::skills::change::author;

/// A decision on a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DecideDream {
    /// The run's id: of the path.
    #[serde(skip)]
    pub id: DreamId,
    /// The places of the operations that it is about; all that wait by default.
    #[serde(default)]
    pub ops: Vec<i32>,
    /// Why: kept with what is rejected.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
    /// The user, by external id: of an admin's query.
    #[serde(skip)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    pub reason: Option<String>,
}

/// Applies what waits of a run, as a person who has looked at it. What has changed since is left, and said.
///
/// # Errors
/// `NotFound`; `Forbidden` for who may not decide; `Conflict` `decided` where nothing of it waits.
pub async fn apply_dream(ctx: &Ctx, input: &DecideDream) -> Result<DreamDetail> {
    let reached = reach(ctx, input.user.as_deref(), input.reason.as_deref()).await?;
    reached.require_reviewer()?;
    let ctx = &reached.ctx;
    require_open(ctx, input).await?;
    let chosen = Chosen::ByPerson { places: &input.ops, who: ctx.principal.actor() };
    carry_out(ctx, input.id, &chosen).await?;
    get(ctx, input.id, true).await
}

/// Rejects what waits of a run; it is not proposed again for 90 days.
///
/// # Errors
/// As [`apply_dream`].
pub async fn reject_dream(ctx: &Ctx, input: &DecideDream) -> Result<DreamDetail> {
    if input.comment.as_deref().is_some_and(|text| text.chars().count() > 2000 || text.contains('\0')) {
        return Err(Error::invalid("/comment", "takes at most 2,000 characters and no NUL"));
    }
    let reached = reach(ctx, input.user.as_deref(), input.reason.as_deref()).await?;
    reached.require_reviewer()?;
    let ctx = &reached.ctx;
    require_open(ctx, input).await?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.reject").await?;
    let (found, mut ops) = dreams::lock_with_ops(&mut tx, input.id).await?;
    if found.run.state == RunState::Undone {
        return Err(taken_back());
    }
    let (mut states, mut rests) = (Vec::new(), Vec::new());
    for op in ops.iter_mut().filter(|op| op.op.outcome.is_open() && is_named(input, op.op.position)) {
        op.op.outcome = OpOutcome::Rejected;
        rests.extend(keys(op));
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
    dreams::end(&mut tx, input.id, &Ended { state: Some(state), now: ctx.now(), ..Ended::default() });
    tx.commit().await?;
    get(ctx, input.id, true).await
}

fn is_named(input: &DecideDream, position: i32) -> bool {
    input.ops.is_empty() || input.ops.contains(&position)
}

/// Refuses a decision on what is not there, or was decided.
async fn require_open(ctx: &Ctx, input: &DecideDream) -> Result<()> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let RunDetail { run, .. } =
        dreams::find(db, principal, input.id).await?.ok_or_else(|| Error::not_found("dream"))?;
    if run.dry_run {
        let detail = "the dream was a dry run: it shows what would be proposed; begin one without dry_run".into();
        return Err(Error::Conflict { code: "dry-run", detail });
    }
    if run.state == RunState::Undone {
        return Err(taken_back());
    }
    let ops = dreams::list_ops(db, principal, input.id).await?;
    if let Some(unknown) = input.ops.iter().find(|place| ops.iter().all(|op| op.op.position != **place)) {
        return Err(Error::invalid("/ops", format!("the dream has no operation {unknown}")));
    }
    if !ops.iter().any(|op| op.op.outcome.is_open() && is_named(input, op.op.position)) {
        let detail = format!("the dream is {}: nothing of it waits", run.state);
        return Err(Error::Conflict { code: "decided", detail });
    }
    Ok(())
}

/// Takes a run back as a whole: for users themselves, and for credentials of agents that may review. What people changed since
/// stays, and nothing of the run is proposed again for 90 days. Undone again, it answers the same.
///
/// # Errors
/// `NotFound`; `Forbidden`; `Conflict` `not-applied` for a run that has changed nothing, `undo-later-first` where another one has
/// built on it.
pub async fn undo_dream(ctx: &Ctx, query: &GetDream) -> Result<DreamDetail> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let reached = reach(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    // An agent does not take back what a person has let in.
    if author(ctx) == Source::Agent {
        reached.require_reviewer()?;
    }
    undo(&reached.ctx, query.id).await?;
    get(&reached.ctx, query.id, reached.sees_text()).await
}
