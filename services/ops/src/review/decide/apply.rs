//! Applies an approved submission: writes or deletes the skill exactly as shown to the reviewer.

use knowhow_domain::{Error, Result, SkillDocument, SkillName, SubmissionKind};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::Undecided;
use knowhow_store::skills::Locked;

use super::stale;
use crate::Ctx;
use crate::change::draft::{Base, Draft, Reviewed};
use crate::change::{ChangeResult, Successor};
use crate::skills::delete::{SkillToDelete, archive};

/// An approved submission, with the current state of its skill.
pub(super) struct Approved<'a> {
    pub(super) waiting: &'a Undecided,
    pub(super) locked: Option<Locked>,
    /// Whether a reviewer approved the submission. False if the checks alone approved it.
    pub(super) by_person: bool,
    /// The text to write instead of the proposed one, which the user's text is a part of.
    pub(super) instead: Option<String>,
}

/// Applies an approved submission. Returns `None` if it deleted the skill.
pub(super) async fn apply(ctx: &Ctx, tx: &mut WriteTx, approved: Approved<'_>) -> Result<Option<ChangeResult>> {
    let Approved { waiting, locked, by_person, instead } = approved;
    if waiting.submission.kind == SubmissionKind::Delete {
        let locked = locked.ok_or_else(|| stale("the skill"))?;
        let successor = waiting.successor.clone().map(|(id, name)| Successor { id, name });
        let deletion = SkillToDelete { skill: &locked.skill, successor: successor.as_ref(), is_reviewed: false };
        archive(ctx, tx, deletion).await?;
        return Ok(None);
    }
    let proposed = instead.as_deref().or(waiting.document.as_deref());
    let raw = proposed.ok_or_else(|| Error::internal("a submission without its text"))?;
    // The pending text was valid under the limits of its time, so the length of its body is not limited.
    let limits = ctx.app.limits.with_unbounded_body();
    let document = SkillDocument::parse_named(raw, &limits)?;
    let author = waiting.submission.author.clone();
    let draft = Draft {
        resources: waiting.resources.clone(),
        new_files: waiting.files.clone(),
        pinned: waiting.pinned,
        request_digest: waiting.request_digest.as_deref().and_then(|digest| digest.try_into().ok()),
        derived: waiting.derived || instead.is_some(),
        reviewed: Some(Reviewed {
            author,
            session: waiting.submission.session.clone(),
            checks: waiting.submission.checks.clone(),
            by_person,
        }),
        ..Draft::new(waiting.submission.kind.change(), SkillName::parse(&waiting.submission.skill)?, document)
    };
    let source = waiting.source;
    draft.write(ctx, tx, Base { locked, source, is_bulk: false, now: ctx.now(), expected: None }).await.map(Some)
}
