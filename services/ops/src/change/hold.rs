//! Stores a change as a submission instead of applying it.

use knowhow_domain::{Check, CheckStep, Error, Result, Submission, SubmissionId, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{
    self, Decision, KnownSubmissions, MAX_WAITING, MAX_WAITING_BYTES, ModelReads, Proposing, SameResult,
};
use knowhow_store::skills::Locked;

use super::checks;
use crate::Ctx;
use crate::change::submission_draft::{ChangeBase, DraftedChange};
use crate::change::{ProposedChange, SkillChange, SkillVerb, lock_target};
use crate::review::owner::STARTERS;

/// Stores a change that must be reviewed as a submission, and returns the error `Waits` with this submission. The
/// call's idempotency key is bound to the submission. If the change cannot be stored, another error states why.
pub(crate) async fn hold(ctx: &Ctx, verb: &impl SkillVerb, checks: Vec<Check>) -> Error {
    let held = async {
        let request = ctx.keyed(&verb.request())?;
        propose(ctx, verb, ReviewOptions { checks, waits: true, request, ..ReviewOptions::default() }).await
    };
    match held.await {
        Ok(submission) => Error::Waits(Box::new(submission.without_findings())),
        Err(refusal) => refusal,
    }
}

/// Options for a proposed change. By default the caller is the submitter, and the change is applied unless a check
/// holds it.
#[derive(Default)]
pub(crate) struct ReviewOptions<'a> {
    /// The submitter's reason, if one was given.
    pub(crate) reason: Option<&'a str>,
    /// The checks that hold the change, if they have already run. If empty, `propose` runs the checks.
    pub(crate) checks: Vec<Check>,
    /// The submitter's name, if the submitter is not the caller.
    pub(crate) submitter: Option<&'a str>,
    /// Whether the change needs a reviewer even if all checks pass.
    pub(crate) waits: bool,
    /// The pending submission that this change replaces, if any.
    pub(crate) replaces: Option<SubmissionId>,
    /// Digest of the request that the call's idempotency key is bound to; `None` without a key.
    pub(crate) request: Option<[u8; 32]>,
}

/// Submits a change. The change is applied if no check holds it, otherwise it waits for a decision.
///
/// # Errors
/// Errors from the change's `propose`; `Conflict` `unchanged` or `rejected`; `Quota` if the user has too many pending
/// submissions.
pub(crate) async fn propose(ctx: &Ctx, change: &impl SkillChange, options: ReviewOptions<'_>) -> Result<Submission> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.add").await?;
    let locked = lock_target(&mut tx, change).await?;
    propose_over(ctx, LockedTransaction { tx, locked }, change, options).await
}

/// A transaction that holds the lock of the skill to change.
pub(crate) struct LockedTransaction {
    pub(crate) tx: WriteTx,
    /// The skill to change; `None` for a new skill.
    pub(crate) locked: Option<Locked>,
}

/// Submits a change to a skill that is already locked.
pub(crate) async fn propose_over(
    ctx: &Ctx,
    locking: LockedTransaction,
    change: &impl SkillChange,
    options: ReviewOptions<'_>,
) -> Result<Submission> {
    let LockedTransaction { mut tx, locked } = locking;
    let drafted = match change.propose(ctx, &mut tx, locked.as_ref()).await? {
        ProposedChange::Keep => return Err(unchanged()),
        ProposedChange::Write(draft) => DraftedChange::State(draft),
        ProposedChange::Delete(successor) => DraftedChange::Gone(successor),
    };
    if let (DraftedChange::State(draft), None) = (&drafted, &locked) {
        draft.name.require_unreserved()?;
    }
    let name = drafted.name(locked.as_ref()).to_owned();
    let digest = drafted.digest();
    if digest.is_some_and(|digest| locked.as_ref().is_some_and(|locked| locked.skill.digest == digest)) {
        return Err(unchanged());
    }
    let same = SameResult { name: &name, digest: digest.as_ref().map(<[u8; 32]>::as_slice), except: options.replaces };
    let known = submissions::find_known(&mut tx, same).await?;
    if let Some(replaced) = options.replaces {
        submissions::close(&mut tx, replaced, outdated(ctx));
    }
    if let Some(last) = &known.last {
        match last.state {
            state if state.waits() => {
                ctx.bind_to_submission(&mut tx, options.request, last.id);
                tx.commit().await?;
                return find(ctx, last.id).await;
            }
            // A delete has no digest, so the rejected submission may have concerned an earlier state of the skill.
            // Such a rejection is ignored.
            SubmissionState::Rejected if digest.is_some() => return Err(rejected(last.comment.as_deref())),
            _ => {}
        }
    }
    let bytes = drafted.bytes();
    check_waiting(&known, bytes)?;
    let mut checks = vec![Check::passed(CheckStep::Hash)];
    match options.checks.is_empty() {
        false => checks.extend(options.checks),
        true => checks.extend(drafted.checks(ctx, &mut tx, locked.as_ref()).await?),
    }
    let new = drafted.submission(ctx, change, locked.as_ref());
    let named = ctx.call.named(None);
    // An earlier approval does not cover a starter that the service offers, as the user has changed the skill since.
    let approved_before = digest.is_some()
        && options.submitter != Some(STARTERS)
        && known.last.is_some_and(|last| {
            last.state == SubmissionState::Approved && checks::finds_no_more(&checks, &last.checks)
        });
    let is_free = !options.waits && !checks::holds(&checks);
    // The model is not asked about a text that a reviewer has already approved, or about a delete, which has no text.
    let model = reading(ctx, digest.is_some() && !approved_before, is_free);
    let new = Proposing {
        reason: options.reason,
        submitter: options.submitter,
        checks: &checks,
        named: &named,
        model,
        ..new
    };
    let (id, tainted) = submissions::add(&mut tx, &new).await?;
    if approved_before || is_free && model == ModelReads::Nothing && tainted.is_none() {
        let over = ChangeBase { locked, source: change.source(ctx), approves: approved_before, checks };
        let version = drafted.apply(ctx, &mut tx, over).await?;
        let decision = Decision {
            state: SubmissionState::Approved,
            decided_by: None,
            comment: approved_before.then_some("a person has already approved exactly this"),
            applied_version: version,
            now: ctx.now(),
        };
        submissions::close(&mut tx, id, decision);
    } else {
        submissions::notify_reviewers(&mut tx, id);
    }
    ctx.bind_to_submission(&mut tx, options.request, id);
    tx.commit().await?;
    let answers = &ctx.app.catalogues.answers;
    answers.indexes.forget(ctx);
    answers.skills.forget(ctx, &name);
    find(ctx, id).await
}

/// Returns the chat model's task in the review of a change; `ModelReads::Nothing` without a chat model. `is_free`
/// means that no other check holds the change.
pub(crate) fn reading(ctx: &Ctx, is_to_be_read: bool, is_free: bool) -> ModelReads {
    match ctx.app.models.chat.is_some() && is_to_be_read {
        false => ModelReads::Nothing,
        true if is_free => ModelReads::AndDecides,
        true => ModelReads::ForPerson,
    }
}

/// Returns the decision that closes a replaced submission.
pub(crate) fn outdated(ctx: &Ctx) -> Decision<'static> {
    Decision {
        state: SubmissionState::Stale,
        decided_by: None,
        comment: Some("proposed again on the current version"),
        applied_version: None,
        now: ctx.now(),
    }
}

/// Rejects a submission if the user has the maximum number or size of pending submissions.
pub(crate) fn check_waiting(known: &KnownSubmissions, bytes: i64) -> Result<()> {
    if known.waiting < MAX_WAITING && known.waiting_bytes + bytes <= MAX_WAITING_BYTES {
        return Ok(());
    }
    Err(Error::Quota(format!(
        "{} changes of this user are waiting for review ({} MiB); the limits are {MAX_WAITING} changes and {} MiB; \
            decide or withdraw some first",
        known.waiting,
        known.waiting_bytes >> 20,
        MAX_WAITING_BYTES >> 20
    )))
}

pub(crate) async fn find(ctx: &Ctx, id: SubmissionId) -> Result<Submission> {
    submissions::find(&ctx.app.db, &ctx.principal, id).await?.ok_or_else(|| Error::not_found("submission"))
}

fn unchanged() -> Error {
    let detail = "the skill already has exactly this content, so no change is needed".into();
    Error::Conflict { code: "unchanged", detail }
}

pub(crate) fn rejected(comment: Option<&str>) -> Error {
    let detail = match comment {
        Some(comment) => format!("exactly this change was rejected: {comment}"),
        None => "exactly this change was rejected; change it before you propose it again".into(),
    };
    Error::Conflict { code: "rejected", detail }
}
