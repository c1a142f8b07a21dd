//! Newer starters for who has changed theirs: each is offered once, as a submission that merges both. Nothing is changed
//! unless somebody who may review says so.

use knowhow_domain::{
    ChangeKind, Check, CheckStep, Error, Result, SkillDocument, SkillName, Source, Submission, SubmissionId,
    SubmissionKind, diff, manifest,
};
use knowhow_store::WriteTx;
use knowhow_store::offers::{self, Offered, Outdated};
use knowhow_store::skills::{self, Locked, SkillKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::held;
use super::hold::{Asked, Locking, propose_over};
use super::owner::STARTERS;
use crate::skills::change::{Proposal, SkillChange, Target};
use crate::skills::draft::Draft;
use crate::{Ctx, compute};

/// What is taken where a newer starter and the user's changes do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// The user's text stays, and counts as made from the newer one.
    Mine,
    /// The newer text, as a new version; the user's is the one before.
    Theirs,
}

/// Whether a submission is an offer, and one that a person has to choose in.
pub(super) fn is_offer(submission: &Submission) -> bool {
    submission.kind == SubmissionKind::Merge && submission.submitter == STARTERS
}

/// Whether the texts of an offer do not fit together.
pub(super) fn has_conflict(submission: &Submission) -> bool {
    is_offer(submission) && submission.checks.iter().any(|check| check.step == CheckStep::Merge)
}

/// Offers the user merges of all starters that they have changed and that there is a newer text of. It may be run again:
/// what was offered is not offered anew.
///
/// # Errors
/// `Unavailable`; what was offered before stays offered.
pub(crate) async fn offer_merges(ctx: &Ctx) -> Result<()> {
    for outdated in offers::list_outdated(&ctx.app.db, &ctx.principal).await? {
        offer(ctx, outdated).await?;
    }
    Ok(())
}

async fn offer(ctx: &Ctx, outdated: Outdated) -> Result<()> {
    let (name, newer_digest) = (outdated.name.clone(), outdated.newer_digest.clone());
    let Some((change, checks)) = merge(ctx, outdated).await? else { return Ok(()) };
    let reason = match checks.is_empty() {
        true => "a newer text of this starter, merged with what was changed here",
        false => "a newer text of this starter; it and what was changed here do not fit together",
    };
    let asked = Asked { reason: Some(reason), checks, submitter: Some(STARTERS), waits: true, ..Asked::default() };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "offers.propose").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Name(name.clone())).await?;
    let submission = match propose_over(ctx, Locking { tx, locked }, &change, asked).await {
        Ok(submission) => Some(submission.id),
        // There is nothing to decide: it says so already, was decided, or is not to be taken.
        Err(Error::Conflict { .. } | Error::Invalid(_)) => None,
        // Others wait: the next release offers it.
        Err(Error::Quota(_)) => return Ok(()),
        Err(other) => return Err(other),
    };
    note(ctx, &name, &newer_digest, submission).await
}

async fn note(ctx: &Ctx, name: &str, newer: &[u8], submission: Option<SubmissionId>) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "offers.note").await?;
    offers::note(&mut tx, Offered { name, newer, submission, submitter: STARTERS, now: ctx.now() });
    tx.commit().await
}

/// The change to offer, with the step that holds it where both changed the same lines: the newer text then. `None` for a text
/// that is no skill any more.
async fn merge(ctx: &Ctx, outdated: Outdated) -> Result<Option<(Offer, Vec<Check>)>> {
    let limits = ctx.app.limits.with_unbounded_body();
    compute(move || {
        let name = SkillName::parse(&outdated.name)?;
        let merged = diff::merge(&outdated.base, &outdated.own, &outdated.newer).ok();
        // Lines of a frontmatter may merge into none.
        let merged = merged.and_then(|text| SkillDocument::parse_named(&text, &limits).ok());
        let base = outdated.own_digest;
        Ok(match merged {
            Some(document) => Some((Offer { name, base, document, derived: true }, Vec::new())),
            None => SkillDocument::parse_named(&outdated.newer, &limits).ok().map(|document| {
                let step = held(
                    CheckStep::Merge,
                    "the newer starter and the changes made here touch the same lines: approve it with take, 'mine' or \
                     'theirs', or save a text that joins both",
                );
                (Offer { name, base, document, derived: false }, vec![step])
            }),
        })
    })
    .await
}

/// Both texts with marks around what does not fit together, for whoever decides.
pub(super) fn show_conflict(base: &str, own: &str, newer: &str) -> String {
    diff::merge(base, own, newer).unwrap_or_else(|conflict| conflict.marked)
}

/// A text for the skill as it was read.
struct Offer {
    name: SkillName,
    /// The digest of the SKILL.md that it is made from.
    base: Vec<u8>,
    document: SkillDocument,
    /// Whether it has text of the user's, and so is as tainted.
    derived: bool,
}

impl SkillChange for Offer {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let Some(current) = current else { return Ok(Proposal::Keep) };
        if manifest::digest(current.skill.document.as_bytes()).as_slice() != self.base {
            // The job is run again.
            return Err(Error::Unavailable("the skill has changed while a merge of it was made".into()));
        }
        let draft = Draft::of(ChangeKind::Merge, current, self.document.clone())?;
        Ok(Proposal::Write(Box::new(Draft { derived: self.derived, ..draft })))
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
