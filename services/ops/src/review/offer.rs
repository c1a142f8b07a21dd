//! Offers newer starters to users who changed their copies. Each newer text is offered once, as a submission that
//! merges both texts. It is applied only after a reviewer approves it.

use knowhow_domain::skills::manifest;
use knowhow_domain::text::diff;
use knowhow_domain::{
    ChangeKind, Check, CheckStep, Error, Result, SkillDocument, SkillName, Source, Submission, SubmissionId,
    SubmissionKind,
};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, Undecided};
use knowhow_store::skills::starter_offers::{self, Outdated, StarterOffer};
use knowhow_store::skills::{self, Locked, SkillKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::owner::STARTERS;
use super::rebase::still_current;
use crate::change::draft::Draft;
use crate::change::hold::{LockedTransaction, ReviewOptions, find, outdated, propose_over};
use crate::change::{ProposedChange, SkillChange, Target};
use crate::{Ctx, compute};

/// The text to write if a newer starter conflicts with the user's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// Keep the user's lines that conflict, and take the newer starter's other changes. The text then counts as based
    /// on the newer starter.
    Mine,
    /// Write the newer text as a new version. The user's text stays in the history.
    Theirs,
}

/// Returns whether a submission is an offer of a newer starter.
pub(super) fn is_offer(submission: &Submission) -> bool {
    submission.kind == SubmissionKind::Merge && submission.submitter == STARTERS
}

/// Returns whether a submission offers a newer starter that conflicts with the user's changes. Its approval needs
/// [`Take`].
pub fn has_conflict(submission: &Submission) -> bool {
    is_offer(submission) && submission.checks.iter().any(|check| check.step == CheckStep::Merge)
}

/// Offers the user a merge of each changed starter that has a newer text. Idempotent: each newer text is offered
/// once.
///
/// # Errors
/// `Unavailable` if the database does not answer. Offers made before the error stay.
pub(crate) async fn offer_merges(ctx: &Ctx) -> Result<()> {
    for outdated in starter_offers::list_outdated(&ctx.app.db, &ctx.principal).await? {
        offer(ctx, outdated).await?;
    }
    Ok(())
}

/// Makes an offer again for the current text of the skill, and closes the old one.
///
/// # Errors
/// `Conflict` `current` if the skill has not changed since; `Conflict` `stale` if there is no newer text any more.
pub(super) async fn renew(ctx: &Ctx, old: &Undecided) -> Result<Submission> {
    let name = &old.submission.skill;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "starter_offers.renew").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Name(name.clone())).await?;
    if locked.is_some_and(|locked| old.base_digest.as_deref() == Some(locked.skill.digest.as_slice())) {
        return Err(still_current());
    }
    if old.submission.state.waits() {
        submissions::close(&mut tx, old.submission.id, outdated(ctx));
    }
    starter_offers::forget_offer(&mut tx, name);
    tx.commit().await?;
    let newer = starter_offers::list_outdated(&ctx.app.db, &ctx.principal).await?;
    let offered = match newer.into_iter().find(|newer| newer.name == *name) {
        Some(newer) => offer(ctx, newer).await?,
        None => None,
    };
    match offered {
        Some(id) => find(ctx, id).await,
        None => {
            let detail = "the starter has no newer text to offer for this skill".into();
            Err(Error::Conflict { code: "stale", detail })
        }
    }
}

/// Offers a newer text, and returns the submission. Returns `None` if the offer is unnecessary or impossible.
async fn offer(ctx: &Ctx, outdated: Outdated) -> Result<Option<SubmissionId>> {
    let (name, newer_digest) = (outdated.name.clone(), outdated.newer_digest.clone());
    let Some((change, checks)) = merge(ctx, outdated).await? else { return Ok(None) };
    let reason = match checks.is_empty() {
        true => "a newer version of this starter, merged with the changes made here",
        false => "a newer version of this starter, which conflicts with the changes made here",
    };
    let options = ReviewOptions {
        reason: Some(reason),
        checks,
        submitter: Some(STARTERS),
        waits: true,
        ..ReviewOptions::default()
    };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "starter_offers.propose").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Name(name.clone())).await?;
    let submission = match propose_over(ctx, LockedTransaction { tx, locked }, &change, options).await {
        Ok(submission) => Some(submission.id),
        // No decision is needed: the skill already has this text, the text was decided before, or the merged text is
        // invalid.
        Err(Error::Conflict { .. } | Error::Invalid(_)) => None,
        // The user has too many pending submissions. A later run offers the text again.
        Err(Error::Quota(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    note(ctx, &name, &newer_digest, submission).await?;
    Ok(submission)
}

async fn note(ctx: &Ctx, name: &str, newer: &[u8], submission: Option<SubmissionId>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "starter_offers.note").await?;
    starter_offers::note(&mut tx, StarterOffer { name, newer, submission, submitter: STARTERS, now: ctx.now() });
    tx.commit().await
}

/// Returns the change to offer, with its checks. If both sides changed the same lines, the change is the newer text,
/// with a check that requires a decision. Returns `None` if the newer text is not a valid skill.
async fn merge(ctx: &Ctx, outdated: Outdated) -> Result<Option<(Offer, Vec<Check>)>> {
    let limits = ctx.app.limits.with_unbounded_body();
    compute(move || {
        let name = SkillName::parse(&outdated.name)?;
        let merged = diff::merge(&outdated.base, &outdated.own, &outdated.newer).ok();
        // A merged text can have an invalid frontmatter.
        let merged = merged.and_then(|text| SkillDocument::parse_named(&text, &limits).ok());
        let base = outdated.own_digest;
        Ok(match merged {
            Some(document) => Some((Offer { name, base, document, derived: true }, Vec::new())),
            None => SkillDocument::parse_named(&outdated.newer, &limits).ok().map(|document| {
                let step = Check::held(
                    CheckStep::Merge,
                    "the newer starter and the changes made here affect the same lines: approve it with take, \
                        'mine' or 'theirs', or save a merged text",
                );
                (Offer { name, base, document, derived: false }, vec![step])
            }),
        })
    })
    .await
}

/// Returns the user's text with those changes of the newer starter that conflict with none of the user's. Returns
/// `None` if that is the user's text.
///
/// # Errors
/// `Conflict` `merge-conflict` if the merged text is no valid skill.
pub(super) async fn keep_own(ctx: &Ctx, tx: &mut WriteTx, offered: OfferedText<'_>) -> Result<Option<String>> {
    let OfferedText { name, own, newer } = offered;
    let Some(base) = starter_offers::find_given(tx, name).await? else { return Ok(None) };
    let limits = ctx.app.limits.with_unbounded_body();
    let (own, newer) = (own.to_owned(), newer.to_owned());
    compute(move || {
        let merged = diff::merge(&base, &own, &newer).unwrap_or_else(|conflict| conflict.ours);
        if merged == own {
            return Ok(None);
        }
        if SkillDocument::parse_named(&merged, &limits).is_err() {
            let detail = "the user's text with the other changes is no valid skill: approve with {\"take\": \"theirs\"}, or \
                          save a merged text and reject this";
            return Err(Error::Conflict { code: "merge-conflict", detail: detail.to_owned() });
        }
        Ok(Some(merged))
    })
    .await
}

/// The texts of an offer with a conflict.
pub(super) struct OfferedText<'a> {
    pub(super) name: &'a str,
    /// SKILL.md of the user.
    pub(super) own: &'a str,
    /// SKILL.md of the newer starter.
    pub(super) newer: &'a str,
}

/// Returns the merge of both texts for the reviewer, with conflict markers.
pub(super) fn show_conflict(base: &str, own: &str, newer: &str) -> String {
    diff::merge(base, own, newer).unwrap_or_else(|conflict| conflict.marked)
}

/// A text that is offered for a skill.
struct Offer {
    name: SkillName,
    /// SHA-256 of the SKILL.md that the text is based on.
    base: Vec<u8>,
    document: SkillDocument,
    /// Whether the text contains text from the user, and so inherits the taint of the user's skill.
    derived: bool,
}

impl SkillChange for Offer {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let Some(current) = current else { return Ok(ProposedChange::Keep) };
        if manifest::digest(current.skill.document.as_bytes()).as_slice() != self.base {
            // The error makes the job run again.
            return Err(Error::Unavailable("the skill was changed during the merge".into()));
        }
        let draft = Draft::of(ChangeKind::Merge, current, self.document.clone())?;
        Ok(ProposedChange::Write(Box::new(Draft { derived: self.derived, ..draft })))
    }

    fn source(&self, _: &Ctx) -> Source {
        Source::Starter
    }

    fn is_bulk(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
