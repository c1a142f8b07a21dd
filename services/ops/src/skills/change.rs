//! The one place that changes a skill, for every caller and every verb: find and lock it, let the verb propose, check
//! that against limits and quotas, and carry it out. Each verb is a [`SkillChange`]; [`change_in`] fits several into
//! one transaction.

mod aftermath;

use knowhow_domain::patch::Strategy;
use knowhow_domain::{Error, Result, SkillId, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Beside, Count, Locked, SkillKey, SkillState, Written};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) use self::aftermath::Aftermath;
use super::at_hand;
use super::delete::{Going, archive};
use super::draft::{Base, Draft};
use super::kept::{OfVersion, ShowsSkill};
use super::view::Skill;
use crate::lookup::{self, Reach};
use crate::once::Request;
use crate::{Ctx, review};

/// A change of a skill: the skill that it is about, and the state that it proposes.
pub(crate) trait SkillChange {
    /// Names the skill to change.
    fn target(&self) -> Target<'_>;

    /// Names what it needs to know of the skill beside its current state.
    fn reads(&self) -> Beside {
        Beside::default()
    }

    /// Whether it needs nothing of the database but the skill, so that it can be composed for one that is at hand.
    fn needs_only_the_skill(&self) -> bool {
        false
    }

    /// Proposes the new state. `current` is the skill as it is now, locked; `None` if there is none.
    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal>;

    /// Returns the source that is noted on a new skill.
    fn source(&self, ctx: &Ctx) -> Source {
        author(ctx)
    }

    /// Whether it is one of many changes of one request. Their vectors are made as bulk, since nobody waits for them.
    fn is_bulk(&self) -> bool {
        false
    }
}

/// A change that a caller asks for and is answered, also when it asks again.
pub(crate) trait SkillVerb: SkillChange {
    /// The name of its transaction in the log.
    const NAME: &'static str;

    /// The answer to the caller.
    type Answer: Serialize + DeserializeOwned + Clone + ShowsSkill;

    /// Returns the request that an idempotency key stands for. The key with another request is refused.
    fn request(&self) -> impl Serialize;

    /// Makes the answer to the caller.
    fn answer(&self, changed: Changed) -> Self::Answer;
}

/// Which skill a change is about.
pub(crate) enum Target<'a> {
    /// One that must be there, by the name or id that the caller gives.
    Called(&'a str, Reach),
    /// The one of exactly this name, which may be new.
    Named(&'a SkillName),
}

/// The state that a verb proposes for a skill.
pub(crate) enum Proposal {
    /// Change nothing: the request was carried out before.
    Keep,
    /// Write this text, these files and flags. If they equal the present ones, no version is made.
    Write(Box<Draft>),
    Delete(Option<Successor>),
}

/// The skill that answers to the name of a deleted one.
pub(crate) struct Successor {
    pub(crate) id: SkillId,
    pub(crate) name: String,
}

/// A change that was carried out.
pub(crate) struct Changed {
    /// The skill now; a deleted one as it was.
    pub(crate) skill: Skill,
    pub(super) created: bool,
    /// Whether it is new and the user's only skill.
    pub(super) is_first: bool,
    pub(super) unchanged: bool,
    pub(super) replaced: Replaced,
    /// The name of the skill that answers to the name of the deleted one.
    pub(super) successor: Option<String>,
    /// Whether the embedded text has changed, so that the skill needs a new vector.
    pub(crate) says_else: bool,
    /// The version that is on its way, where one is made.
    pub(crate) written: Option<Written>,
    /// The state that is on its way with it.
    pub(super) state: Option<SkillState>,
}

/// The places where text was replaced, and the way they were found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replaced {
    /// In how many places.
    pub(super) places: usize,
    /// How it was found; of several edits, the most tolerant way.
    pub(super) matched: Strategy,
}

impl Replaced {
    pub(super) const NOTHING: Self = Self { places: 0, matched: Strategy::Exact };
}

/// Changes a skill in a transaction of its own, once per idempotency key.
///
/// # Errors
/// Errors of the verb; `Waits` where a person has to decide first; `TooLarge` and `Quota` for a skill or a library beyond
/// its bounds.
pub(super) async fn change_skill<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<V::Answer> {
    match attempt(ctx, verb).await {
        Err(Error::MustBeReviewed(checks)) => Err(review::hold(ctx, verb, checks).await),
        done => done,
    }
}

async fn attempt<V: SkillVerb>(ctx: &Ctx, verb: &V) -> Result<V::Answer> {
    if let Some(answer) = at_hand::change_at_once(ctx, verb).await? {
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
    // The write was sent together with COMMIT; what it found out is known now.
    let outcome = done.finish(ctx, !verb.is_bulk())?;
    if let Some(outcome) = outcome {
        answer.note_written(outcome);
    }
    Ok(answer)
}

/// Changes a skill in an open transaction, which may hold other changes. The caller commits.
///
/// # Errors
/// As [`change_skill`]; the transaction is of no more use then.
pub(crate) async fn change_in(ctx: &Ctx, tx: &mut WriteTx, change: &impl SkillChange) -> Result<Changed> {
    let locked = lock_target(tx, change).await?;
    carry_out(ctx, tx, change, locked).await
}

/// Finds and locks the skill that a change is about; `None` where it is to be new.
///
/// # Errors
/// `NotFound`, `AmbiguousName`, `Unavailable`.
pub(crate) async fn lock_target(tx: &mut WriteTx, change: &impl SkillChange) -> Result<Option<Locked>> {
    let beside = change.reads();
    let lock = async |tx: &mut WriteTx, key: &SkillKey| {
        Ok(skills::lock_all(tx, std::slice::from_ref(key), &beside).await?.pop().flatten())
    };
    match change.target() {
        Target::Called(asked, reach) => lookup::find_in(tx, asked, reach, lock).await.map(Some),
        Target::Named(name) => lock(tx, &SkillKey::Name(name.as_str().to_owned())).await,
    }
}

/// Changes a skill that was locked; `None` where there is none.
///
/// # Errors
/// As [`change_in`].
pub(crate) async fn carry_out(
    ctx: &Ctx,
    tx: &mut WriteTx,
    change: &impl SkillChange,
    locked: Option<Locked>,
) -> Result<Changed> {
    match change.propose(ctx, tx, locked.as_ref()).await? {
        Proposal::Keep => Ok(Changed::nothing(locked.ok_or_else(lookup::missing)?)),
        Proposal::Write(draft) => {
            // One time for all that the change does, so that its answer and a later read agree.
            let now = ctx.now();
            let base = Base { locked, source: change.source(ctx), is_bulk: change.is_bulk(), now, expected: None };
            draft.write(ctx, tx, base).await
        }
        Proposal::Delete(successor) => {
            let locked = locked.ok_or_else(lookup::missing)?;
            let is_reviewed = review::is_reviewed(ctx);
            archive(ctx, tx, Going { skill: &locked.skill, successor: successor.as_ref(), is_reviewed }).await?;
            let successor = successor.map(|successor| successor.name);
            Ok(Changed { unchanged: false, successor, ..Changed::nothing(locked) })
        }
    }
}

impl Changed {
    /// The skill is as it was.
    pub(super) fn nothing(locked: Locked) -> Self {
        let Locked { skill, times_used, last_used_at, .. } = locked;
        let skill = Skill::of(skill, Count { times_used, last_used_at });
        let replaced = Replaced::NOTHING;
        Self {
            skill,
            created: false,
            is_first: false,
            unchanged: true,
            replaced,
            successor: None,
            says_else: false,
            written: None,
            state: None,
        }
    }
}

/// Refuses where the caller's base is not the current version; 0 stands for a skill that does not exist. What enrichment alone has
/// made of the base counts as the base: nobody is refused for what the service did to their text meanwhile.
pub(super) fn check_version(expected: Option<i32>, current: Option<&Locked>) -> Result<()> {
    let is_base = |version| current.map_or(version == 0, |current| current.is_at(version));
    match expected {
        Some(version) if !is_base(version) => {
            Err(Error::VersionConflict { current_version: current.map_or(0, |current| current.skill.version) })
        }
        _ => Ok(()),
    }
}

/// The skill that a change is made of, based on this version where that matters.
pub(super) fn existing(current: Option<&Locked>, expected: Option<i32>) -> Result<&Locked> {
    check_version(expected, current)?;
    current.ok_or_else(lookup::missing)
}

/// Returns the source of a new skill. A change that names a session, comes over MCP, or comes with an API key is an
/// agent's. Over REST a user's own token writes as the user.
pub(crate) fn author(ctx: &Ctx) -> Source {
    let Ctx { principal, call, .. } = ctx;
    if call.by_agent || call.session.is_some() || principal.is_backend() { Source::Agent } else { Source::User }
}
