//! Actions on skills that a reflection proposes. Actions are checked, stored and applied like operations of dreams,
//! as far as the tenant allows.

use knowhow_domain::learning::dream::{Cause, Mode, OpOutcome, RunPass, RunState};
use knowhow_domain::learning::reflection::{ACTIONS, ACTIONS_A_DAY, ReadReflection};
use knowhow_domain::{DreamId, ReflectionActions, Result, new_id};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun, NewOp, NewRun};
use knowhow_store::learning::reflections;

use super::question::ChangeableSkills;
use crate::learning::dream::{
    LearningState, ModelQuestion, Resting, apply_as_allowed, list_skills, or_give_up, planned_state,
    review_those_to_apply, rule, undo_period,
};
use crate::{Ctx, Priority};

/// Returns the mode of actions; `None` if the tenant has disabled them.
pub(super) fn mode(ctx: &Ctx) -> Option<Mode> {
    match ctx.principal.settings().reflection_actions {
        ReflectionActions::None => None,
        ReflectionActions::Human => Some(Mode::Propose),
        ReflectionActions::Ai => Some(Mode::Apply),
    }
}

impl ChangeableSkills {
    /// Reads the skills that actions may change.
    pub(super) async fn read(ctx: &Ctx, known: &LearningState) -> Result<Self> {
        let (all, resting) = futures_util::try_join!(list_skills(ctx, None), Resting::read(ctx))?;
        let archiving = known.archiving(ctx, &all);
        Ok(Self { all, archiving, resting })
    }
}

/// Proposed and checked actions.
pub(super) struct Actions {
    /// The mode of applying the actions.
    mode: Mode,
    ops: Vec<NewOp>,
    /// Number of proposals beyond the limits.
    dropped: usize,
}

impl Actions {
    /// Returns the note about dropped proposals.
    pub(super) fn reason(&self) -> Option<String> {
        let (dropped, all) = (self.dropped, self.dropped + self.ops.len());
        (dropped > 0).then(|| {
            format!(
                "{dropped} of {all} proposed actions were dropped: the limits are {ACTIONS} per reflection and \
                    {ACTIONS_A_DAY} per day"
            )
        })
    }

    /// Checks the actions that the answers propose, up to the limits.
    pub(super) async fn check(
        ctx: &Ctx,
        answers: &mut [(ModelQuestion, ReadReflection)],
        mode: Mode,
        priority: Priority,
    ) -> Result<Self> {
        let time_zone = &ctx.principal.settings().time_zone;
        let taken = reflections::count_actions(&ctx.app.db, &ctx.principal, ctx.now(), time_zone).await?;
        let mut room = ACTIONS.min(ACTIONS_A_DAY.saturating_sub(usize::try_from(taken).unwrap_or(usize::MAX)));
        let mut actions = Self { mode, ops: Vec::new(), dropped: 0 };
        for (question, read) in answers {
            let mut wanted = std::mem::take(&mut read.operations);
            actions.dropped += read.dropped + wanted.len().saturating_sub(room);
            wanted.truncate(room);
            room -= wanted.len();
            actions.ops.extend(rule(ctx, question, wanted, priority).await?);
        }
        review_those_to_apply(ctx, &mut actions.ops, mode, priority).await?;
        Ok(actions)
    }

    /// Queues the statements that store the actions as a run, to be sent with COMMIT. Returns the run's id; `None` if
    /// there are no actions.
    pub(super) fn write_down(&self, ctx: &Ctx, tx: &mut WriteTx) -> Option<DreamId> {
        if self.ops.is_empty() {
            return None;
        }
        let (id, now) = (DreamId(new_id()), ctx.now());
        let run = NewRun {
            id,
            pass: RunPass::Reflection,
            cause: Cause::Reflection,
            mode: self.mode,
            dry_run: false,
            // The job of the reflection applies the run.
            task: None,
            now,
            texts_until: now + undo_period(ctx),
        };
        dreams::add_runs(tx, &[run]);
        dreams::add_ops(tx, id, &self.ops);
        let (state, reason) = planned_state(&self.ops);
        // The run has not ended if actions are applied next.
        let applies = self.mode == Mode::Apply && self.ops.iter().any(|op| op.outcome == OpOutcome::Proposed);
        let state = (!applies).then_some(state);
        let ended = EndedRun { state, reason, now, ..EndedRun::default() };
        dreams::end(tx, id, &ended);
        Some(id)
    }
}

/// Applies the actions of a stored run that need no decision by a person. Idempotent.
pub(super) async fn carry_on(ctx: &Ctx, run: DreamId) -> Result<()> {
    let found = dreams::find(&ctx.app.db, &ctx.principal, run).await?.map(|found| found.run);
    match found {
        // In the mode `propose` a person decides on all actions, including `see_also` links.
        Some(run) if run.mode == Mode::Apply && run.state == RunState::Queued => {
            or_give_up(ctx, run.id, apply_as_allowed(ctx, run.id, run.mode).await).await
        }
        _ => Ok(()),
    }
}
