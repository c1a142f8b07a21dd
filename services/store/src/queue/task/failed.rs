//! Ends a try of a job that failed: logs it, says in the job's row what callers may know, and sees to it that one that is
//! given up is not tried again.

use std::fmt::{Debug, Formatter};

use graphile_worker::{DbExecutor, DbValue, WorkerContext};
use knowhow_domain::{Error, TenantId, UserId};
use tracing::field::display;

use super::JobError;

/// Whether a job that failed so is not tried again.
pub(super) fn is_dead(ctx: &WorkerContext, failure: &JobError) -> bool {
    !matches!(failure, JobError::Retry(_)) || *ctx.job().attempts() >= *ctx.job().max_attempts()
}

/// Logs a failure, sees to it that one for good is the last, and says what the job's row tells of it.
pub(super) async fn settle(ctx: &WorkerContext, owner: Option<(TenantId, UserId)>, failure: JobError) -> Told {
    let (job, last) = (ctx.job(), !matches!(failure, JobError::Retry(_)));
    let dead = is_dead(ctx, &failure);
    let is_refused = matches!(failure, JobError::Refused);
    let error = match failure {
        JobError::Retry(error) | JobError::Permanent(error) | JobError::Suspended { error, .. } => error,
        JobError::Refused => Error::Conflict {
            code: "job-not-sealed",
            detail: "the job was not run: it was put into the queue by other means than a change of this user".into(),
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
        tracing::warn!(job = id, task, %error, "a job could not be ended; it is tried again");
    }
    Told::of(id, &error)
}

/// A job that is refused gets a key where it has none: those without are hidden, as a later one has taken their place.
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

/// What the row of a failed job says: the sentence for callers, never a cause, which may quote SQL or a secret.
pub(super) struct Told(pub(super) String);

impl Told {
    pub(super) fn of(id: i64, error: &Error) -> Self {
        match error {
            Error::Internal(_) => Self(format!("internal error; the log says more of job {id}")),
            // The library prints it in quotation marks.
            error => Self(error.to_string().replace(['"', '\\'], "'").replace(char::is_control, " ")),
        }
    }
}

impl Debug for Told {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
