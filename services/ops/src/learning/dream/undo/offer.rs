//! Submits for review the texts that an undo could not restore, because the same lines were changed later.

use knowhow_domain::learning::dream::Undone;
use knowhow_domain::{ChangeKind, DreamId, Error, Result, SkillDocument, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, OpState, StoredOp};
use knowhow_store::skills::{self, Locked, SkillKey};

use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::hold::{self, ReviewOptions};
use crate::change::{ProposedChange, SkillChange, Target};
use crate::learning::dream::apply::AUTHOR;
use crate::learning::dream::journal::{self, JournalStep};

/// Lists the texts that still have to be offered, because an earlier undo was interrupted before it offered them.
pub(super) async fn list_unoffered(tx: &mut WriteTx, ops: &[StoredOp]) -> Result<Vec<(i32, RestoreBefore)>> {
    let is_kept = |op: &&StoredOp| op.op.undo == Some(Undone::Kept) && op.op.undo_submission.is_none();
    let mut offers = Vec::new();
    for op in ops.iter().filter(is_kept) {
        let steps = journal::read(&op.journal)?;
        let [JournalStep::Changed(changed)] = steps.as_slice() else { continue };
        if let Some(current) = skills::lock(tx, &SkillKey::Id(changed.skill)).await? {
            let name = SkillName::parse(&current.skill.name)?;
            offers.push((op.op.position, RestoreBefore { name, document: changed.before.clone() }));
        }
    }
    Ok(offers)
}

/// A skill's text from before a run. The undo could not restore it, because the same lines were changed later.
pub(super) struct RestoreBefore {
    pub(super) name: SkillName,
    pub(super) document: String,
}

impl SkillChange for RestoreBefore {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let Some(current) = current else { return Ok(ProposedChange::Keep) };
        let limits = ctx.app.limits.with_unbounded_body();
        let document = SkillDocument::parse_named(&self.document, &limits)?;
        let draft = Draft::of(ChangeKind::Rollback, current, document)?;
        Ok(ProposedChange::Write(Box::new(Draft { derived: true, ..draft })))
    }

    fn source(&self, _: &Ctx) -> Source {
        Source::Dream
    }
}

/// Submits for review the texts that could not be restored, and stores each submission's id with its operation.
pub(super) async fn offer(ctx: &Ctx, run: DreamId, offers: Vec<(i32, RestoreBefore)>) -> Result<()> {
    let mut states = Vec::new();
    for (position, before) in offers {
        let reason = Some("the text from before an undone dream; a later change touched the same lines");
        let options = ReviewOptions { reason, submitter: Some(AUTHOR), waits: true, ..ReviewOptions::default() };
        match hold::propose(ctx, &before, options).await {
            Ok(submission) => {
                states.push(OpState { position, undo_submission: Some(submission.id.0), ..OpState::default() })
            }
            // The text is restored already, was rejected, or too many submissions are pending. The next undo request
            // tries again.
            Err(Error::Conflict { .. } | Error::Quota(_) | Error::Invalid(_) | Error::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    if states.is_empty() {
        return Ok(());
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.offer").await?;
    dreams::put_ops(&mut tx, run, &states);
    tx.commit().await
}
