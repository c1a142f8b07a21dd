//! Writing a change down as a submission, in place of making it.

use knowhow_domain::{Check, CheckStep, Error, Result, Submission, SubmissionId, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use knowhow_store::submissions::{self, Decision, Known, MAX_WAITING, MAX_WAITING_BYTES, ModelReads, Proposing, Same};

use super::checks;
use super::owner::STARTERS;
use super::wanted::{Over, Wanted};
use crate::Ctx;
use crate::skills::change::{Proposal, SkillChange, SkillVerb, lock_target};

/// Writes a change down that must be reviewed, and says that it waits. The call's idempotency key is bound to the submission.
pub(crate) async fn hold(ctx: &Ctx, verb: &impl SkillVerb, checks: Vec<Check>) -> Error {
    let held = async {
        let request = ctx.keyed(&verb.request())?;
        propose(ctx, verb, Asked { checks, waits: true, request, ..Asked::default() }).await
    };
    match held.await {
        Ok(submission) => Error::Waits(Box::new(submission.without_findings())),
        Err(refusal) => refusal,
    }
}

/// How a change is proposed; by default, as the caller's, applied where no check holds it.
#[derive(Default)]
pub(crate) struct Asked<'a> {
    /// Why, in the submitter's words.
    pub(crate) reason: Option<&'a str>,
    /// Steps that hold it already; none for one that somebody submits.
    pub(crate) checks: Vec<Check>,
    /// Who proposes it, where that is not the caller.
    pub(crate) submitter: Option<&'a str>,
    /// Whether it waits for a person, whatever the checks say.
    pub(crate) waits: bool,
    /// The submission that it takes the place of, which waits.
    pub(crate) replaces: Option<SubmissionId>,
    /// The digest of the request that the call's idempotency key stands for.
    pub(crate) request: Option<[u8; 32]>,
}

/// Takes a change through the review: it is applied where nothing holds it, else it waits.
///
/// # Errors
/// As the change itself; `Conflict` `unchanged` or `rejected`; `Quota` where as many wait as can.
pub(crate) async fn propose(ctx: &Ctx, change: &impl SkillChange, asked: Asked<'_>) -> Result<Submission> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.add").await?;
    let locked = lock_target(&mut tx, change).await?;
    propose_over(ctx, Locking { tx, locked }, change, asked).await
}

/// A transaction in which the skill that a change is about is locked.
pub(super) struct Locking {
    pub(super) tx: WriteTx,
    /// `None` where it is to be new.
    pub(super) locked: Option<Locked>,
}

/// The same over a skill that was locked.
///
/// # Errors
/// As [`propose`].
pub(super) async fn propose_over(
    ctx: &Ctx,
    locking: Locking,
    change: &impl SkillChange,
    asked: Asked<'_>,
) -> Result<Submission> {
    let Locking { mut tx, locked } = locking;
    let wanted = match change.propose(ctx, &mut tx, locked.as_ref()).await? {
        Proposal::Keep => return Err(unchanged()),
        Proposal::Write(draft) => Wanted::State(draft),
        Proposal::Delete(successor) => Wanted::Gone(successor),
    };
    if let (Wanted::State(draft), None) = (&wanted, &locked) {
        draft.name.require_unreserved()?;
    }
    let name = wanted.name(locked.as_ref()).to_owned();
    let digest = wanted.digest();
    if digest.is_some_and(|digest| locked.as_ref().is_some_and(|locked| locked.skill.digest == digest)) {
        return Err(unchanged());
    }
    let same = Same { name: &name, digest: digest.as_ref().map(<[u8; 32]>::as_slice), except: asked.replaces };
    let known = submissions::find_known(&mut tx, same).await?;
    if let Some(replaced) = asked.replaces {
        submissions::close(&mut tx, replaced, outdated(ctx));
    }
    if let Some(last) = &known.last {
        match last.state {
            state if state.waits() => {
                ctx.bind_to_submission(&mut tx, asked.request, last.id);
                tx.commit().await?;
                return find(ctx, last.id).await;
            }
            // A delete has no bytes to know it by: what was decided of another time decides nothing now.
            SubmissionState::Rejected if digest.is_some() => return Err(rejected(last.comment.as_deref())),
            _ => {}
        }
    }
    let bytes = wanted.bytes();
    check_waiting(&known, bytes)?;
    let mut checks = vec![checks::passed(CheckStep::Hash)];
    match asked.checks.is_empty() {
        false => checks.extend(asked.checks),
        true => checks.extend(wanted.checks(ctx, &mut tx, locked.as_ref()).await?),
    }
    let new = wanted.submission(ctx, change, locked.as_ref());
    let named = ctx.call.named(None);
    // What the service offers is decided each time: the user has changed the skill since.
    let approved_before = digest.is_some()
        && asked.submitter != Some(STARTERS)
        && known.last.is_some_and(|last| {
            last.state == SubmissionState::Approved && checks::finds_no_more(&checks, &last.checks)
        });
    let is_free = !asked.waits && !checks::holds(&checks);
    // A person's word on these very bytes needs no model's, and a delete has no text to read.
    let model = reading(ctx, digest.is_some() && !approved_before, is_free);
    let new =
        Proposing { reason: asked.reason, submitter: asked.submitter, checks: &checks, named: &named, model, ..new };
    let (id, tainted) = submissions::add(&mut tx, &new).await?;
    if approved_before || is_free && model == ModelReads::Nothing && tainted.is_none() {
        let over = Over { locked, source: change.source(ctx), approves: approved_before, checks };
        let version = wanted.apply(ctx, &mut tx, over).await?;
        let decision = Decision {
            state: SubmissionState::Approved,
            decided_by: None,
            comment: approved_before.then_some("a person approved exactly this before"),
            applied_version: version,
            now: ctx.now(),
        };
        submissions::close(&mut tx, id, decision);
    } else {
        submissions::tell_people(&mut tx, id);
    }
    ctx.bind_to_submission(&mut tx, asked.request, id);
    tx.commit().await?;
    let answers = &ctx.app.catalogues.answers;
    answers.indexes.forget(ctx);
    answers.skills.forget(ctx, &name);
    find(ctx, id).await
}

/// What a chat model, where there is one, has to do with a change. `is_free`: nothing else holds it.
pub(super) fn reading(ctx: &Ctx, is_to_be_read: bool, is_free: bool) -> ModelReads {
    match ctx.app.models.chat.is_some() && is_to_be_read {
        false => ModelReads::Nothing,
        true if is_free => ModelReads::AndDecides,
        true => ModelReads::ForPerson,
    }
}

/// What becomes of a submission whose place another one takes.
fn outdated(ctx: &Ctx) -> Decision<'static> {
    Decision {
        state: SubmissionState::Stale,
        decided_by: None,
        comment: Some("proposed anew on the current version"),
        applied_version: None,
        now: ctx.now(),
    }
}

/// Refuses one more that waits where there are as many as can be.
///
/// # Errors
/// `Quota`.
pub(super) fn check_waiting(known: &Known, bytes: i64) -> Result<()> {
    if known.waiting < MAX_WAITING && known.waiting_bytes + bytes <= MAX_WAITING_BYTES {
        return Ok(());
    }
    Err(Error::Quota(format!(
        "{} changes of this user wait for review ({} MiB of at most {MAX_WAITING} changes and {} MiB); have some decided or \
         withdrawn first",
        known.waiting,
        known.waiting_bytes >> 20,
        MAX_WAITING_BYTES >> 20
    )))
}

pub(super) async fn find(ctx: &Ctx, id: SubmissionId) -> Result<Submission> {
    submissions::find(&ctx.app.db, &ctx.principal, id).await?.ok_or_else(|| Error::not_found("submission"))
}

fn unchanged() -> Error {
    let detail = "the skill is like this already, so there is nothing to review".into();
    Error::Conflict { code: "unchanged", detail }
}

pub(super) fn rejected(comment: Option<&str>) -> Error {
    let detail = match comment {
        Some(comment) => format!("exactly this change was rejected: {comment}"),
        None => "exactly this change was rejected; change it before you propose it again".into(),
    };
    Error::Conflict { code: "rejected", detail }
}
