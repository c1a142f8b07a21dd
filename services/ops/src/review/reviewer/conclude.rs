//! Concludes what the model has read: the submission is let in, rejected, or left to a person.

use knowhow_domain::{Check, CheckOutcome, Error, Result, Source, SubmissionId, SubmissionState};
use knowhow_store::WriteTx;
use knowhow_store::submissions::{self, Decision, Undecided};

use super::is_to_be_read;
use crate::Ctx;
use crate::call::{Call, SessionRef};
use crate::review::decide::{Approval, let_in};

/// Writes the step down, and does what follows from it: lets in what nothing holds, rejects what is an attack of an agent's, and
/// leaves the rest to a person.
pub(super) async fn conclude(ctx: &Ctx, id: SubmissionId, check: Check) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "reviewer.conclude").await?;
    let waiting = submissions::read_undecided(&mut tx, id).await?;
    if !is_to_be_read(&waiting) {
        return Ok(());
    }
    let is_free = waiting.submission.state == SubmissionState::Checking && !waiting.submission.tainted;
    let is_agents = waiting.source == Source::Agent.as_str();
    let refuses = check.outcome == CheckOutcome::Refused && is_agents;
    if is_free && check.outcome == CheckOutcome::Passed {
        submissions::note_check(&mut tx, id, &check, false)?;
        let session = waiting.submission.session.as_deref().and_then(|session| SessionRef::parse(session).ok());
        let ctx = Ctx { call: Call { session, by_agent: is_agents, ..Call::default() }, ..ctx.clone() };
        let approval = Approval { by: None, comment: None, take: None };
        match let_in(&ctx, tx, &waiting, approval).await {
            // Its session was marked meanwhile.
            Err(Error::MustBeReviewed(_)) => leave_to_person(&ctx, id, &check).await,
            // The skill's bounds or quotas refuse it now; whoever approves it is told.
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
                comment: Some("the model that reads changes takes it for an attack; submit something else"),
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

/// Tells people of what waits for them from now on. Of what something else held, they were told when it came.
fn tell_if_new(tx: &mut WriteTx, waiting: &Undecided) {
    if waiting.submission.state == SubmissionState::Checking {
        submissions::tell_people(tx, waiting.submission.id);
    }
}
