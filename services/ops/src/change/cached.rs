//! Changes skills from a cached copy. If this process has recently loaded or saved the skill, the change is composed
//! without a read from the database. The write is sent with a check that the cached state is still current: one round
//! trip instead of two. If the check fails, the transaction is rolled back, and `run` makes the change without the
//! cache.
//!
//! A cached state may be out of date, so it never decides the answer alone: neither a rejection nor "unchanged" is
//! returned from it.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::name;
use knowhow_domain::{Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::skills::{Expected, Locked};
use knowhow_store::tenants::idempotency::{self, KeyedRequest};
use uuid::Uuid;

use crate::Ctx;
use crate::change::draft::Base;
use crate::change::stored_answers::{OfVersion, ShowsSkill};
use crate::change::{Aftermath, ProposedChange, SkillVerb, Target};
use crate::context::idempotency::LongText;
use crate::platform::answer_cache::CachedSkill;

/// Returns the name to look up in the cache; `None` for an id or an invalid name.
fn name_of(target: &Target<'_>) -> Option<String> {
    match target {
        Target::Named(name) => Some(name.as_str().to_owned()),
        // A UUID is looked up as an id first, but the cache has only names.
        Target::Called(asked, _) if Uuid::try_parse(asked.trim()).is_ok() => None,
        Target::Called(asked, _) => name::lookup_key(asked),
    }
}

/// Changes a cached skill in one round trip. Returns `None`, without an effect, if the change cannot be made from the
/// cache.
///
/// # Errors
/// `Unavailable`, also if it is unknown whether the commit succeeded; `RateLimited`.
pub(crate) async fn change_at_once<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<Option<V::Answer>> {
    let cached = &ctx.app.catalogues.answers.skills;
    let Some(name) = name_of(&verb.target()).filter(|_| verb.needs_only_the_skill()) else { return Ok(None) };
    let Some(base) = cached.find(ctx, &name) else { return Ok(None) };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, V::NAME).await?;
    let now = ctx.now();
    let key = ctx.call.idempotency_key.as_deref();
    let digest = ctx.keyed(&verb.request())?;
    if let (Some(key), Some(digest)) = (key, &digest) {
        idempotency::claim_or_refuse(&mut tx, KeyedRequest { key, digest, now });
    }
    let Some((mut answer, after)) = compose(ctx, &mut tx, verb, (&base, now)).await else { return Ok(None) };
    if let Some(key) = key {
        let mut short = answer.clone();
        OfVersion.shorten(&mut short);
        idempotency::answer(&mut tx, key, serde_json::to_value(short).map_err(Error::internal)?);
    }
    cached.forget(ctx, &name);
    if !tx.commit_unless_refused().await? {
        cached.note_moved(ctx, &name);
        return Ok(None);
    }
    let outcome = after.finish(ctx, !verb.is_bulk())?;
    if let Some(outcome) = outcome {
        answer.note_written(outcome);
    }
    if let (Some(outcome), Some(skill)) = (outcome, answer.skill()) {
        // With an idempotency key the answer was stored with the checked use counts, so it is returned with the same
        // counts.
        if key.is_none() {
            (skill.times_used, skill.last_used_at) = (outcome.times_used, outcome.last_used_at);
        }
    }
    Ok(Some(answer))
}

/// Queues the change to the cached skill in the transaction. Returns `None` if the change is rejected or proposes no
/// new text.
async fn compose<V: SkillVerb>(
    ctx: &Ctx,
    tx: &mut WriteTx,
    verb: &V,
    (base, now): (&CachedSkill, DateTime<Utc>),
) -> Option<(V::Answer, Aftermath)> {
    let used = base.count();
    let locked = Locked::cached(base.skill.clone(), used);
    let before = tx.statements();
    let proposed = verb.propose(ctx, tx, Some(&locked)).await;
    let Ok(ProposedChange::Write(draft)) = proposed else { return None };
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
    let (source, is_bulk) = (verb.source(ctx), verb.is_bulk());
    let base = Base { locked: Some(locked), source, is_bulk, now, expected: Some(expected) };
    let mut changed = draft.write(ctx, tx, base).await.ok()?;
    // Without a queued write, no statement checks that the cached state is current.
    changed.written.as_ref()?;
    let after = Aftermath::of(&mut changed);
    Some((verb.answer(changed), after))
}
