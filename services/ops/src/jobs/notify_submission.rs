//! Tells a tenant's webhook that a submission waits for a person.

use knowhow_domain::SubmissionId;
use knowhow_domain::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::{Ctx, Priority, webhooks};

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
