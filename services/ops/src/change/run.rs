//! Runs a change in its own transaction, or in a transaction with other changes.

use knowhow_domain::{Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;

use super::after_commit::Aftermath;
use super::draft::Base;
use super::proposal::{ChangeResult, ProposedChange, SkillChange, SkillVerb};
use super::{cached, checks, hold, lock_target, review_policy};
use crate::Ctx;
use crate::change::stored_answers::{OfVersion, ShowsSkill};
use crate::context::idempotency::Request;
use crate::context::lookup;
use crate::skills::delete::{SkillToDelete, archive};

/// Changes a skill in its own transaction, once per idempotency key.
///
/// # Errors
/// Errors from the verb; `Waits` if a reviewer has to decide first; `TooLarge` and `Quota` if a limit is exceeded.
pub(crate) async fn change_skill<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<V::Answer> {
    match attempt(ctx, verb).await {
        Err(Error::MustBeReviewed(checks)) => Err(hold::hold(ctx, verb, checks).await),
        done => done,
    }
}

async fn attempt<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<V::Answer> {
    if let Some(answer) = cached::change_at_once(ctx, verb).await? {
        return Ok(answer);
    }
    let mut done = Aftermath::default();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, V::NAME).await?;
    let request = Request { asked: &verb.request(), long: &OfVersion };
    let mut answer = ctx
        .once_in_short(&mut tx, request, async |tx| {
            let mut changed = change_in(ctx, tx, verb).await?;
            done = Aftermath::of(&mut changed);
            Ok(verb.answer(changed))
        })
        .await?;
    tx.commit().await?;
    // The write was sent together with COMMIT, so its result is available only now.
    let outcome = done.finish(ctx, !verb.is_bulk())?;
    if let Some(outcome) = outcome {
        answer.note_written(outcome);
    }
    Ok(answer)
}

/// Changes a skill in an open transaction, which may contain other changes. The caller commits.
///
/// # Errors
/// Errors from the change; `MustBeReviewed` if a reviewer has to decide; `TooLarge` and `Quota` if a limit is exceeded.
/// After an error the transaction cannot be used.
pub(crate) async fn change_in(ctx: &Ctx, tx: &mut WriteTx, change: &impl SkillChange) -> Result<ChangeResult> {
    let locked = lock_target(tx, change).await?;
    carry_out(ctx, tx, change, locked).await
}

/// Changes a locked skill, or creates a skill if `locked` is `None`.
pub(crate) async fn carry_out(
    ctx: &Ctx,
    tx: &mut WriteTx,
    change: &impl SkillChange,
    locked: Option<Locked>,
) -> Result<ChangeResult> {
    match change.propose(ctx, tx, locked.as_ref()).await? {
        ProposedChange::Keep => Ok(ChangeResult::nothing(locked.ok_or_else(lookup::missing)?)),
        ProposedChange::Write(draft) => {
            // Uses the same timestamp for the whole change, so that its answer and later reads agree.
            let now = ctx.now();
            let base = Base { locked, source: change.source(ctx), is_bulk: change.is_bulk(), now, expected: None };
            draft.write(ctx, tx, base).await
        }
        ProposedChange::Delete(successor) => {
            let locked = locked.ok_or_else(lookup::missing)?;
            let checks = vec![review_policy::policy_check(ctx)];
            if checks::holds(&checks) {
                return Err(Error::MustBeReviewed(checks));
            }
            let is_reviewed = review_policy::is_reviewed(ctx);
            archive(ctx, tx, SkillToDelete { skill: &locked.skill, successor: successor.as_ref(), is_reviewed })
                .await?;
            let successor = successor.map(|successor| successor.name);
            Ok(ChangeResult { unchanged: false, successor, ..ChangeResult::nothing(locked) })
        }
    }
}
