//! Notifies a tenant's webhook that a submission needs a decision.

use knowhow_domain::SubmissionId;
use knowhow_domain::jobs::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::platform::webhooks;
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct NotifySubmission {
    submission_id: SubmissionId,
}

impl UserJob for NotifySubmission {
    const TASK: &'static str = task::NOTIFY_SUBMISSION;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(webhooks::notify(ctx, self.submission_id).await?)
    }
}
