//! Skills that this process has just loaded or saved. A change of one is composed before the database is asked, and sent
//! with a check that the skill is still as it was: one round trip instead of two. Where it is not, nothing of that is kept,
//! and the change goes the usual way.
//!
//! A state at hand may be out of date, and decides nothing by itself: no refusal and no "unchanged" comes from it.

use knowhow_domain::{Error, Result, name};
use knowhow_store::WriteTx;
use knowhow_store::idempotency::{self, KeyedRequest};
use knowhow_store::skills::{Expected, Locked};
use uuid::Uuid;

use super::change::{Aftermath, Proposal, SkillVerb, Target};
use super::draft::Base;
use super::kept::{OfVersion, ShowsSkill};
use crate::Ctx;
use crate::answers::KeptSkill;
use crate::once::Long;

/// The name by which the skill of a change can be at hand.
fn name_of(target: &Target<'_>) -> Option<String> {
    match target {
        Target::Named(name) => Some(name.as_str().to_owned()),
        // An id is looked for first.
        Target::Called(asked, _) if Uuid::try_parse(asked.trim()).is_ok() => None,
        Target::Called(asked, _) => name::lookup_key(asked),
    }
}

/// Changes a skill that is at hand in one round trip. `None`, and nothing was done, where it must go the usual way.
///
/// # Errors
/// `Unavailable`, also where it is not known whether the change arrived; `RateLimited`.
pub(super) async fn change_at_once<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<Option<V::Answer>> {
    let at_hand = &ctx.app.catalogues.answers.skills;
    let Some(name) = name_of(&verb.target()).filter(|_| verb.needs_only_the_skill()) else { return Ok(None) };
    let Some(base) = at_hand.find(ctx, &name) else { return Ok(None) };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, V::NAME).await?;
    let now = ctx.now();
    let key = ctx.call.idempotency_key.as_deref();
    let digest = ctx.keyed(&verb.request())?;
    if let (Some(key), Some(digest)) = (key, &digest) {
        idempotency::claim_or_refuse(&mut tx, KeyedRequest { key, digest, now });
    }
    let Some((mut answer, after)) = compose(ctx, &mut tx, verb, &base).await else { return Ok(None) };
    if let Some(key) = key {
        let mut short = answer.clone();
        OfVersion.shorten(&mut short);
        idempotency::answer(&mut tx, key, serde_json::to_value(short).map_err(Error::internal)?);
    }
    at_hand.forget(ctx, &name);
    if !tx.commit_unless_refused().await? {
        at_hand.note_moved(ctx, &name);
        return Ok(None);
    }
    let outcome = after.finish(ctx, !verb.is_bulk())?;
    if let Some(outcome) = outcome {
        answer.note_written(outcome);
    }
    if let (Some(outcome), Some(skill)) = (outcome, answer.skill()) {
        // The kept answer tells the counts that were checked with the change.
        if key.is_none() {
            (skill.times_used, skill.last_used_at) = (outcome.times_used, outcome.last_used_at);
        }
    }
    Ok(Some(answer))
}

/// The change of the skill at hand, in the queue of the transaction; `None` where it proposes no new text, or is refused.
async fn compose<V: SkillVerb>(
    ctx: &Ctx,
    tx: &mut WriteTx,
    verb: &V,
    base: &KeptSkill,
) -> Option<(V::Answer, Aftermath)> {
    let used = base.count();
    let locked = Locked::at_hand(base.skill.clone(), used);
    let before = tx.statements();
    let proposed = verb.propose(ctx, tx, Some(&locked)).await;
    let Ok(Proposal::Write(draft)) = proposed else { return None };
    if tx.statements() != before {
        return None;
    }
    tx.lock_unread();
    let settings = ctx.principal.settings();
    let is_keyed = ctx.call.idempotency_key.is_some();
    let expected = Expected {
        most_bytes: settings.bytes_per_user,
        most_stored_bytes: settings.most_stored_bytes(),
        used: is_keyed.then_some((used.times_used, used.last_used_at)),
    };
    let (source, is_bulk, now) = (verb.source(ctx), verb.is_bulk(), ctx.now());
    let base = Base { locked: Some(locked), source, is_bulk, now, expected: Some(expected) };
    let mut changed = draft.write(ctx, tx, base).await.ok()?;
    // What changes nothing was not checked.
    changed.written.as_ref()?;
    let after = Aftermath::of(&mut changed);
    Some((verb.answer(changed), after))
}
