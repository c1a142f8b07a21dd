//! Decides on submissions: approves exactly the shown change, rejects it with a reason, or withdraws it.

mod apply;

use knowhow_domain::{Error, Result, Submission, SubmissionId, SubmissionKind, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, Decision, Undecided};
use knowhow_store::skills::starter_offers;
use knowhow_store::skills::{self, Locked, SkillKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::apply::{Approved, apply};
use super::conflicts::{decided, offered_again, stale};
use super::offer::{OfferedText, Take, has_conflict, is_offer, keep_own};
use super::owner::{AccessedOwner, SCANNER, STARTERS, access_submission_owner};
use super::share;
use crate::Ctx;
use crate::change::hold::find;
use crate::skills::follow_up;

/// A decision on a submission.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct Decide {
    /// The submission's id. It comes from the path, not from the body.
    #[serde(skip)]
    pub id: SubmissionId,
    /// The reason. For a rejection, the changes that are required.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
    /// The text to write if a newer starter conflicts with the user's changes. Allowed only for submissions of this
    /// kind.
    #[schema(inline)]
    pub take: Option<Take>,
    /// The header `Knowhow-Reason`. It is required if an admin decides on another user's submission.
    #[serde(skip)]
    pub reason: Option<String>,
}

impl Decide {
    fn comment(&self) -> Result<Option<&str>> {
        check_comment(self.comment.as_deref())
    }
}

/// Validates the comment of a decision. A blank comment becomes `None`.
pub(super) fn check_comment(comment: Option<&str>) -> Result<Option<&str>> {
    match comment.map(str::trim).filter(|comment| !comment.is_empty()) {
        Some(text) if text.chars().count() > 2000 || text.contains('\0') => {
            Err(Error::invalid("/comment", "takes at most 2,000 characters and no NUL"))
        }
        comment => Ok(comment),
    }
}

/// Approves a submission. Exactly the proposed state is written, and only over exactly the state that it was based
/// on.
///
/// # Errors
/// `NotFound`; `Forbidden` for the submitter and for other callers without the right to decide; `Conflict` `decided`
/// if the submission was already decided; `Conflict` `stale` if the skill has changed since it was submitted.
pub async fn approve_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    let (accessed, tx, waiting) = open(ctx, input, true).await?;
    check_take(input.take, &waiting.submission)?;
    if waiting.submission.kind == SubmissionKind::Share {
        // A share changes the tenant's library, which needs a transaction with admin rights.
        tx.commit().await?;
        return share::approve(&accessed, &waiting, comment).await;
    }
    let ctx = &accessed.ctx;
    let approval = Approval { by: Some(ctx.principal.actor()), comment, take: input.take };
    if !approve_if_current(ctx, tx, &waiting, approval).await? {
        return Err(if is_offer(&waiting.submission) { offered_again() } else { stale("the skill") });
    }
    find(ctx, input.id).await
}

/// An approval of a submission.
pub(super) struct Approval<'a> {
    /// The reviewer; `None` if the checks alone approve the submission.
    pub(super) by: Option<&'a str>,
    pub(super) comment: Option<&'a str>,
    pub(super) take: Option<Take>,
}

/// Applies a submission to exactly the state that it was based on, and closes it as approved. If that state has
/// changed, closes the submission as stale and returns false; an offer of a starter is then made again. Commits the
/// transaction.
///
/// # Errors
/// `MustBeReviewed` if the change is now tainted and no reviewer has approved it; the errors of a save.
pub(super) async fn approve_if_current(
    ctx: &Ctx,
    mut tx: WriteTx,
    waiting: &Undecided,
    approval: Approval<'_>,
) -> Result<bool> {
    let (id, now) = (waiting.submission.id, ctx.now());
    let locked = lock(&mut tx, waiting).await?;
    let Approval { by, comment, take } = approval;
    let decision = Decision { state: SubmissionState::Approved, decided_by: by, comment, applied_version: None, now };
    if !is_current(waiting, locked.as_ref()) {
        submissions::close(&mut tx, id, Decision { state: SubmissionState::Stale, decided_by: None, ..decision });
        if is_offer(&waiting.submission) {
            starter_offers::offer_again(&mut tx, &waiting.submission.skill);
        }
        tx.commit().await?;
        return Ok(false);
    }
    // The base of the merge is read before the next statement changes it.
    let instead = match (take, locked.as_ref(), waiting.document.as_deref()) {
        (Some(Take::Mine), Some(locked), Some(newer)) => {
            let texts = OfferedText { name: &waiting.submission.skill, own: &locked.skill.document, newer };
            keep_own(ctx, &mut tx, texts).await?
        }
        _ => None,
    };
    if is_offer(&waiting.submission) {
        starter_offers::note_merged(&mut tx, &waiting.submission.skill);
    }
    let changed = match take {
        Some(Take::Mine) if instead.is_none() => None,
        _ => apply(ctx, &mut tx, Approved { waiting, locked, by_person: by.is_some(), instead }).await?,
    };
    let applied_version = changed.as_ref().map(|changed| changed.skill.version);
    // A reviewer who takes the user's text has read it as part of the diff only, so it keeps its taint.
    let is_read = by.is_some() && take != Some(Take::Mine);
    if let Some(changed) = changed.as_ref().filter(|changed| is_read && changed.written.is_some()) {
        submissions::approve_version(&mut tx, changed.skill.id, changed.skill.version, now);
    }
    submissions::close(&mut tx, id, Decision { applied_version, ..decision });
    tx.commit().await?;
    let answers = &ctx.app.catalogues.answers;
    answers.indexes.forget(ctx);
    answers.skills.forget(ctx, &waiting.submission.skill);
    if let Some(changed) = changed.filter(|changed| changed.says_else) {
        follow_up::embed_at_once(ctx, changed.skill.id);
    }
    Ok(true)
}

/// Rejects a submission. A comment is required.
///
/// # Errors
/// `Invalid` if the comment is missing; the errors of [`approve_submission`].
pub async fn reject_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    if comment.is_none() {
        return Err(Error::invalid("/comment", "is required: the changes needed before an approval"));
    }
    let (accessed, mut tx, _) = open(ctx, input, true).await?;
    let ctx = &accessed.ctx;
    let decided_by = Some(ctx.principal.actor());
    let decision =
        Decision { state: SubmissionState::Rejected, decided_by, comment, applied_version: None, now: ctx.now() };
    submissions::close(&mut tx, input.id, decision);
    tx.commit().await?;
    find(ctx, input.id).await
}

/// Withdraws a pending submission.
pub async fn withdraw_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    let (accessed, mut tx, _) = open(ctx, input, false).await?;
    let ctx = &accessed.ctx;
    let decided_by = Some(ctx.principal.actor());
    let decision =
        Decision { state: SubmissionState::Withdrawn, decided_by, comment, applied_version: None, now: ctx.now() };
    submissions::close(&mut tx, input.id, decision);
    tx.commit().await?;
    Ok(find(ctx, input.id).await?.without_findings())
}

/// Checks `take`, which is required if the merge has a conflict, and invalid otherwise.
fn check_take(take: Option<Take>, submission: &Submission) -> Result<()> {
    match (take, has_conflict(submission)) {
        (None, true) => {
            let detail = "the newer starter conflicts with the changes made here: approve with {\"take\": \
                \"mine\"} or {\"take\": \"theirs\"}, or save a merged text and reject this";
            Err(Error::Conflict { code: "merge-conflict", detail: detail.into() })
        }
        (Some(_), false) => Err(Error::invalid(
            "/take",
            "is only for a newer starter with conflicts; remove it, as both changes can be merged",
        )),
        _ => Ok(()),
    }
}

/// Checks that the caller may decide on a pending submission, and locks it. `decides` is false for a withdrawal.
async fn open(ctx: &Ctx, input: &Decide, decides: bool) -> Result<(AccessedOwner, WriteTx, Undecided)> {
    ctx.principal.require(if decides { knowhow_domain::Scope::Review } else { knowhow_domain::Scope::SkillsWrite })?;
    let accessed = access_submission_owner(ctx, input.id, input.reason.as_deref()).await?;
    if decides {
        accessed.require_reviewer()?;
    }
    let principal = &accessed.ctx.principal;
    let mut tx = WriteTx::begin(&ctx.app.db, principal, "submissions.decide").await?;
    let waiting = submissions::read_undecided(&mut tx, input.id).await?;
    if decides {
        accessed.require_other_than(&waiting.submission.author)?;
        if waiting.submission.kind == SubmissionKind::Share {
            accessed.require_admin()?;
        }
    } else if [SCANNER, STARTERS].contains(&waiting.submission.submitter.as_str()) {
        // Only a reviewer decides on proposals of the service. Otherwise a user's agent could withdraw them.
        return Err(Error::Denied("a proposal of the service cannot be withdrawn; a reviewer approves or rejects it"));
    }
    if !waiting.submission.state.waits() || waiting.submission.expires_at <= ctx.now() {
        return Err(decided(&waiting.submission));
    }
    Ok((accessed, tx, waiting))
}

/// Locks the skill that a submission changes, and returns its current state.
async fn lock(tx: &mut WriteTx, waiting: &Undecided) -> Result<Option<Locked>> {
    match waiting.skill {
        Some(skill) => skills::lock(tx, &SkillKey::Id(skill)).await,
        None => skills::lock(tx, &SkillKey::Name(waiting.submission.skill.clone())).await,
    }
}

/// Returns whether the skill is still in the state that the submission was based on.
fn is_current(waiting: &Undecided, locked: Option<&Locked>) -> bool {
    waiting.base_digest.as_deref() == locked.map(|locked| locked.skill.digest.as_slice())
        && locked.is_none_or(|locked| locked.skill.name == waiting.submission.skill)
}
