//! Offers what undoing a run could not put back, as people have changed the same lines since: as a submission for each skill.

use knowhow_domain::dream::Undone;
use knowhow_domain::{ChangeKind, DreamId, Error, Result, SkillDocument, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, OpState, StoredOp};
use knowhow_store::skills::{self, Locked, SkillKey};

use crate::Ctx;
use crate::dream::apply::AUTHOR;
use crate::dream::journal::{self, Step};
use crate::review::{self, Asked};
use crate::skills::change::{Proposal, SkillChange, Target};
use crate::skills::draft::Draft;

/// What an earlier try left to be offered, as it was cut off behind its changes.
pub(super) async fn list_unoffered(tx: &mut WriteTx, ops: &[StoredOp]) -> Result<Vec<(i32, PutBefore)>> {
    let is_kept = |op: &&StoredOp| op.op.undo == Some(Undone::Kept) && op.op.undo_submission.is_none();
    let mut offers = Vec::new();
    for op in ops.iter().filter(is_kept) {
        let steps = journal::read(&op.journal)?;
        let [Step::Changed(changed)] = steps.as_slice() else { continue };
        if let Some(current) = skills::lock(tx, &SkillKey::Id(changed.skill)).await? {
            let name = SkillName::parse(&current.skill.name)?;
            offers.push((op.op.position, PutBefore { name, document: changed.before.clone() }));
        }
    }
    Ok(offers)
}

/// The text from before a run, for a skill whose lines were changed since.
pub(super) struct PutBefore {
    pub(super) name: SkillName,
    pub(super) document: String,
}

impl SkillChange for PutBefore {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let Some(current) = current else { return Ok(Proposal::Keep) };
        let limits = ctx.app.limits.with_unbounded_body();
        let document = SkillDocument::parse_named(&self.document, &limits)?;
        let draft = Draft::of(ChangeKind::Rollback, current, document)?;
        Ok(Proposal::Write(Box::new(Draft { derived: true, ..draft })))
    }

    fn source(&self, _: &Ctx) -> Source {
        Source::Dream
    }
}

/// Offers what could not be put back, as submissions that a person decides.
pub(super) async fn offer(ctx: &Ctx, run: DreamId, offers: Vec<(i32, PutBefore)>) -> Result<()> {
    let mut states = Vec::new();
    for (position, before) in offers {
        let reason =
            Some("the text from before a dream that was undone; the skill was changed in the same lines since");
        let asked = Asked { reason, submitter: Some(AUTHOR), waits: true, ..Asked::default() };
        match review::propose(ctx, &before, asked).await {
            Ok(submission) => {
                states.push(OpState { position, undo_submission: Some(submission.id.0), ..OpState::default() })
            }
            // It is so already, was rejected, or as many wait as can: asked again, it is tried again.
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
