//! Deciding: approve exactly what was shown, reject with a reason, or take back.

mod apply;

use knowhow_domain::{Error, Result, Submission, SubmissionId, SubmissionKind, SubmissionState};
use knowhow_store::skills::{self, Locked, SkillKey};
use knowhow_store::submissions::{self, Decision, Undecided};
use knowhow_store::{WriteTx, offers};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::apply::{Approved, apply};
use super::hold::find;
use super::offer::{Take, has_conflict, is_offer};
use super::owner::{Reached, SCANNER, STARTERS, reach};
use super::share;
use crate::{Ctx, follow_up};

/// A decision on a submission.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct Decide {
    /// The submission's id: of the path.
    #[serde(skip)]
    pub id: SubmissionId,
    /// Why: a rejection says what to change.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
    /// What an approval takes of a newer starter that does not fit to what the user has changed; of such a submission alone.
    #[schema(inline)]
    pub take: Option<Take>,
    /// The header `Knowhow-Reason`, where an admin decides on what is another's.
    #[serde(skip)]
    pub reason: Option<String>,
}

impl Decide {
    fn comment(&self) -> Result<Option<&str>> {
        check_comment(self.comment.as_deref())
    }
}

/// What a person says beside a decision.
///
/// # Errors
/// `Invalid`.
pub(super) fn check_comment(comment: Option<&str>) -> Result<Option<&str>> {
    match comment.map(str::trim).filter(|comment| !comment.is_empty()) {
        Some(text) if text.chars().count() > 2000 || text.contains('\0') => {
            Err(Error::invalid("/comment", "takes at most 2,000 characters and no NUL"))
        }
        comment => Ok(comment),
    }
}

/// Approves a submission: exactly what it proposes becomes the skill, on exactly the state that it was made from.
///
/// # Errors
/// `NotFound`; `Forbidden` for whoever may not decide, the submitter among them; `Conflict` `decided` where somebody else
/// has, `stale` where the skill has changed since.
pub async fn approve_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    let (reached, tx, waiting) = open(ctx, input, true).await?;
    check_take(input.take, &waiting.submission)?;
    if waiting.submission.kind == SubmissionKind::Share {
        // What it changes is the tenant's, in a transaction of an admin.
        tx.commit().await?;
        return share::approve(&reached, &waiting, comment).await;
    }
    let ctx = &reached.ctx;
    let approval = Approval { by: Some(ctx.principal.actor()), comment, take: input.take };
    if !let_in(ctx, tx, &waiting, approval).await? {
        return Err(stale("the skill"));
    }
    find(ctx, input.id).await
}

/// How a submission is let in.
pub(super) struct Approval<'a> {
    /// The person who says so; `None` where the checks alone do.
    pub(super) by: Option<&'a str>,
    pub(super) comment: Option<&'a str>,
    pub(super) take: Option<Take>,
}

/// Makes what a submission proposes, on exactly the state that it was made from, and closes it; false, and closed as stale,
/// where that has changed. Commits.
///
/// # Errors
/// `MustBeReviewed` where no person has approved it and it is tainted by now; as a save.
pub(super) async fn let_in(ctx: &Ctx, mut tx: WriteTx, waiting: &Undecided, approval: Approval<'_>) -> Result<bool> {
    let (id, now) = (waiting.submission.id, ctx.now());
    let locked = lock(&mut tx, waiting).await?;
    let Approval { by, comment, take } = approval;
    let decision = Decision { state: SubmissionState::Approved, decided_by: by, comment, applied_version: None, now };
    if !is_current(waiting, locked.as_ref()) {
        submissions::close(&mut tx, id, Decision { state: SubmissionState::Stale, decided_by: None, ..decision });
        tx.commit().await?;
        return Ok(false);
    }
    if is_offer(&waiting.submission) {
        offers::note_merged(&mut tx, &waiting.submission.skill);
    }
    let approved = Approved { waiting, locked, by_person: by.is_some() };
    let changed = match take {
        Some(Take::Mine) => None,
        Some(Take::Theirs) | None => apply(ctx, &mut tx, approved).await?,
    };
    let applied_version = changed.as_ref().map(|changed| changed.skill.version);
    if let Some(changed) = changed.as_ref().filter(|changed| by.is_some() && changed.written.is_some()) {
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

/// Rejects a submission, and says why.
///
/// # Errors
/// `Invalid` without a comment; else as [`approve_submission`].
pub async fn reject_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    if comment.is_none() {
        return Err(Error::invalid("/comment", "is required: what must be changed before it can be approved?"));
    }
    let (reached, mut tx, _) = open(ctx, input, true).await?;
    let ctx = &reached.ctx;
    let decided_by = Some(ctx.principal.actor());
    let decision =
        Decision { state: SubmissionState::Rejected, decided_by, comment, applied_version: None, now: ctx.now() };
    submissions::close(&mut tx, input.id, decision);
    tx.commit().await?;
    find(ctx, input.id).await
}

/// Takes a submission back.
///
/// # Errors
/// `NotFound`; `Conflict` `decided`.
pub async fn withdraw_submission(ctx: &Ctx, input: &Decide) -> Result<Submission> {
    let comment = input.comment()?;
    let (reached, mut tx, _) = open(ctx, input, false).await?;
    let ctx = &reached.ctx;
    let decided_by = Some(ctx.principal.actor());
    let decision =
        Decision { state: SubmissionState::Withdrawn, decided_by, comment, applied_version: None, now: ctx.now() };
    submissions::close(&mut tx, input.id, decision);
    tx.commit().await?;
    Ok(find(ctx, input.id).await?.without_findings())
}

/// A person chooses between texts that do not fit together, and nowhere else.
fn check_take(take: Option<Take>, submission: &Submission) -> Result<()> {
    match (take, has_conflict(submission)) {
        (None, true) => {
            let detail = "the newer starter and what was changed here do not fit together: approve with \
                          {\"take\": \"mine\"} or {\"take\": \"theirs\"}, or save a text that joins both and reject this";
            Err(Error::Conflict { code: "merge-conflict", detail: detail.into() })
        }
        (Some(_), false) => {
            Err(Error::invalid("/take", "is for a newer starter with conflicts; leave it out: both changes are joined"))
        }
        _ => Ok(()),
    }
}

/// Locks a submission that waits, for somebody who may decide it.
async fn open(ctx: &Ctx, input: &Decide, decides: bool) -> Result<(Reached, WriteTx, Undecided)> {
    ctx.principal.require(if decides { knowhow_domain::Scope::Review } else { knowhow_domain::Scope::SkillsWrite })?;
    let reached = reach(ctx, input.id, input.reason.as_deref()).await?;
    if decides {
        reached.require_reviewer()?;
    }
    let principal = &reached.ctx.principal;
    let mut tx = WriteTx::begin(&ctx.app.db, principal, "submissions.decide").await?;
    let waiting = submissions::read_undecided(&mut tx, input.id).await?;
    if decides {
        reached.require_other_than(&waiting.submission.author)?;
        if waiting.submission.kind == SubmissionKind::Share {
            reached.require_admin()?;
        }
    } else if [SCANNER, STARTERS].contains(&waiting.submission.submitter.as_str()) {
        // Not the user's to take back: an agent of theirs could.
        return Err(Error::Forbidden("approve or reject: nobody withdraws what the service itself proposes"));
    }
    if !waiting.submission.state.waits() || waiting.submission.expires_at <= ctx.now() {
        return Err(decided(&waiting.submission));
    }
    Ok((reached, tx, waiting))
}

/// The skill as it is now, locked.
async fn lock(tx: &mut WriteTx, waiting: &Undecided) -> Result<Option<Locked>> {
    match waiting.skill {
        Some(skill) => skills::lock(tx, &SkillKey::Id(skill)).await,
        None => skills::lock(tx, &SkillKey::Name(waiting.submission.skill.clone())).await,
    }
}

/// Whether the skill is as it was when the change was proposed.
fn is_current(waiting: &Undecided, locked: Option<&Locked>) -> bool {
    waiting.base_digest.as_deref() == locked.map(|locked| locked.skill.digest.as_slice())
        && locked.is_none_or(|locked| locked.skill.name == waiting.submission.skill)
}

pub(super) fn stale(what: &str) -> Error {
    let detail = format!("{what} has changed since this was proposed; have it proposed anew and decide on that");
    Error::Conflict { code: "stale", detail }
}

pub(super) fn decided(submission: &Submission) -> Error {
    let state = match submission.state {
        state if state.waits() => SubmissionState::Expired,
        state => state,
    };
    Error::Conflict { code: "decided", detail: format!("the submission is not waiting any more: it is {state}") }
}
