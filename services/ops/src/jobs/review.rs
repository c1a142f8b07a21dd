//! Has a chat model read what was submitted, and people where none has in time.

use knowhow_domain::SubmissionId;
use knowhow_domain::job::task;
use knowhow_store::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::{App, Ctx, Priority, review};

/// Submissions of one round.
const MOST: i64 = 5_000;

#[derive(Deserialize)]
pub(super) struct ReviewSubmission {
    submission_id: SubmissionId,
}

impl UserJob for ReviewSubmission {
    const TASK: &'static str = task::REVIEW_SUBMISSION;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        Ok(review::review_submission(ctx, self.submission_id, priority).await?)
    }
}

/// Leaves to people what no worker with a model has read.
pub(super) struct ReviewOverdue;

impl SystemJob for ReviewOverdue {
    const TASK: &'static str = task::REVIEW_OVERDUE;
    const SCHEDULE: &'static str = "*/5 * * * *";

    async fn run(app: &App) -> JobResult {
        let left = due::leave_unread_to_people(&app.db, app.now(), MOST).await?;
        if left > 0 {
            tracing::warn!(left, "submissions were read by no model in time; people look at them");
        }
        Ok(())
    }
}
