//! Handles failed attempts: logs the failure, stores a message for callers in the job's row, and prevents further
//! attempts of a dead job.

use std::fmt::{Debug, Formatter};

use graphile_worker::{DbExecutor, DbValue, WorkerContext};
use knowhow_domain::{Error, TenantId, UserId};
use tracing::field::display;

use super::JobError;

/// Returns whether a job with this failure is not retried.
pub(super) fn is_dead(ctx: &WorkerContext, failure: &JobError) -> bool {
    !matches!(failure, JobError::Retry(_)) || *ctx.job().attempts() >= *ctx.job().max_attempts()
}

/// Logs a failure, ends the job if it is permanent, and returns the message for its row.
pub(super) async fn settle(
    ctx: &WorkerContext,
    owner: Option<(TenantId, UserId)>,
    failure: JobError,
) -> FailureMessage {
    let (job, last) = (ctx.job(), !matches!(failure, JobError::Retry(_)));
    let dead = is_dead(ctx, &failure);
    let is_refused = matches!(failure, JobError::Refused);
    let error = match failure {
        JobError::Retry(error) | JobError::Permanent(error) | JobError::Suspended { error, .. } => error,
        JobError::Refused => Error::Conflict {
            code: "job-not-sealed",
            detail: "the job was rejected: its seal is invalid, so it was not enqueued by this service".into(),
        },
    };
    let (id, task, attempt) = (*job.id(), job.task_identifier().as_str(), *job.attempts());
    let (tenant_id, user_id) = (owner.map(|(t, _)| display(t.0)), owner.map(|(_, u)| display(u.0)));
    match &error {
        Error::Internal(cause) => {
            tracing::error!(job = id, task, attempt, dead, tenant_id, user_id, error = %cause, "a job failed");
        }
        _ => tracing::warn!(job = id, task, attempt, dead, tenant_id, user_id, %error, "a job failed"),
    }
    if last && let Err(error) = give_up(ctx, is_refused).await {
        tracing::warn!(job = id, task, %error, "a job could not be ended; it will be retried");
    }
    FailureMessage::of(id, &error)
}

/// Ends a job. A rejected job without a key gets a key, because jobs without a key count as replaced and are hidden.
async fn give_up(ctx: &WorkerContext, is_refused: bool) -> Result<u64, graphile_worker::DbError> {
    let sql = "-- task.give_up
        update graphile_worker._private_jobs
        set max_attempts = attempts, key = case when $3 = 1 then coalesce(key, 'refused:' || id) else key end
        where id = $1 and locked_by = $2";
    let params = vec![
        DbValue::I64(*ctx.job().id()),
        DbValue::Text(ctx.worker_id().to_owned()),
        DbValue::I32(i32::from(is_refused)),
    ];
    ctx.database().execute(sql, params.into()).await
}

/// Message that is stored in the row of a failed job for callers. It never contains a cause, which may quote SQL or a
/// secret.
pub(super) struct FailureMessage(pub(super) String);

impl FailureMessage {
    pub(super) fn of(id: i64, error: &Error) -> Self {
        match error {
            Error::Internal(_) => Self(format!("internal error; see the log for job {id}")),
            // The library stores the message in quotation marks.
            error => Self(error.to_string().replace(['"', '\\'], "'").replace(char::is_control, " ")),
        }
    }
}

impl Debug for FailureMessage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
