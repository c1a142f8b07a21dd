//! Makes what was approved: the skill is written, or deleted, as it was shown.

use knowhow_domain::{Error, Result, SkillDocument, SkillName, Source, SubmissionKind};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use knowhow_store::submissions::Undecided;

use super::stale;
use crate::Ctx;
use crate::skills::change::{Changed, Successor};
use crate::skills::delete::{Going, archive};
use crate::skills::draft::{Base, Draft, Reviewed};

/// A submission that is approved, and what it is made over.
pub(super) struct Approved<'a> {
    pub(super) waiting: &'a Undecided,
    /// The skill as it is now.
    pub(super) locked: Option<Locked>,
    /// Whether a person says so, not the checks alone.
    pub(super) by_person: bool,
}

/// Makes what was approved. `None` where the skill is gone then.
pub(super) async fn apply(ctx: &Ctx, tx: &mut WriteTx, approved: Approved<'_>) -> Result<Option<Changed>> {
    let Approved { waiting, locked, by_person } = approved;
    if waiting.submission.kind == SubmissionKind::Delete {
        let locked = locked.ok_or_else(|| stale("the skill"))?;
        let successor = waiting.successor.clone().map(|(id, name)| Successor { id, name });
        let going = Going { skill: &locked.skill, successor: successor.as_ref(), is_reviewed: false };
        archive(ctx, tx, going).await?;
        return Ok(None);
    }
    let raw = waiting.document.as_deref().ok_or_else(|| Error::internal("a submission without its text"))?;
    // What waits has passed the limits of its time.
    let limits = ctx.app.limits.with_unbounded_body();
    let document = SkillDocument::parse_named(raw, &limits)?;
    let author = waiting.submission.author.clone();
    let draft = Draft {
        resources: waiting.resources.clone(),
        new_files: waiting.files.clone(),
        pinned: waiting.pinned,
        request_digest: waiting.request_digest.as_deref().and_then(|digest| digest.try_into().ok()),
        derived: waiting.derived,
        reviewed: Some(Reviewed {
            author,
            session: waiting.submission.session.clone(),
            checks: waiting.submission.checks.clone(),
            by_person,
        }),
        ..Draft::new(waiting.submission.kind.change(), SkillName::parse(&waiting.submission.skill)?, document)
    };
    let source = waiting.source.parse().unwrap_or(Source::Agent);
    draft.write(ctx, tx, Base { locked, source, is_bulk: false, now: ctx.now(), expected: None }).await.map(Some)
}
