//! What a reflection proposes to do with skills. It goes the way of what a dream proposes: checked, written down, and applied as
//! far as the tenant lets it.

use knowhow_domain::dream::{Cause, Mode, OpOutcome, RunPass, RunState};
use knowhow_domain::reflection::{ACTIONS, ACTIONS_A_DAY, ReadReflection};
use knowhow_domain::{DreamId, ReflectionActions, Result, new_id};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended, NewOp, NewRun};
use knowhow_store::reflections;

use super::question::Skills;
use crate::dream::{
    Known, Question, apply_as_allowed, kept_for, list_resting, list_skills, or_give_up, reason_of,
    review_those_to_apply, rule, state_of,
};
use crate::{Ctx, Priority};

/// How far actions go by themselves; `None` where they are not wanted.
pub(super) fn mode(ctx: &Ctx) -> Option<Mode> {
    match ctx.principal.settings().reflection_actions {
        ReflectionActions::None => None,
        ReflectionActions::Human => Some(Mode::Propose),
        ReflectionActions::Ai => Some(Mode::Apply),
    }
}

impl Skills {
    /// Reads what actions may be about.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(super) async fn read(ctx: &Ctx, known: &Known) -> Result<Self> {
        let (all, resting) = futures_util::try_join!(list_skills(ctx, None), list_resting(ctx))?;
        let archiving = known.archiving(ctx, &all);
        Ok(Self { all, archiving, resting })
    }
}

/// What is proposed, and checked.
pub(super) struct Actions {
    /// How far they go by themselves.
    mode: Mode,
    ops: Vec<NewOp>,
    /// Proposals that were not looked at.
    dropped: usize,
}

impl Actions {
    /// Why not all of it was looked at.
    pub(super) fn reason(&self) -> Option<String> {
        let (dropped, all) = (self.dropped, self.dropped + self.ops.len());
        (dropped > 0).then(|| {
            format!(
                "{dropped} of {all} proposed actions were dropped: at most {ACTIONS} of a reflection and {ACTIONS_A_DAY} of a \
                 day are taken"
            )
        })
    }

    /// Checks what the answers propose, as many of them as may be.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(super) async fn check(
        ctx: &Ctx,
        answers: &mut [(Question, ReadReflection)],
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

    /// Writes them down as a run, together with COMMIT; nothing of it is applied yet. `None` where there are none.
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
            // It is applied by the job that made the reflection.
            task: None,
            now,
            texts_until: now + kept_for(ctx),
        };
        dreams::add_runs(tx, &[run]);
        dreams::add_ops(tx, id, &self.ops);
        let state = state_of(self.ops.iter().map(|op| op.outcome));
        // Where something of it is applied next, the run is not over.
        let applies = self.mode == Mode::Apply && self.ops.iter().any(|op| op.outcome == OpOutcome::Proposed);
        let state = (!applies).then_some(state);
        let ended = Ended { state, reason: state.and_then(reason_of), now, ..Ended::default() };
        dreams::end(tx, id, &ended);
        Some(id)
    }
}

/// Applies what no person is needed for, of a run that was written down. It may be done again.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn carry_on(ctx: &Ctx, run: DreamId) -> Result<()> {
    let found = dreams::find(&ctx.app.db, &ctx.principal, run).await?.map(|found| found.run);
    match found {
        // In the other mode a person decides on all of it, also on what only points at skills.
        Some(run) if run.mode == Mode::Apply && run.state == RunState::Queued => {
            or_give_up(ctx, run.id, apply_as_allowed(ctx, run.id, run.mode).await).await
        }
        _ => Ok(()),
    }
}
