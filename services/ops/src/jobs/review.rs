//! Lets a chat model review submissions. If no model reads a submission in time, people decide.

use knowhow_domain::SubmissionId;
use knowhow_domain::jobs::job::task;
use knowhow_store::across::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::{App, Ctx, Priority, review};

/// Maximum number of submissions per round.
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

/// Leaves submissions to people if no worker with a model has read them in time.
pub(super) struct ReviewOverdue;

impl SystemJob for ReviewOverdue {
    const TASK: &'static str = task::REVIEW_OVERDUE;
    const SCHEDULE: &'static str = "*/5 * * * *";

    async fn run(app: &App) -> JobResult {
        let left = due::leave_unread_to_people(&app.db, app.now(), MOST).await?;
        if left > 0 {
            tracing::warn!(left, "submissions were not read by a model in time; people have to decide");
        }
        Ok(())
    }
}
