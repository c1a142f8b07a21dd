//! Applies the review model's opinion: approves the submission, rejects it, or leaves it to a person.

use knowhow_domain::{Check, CheckOutcome, Error, Result, Source, SubmissionId, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, Decision, Undecided};

use super::is_to_be_read;
use crate::Ctx;
use crate::context::call::{CallMetadata, SessionRef};
use crate::review::decide::{Approval, approve_if_current};

/// Stores the model's check and applies it. A change that no check holds is approved. An agent's change that the
/// model considers an attack is rejected. All other submissions are left to a person.
pub(super) async fn conclude(ctx: &Ctx, id: SubmissionId, check: Check) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "reviewer.conclude").await?;
    let waiting = submissions::read_undecided(&mut tx, id).await?;
    if !is_to_be_read(&waiting) {
        return Ok(());
    }
    let is_free = waiting.submission.state == SubmissionState::Checking && !waiting.submission.tainted;
    let is_agents = waiting.source == Source::Agent;
    let refuses = check.outcome == CheckOutcome::Refused && is_agents;
    if is_free && check.outcome == CheckOutcome::Passed {
        submissions::note_check(&mut tx, id, &check, false)?;
        let session = waiting.submission.session.as_deref().and_then(|session| SessionRef::parse(session).ok());
        let ctx = Ctx { call: CallMetadata { session, by_agent: is_agents, ..CallMetadata::default() }, ..ctx.clone() };
        let approval = Approval { by: None, comment: None, take: None };
        match approve_if_current(&ctx, tx, &waiting, approval).await {
            // The session was tainted after the change was submitted.
            Err(Error::MustBeReviewed(_)) => leave_to_person(&ctx, id, &check).await,
            // A limit or quota now rejects the change. A reviewer who approves it will receive the error.
            Err(Error::Invalid(_) | Error::Quota(_) | Error::TooLarge { .. }) => {
                leave_to_person(&ctx, id, &check).await
            }
            done => done.map(drop),
        }
    } else {
        submissions::note_check(&mut tx, id, &check, true)?;
        if refuses {
            let decision = Decision {
                state: SubmissionState::Rejected,
                decided_by: None,
                comment: Some("the review model considers it an attack; submit another change"),
                applied_version: None,
                now: ctx.now(),
            };
            submissions::close(&mut tx, id, decision);
        } else {
            tell_if_new(&mut tx, &waiting);
        }
        tx.commit().await
    }
}

async fn leave_to_person(ctx: &Ctx, id: SubmissionId, check: &Check) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "reviewer.leave").await?;
    let waiting = submissions::read_undecided(&mut tx, id).await?;
    if is_to_be_read(&waiting) {
        submissions::note_check(&mut tx, id, check, true)?;
        tell_if_new(&mut tx, &waiting);
    }
    tx.commit().await
}

/// Notifies reviewers of a submission that now waits for them. If another check already held the submission,
/// reviewers were notified when it was submitted.
fn tell_if_new(tx: &mut WriteTx, waiting: &Undecided) {
    if waiting.submission.state == SubmissionState::Checking {
        submissions::notify_reviewers(tx, waiting.submission.id);
    }
}
