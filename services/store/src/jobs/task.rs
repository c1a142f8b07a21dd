//! Kinds of jobs, which the crate `ops` defines, and a job claimed by a worker.

mod failed;

use std::fmt::{Debug, Formatter};
use std::future::Future;
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::FutureExt;
use graphile_worker::{DbExecutor, DbValue, IntoTaskHandlerResult, TaskHandler, WorkerContext, WorkerOptions};
use knowhow_domain::{Clock, Error, SystemClock, TenantId, UserId};
use knowhow_telemetry::metrics::{self, Tried};
use knowhow_telemetry::trace::{Parent, Whole};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use tokio::sync::Notify;
use uuid::Uuid;

use self::failed::{FailureMessage, is_dead, settle};
use super::share::{Share, is_bulk};
use crate::vault::error::says_moved;

/// A kind of job. `run` must be idempotent, because it may be called again for a finished job.
pub trait JobKind: Send + Sync + 'static {
    /// Name of the task in the queue.
    const TASK: &'static str;

    /// Runs one job. No transaction may stay open during a model call.
    fn run(&self, claimed: Claimed) -> impl Future<Output = Result<(), JobError>> + Send;
}

/// Reason why a job was not done.
#[derive(Debug)]
pub enum JobError {
    /// The job is retried after a delay, which grows with each attempt.
    Retry(Error),
    /// A retry would fail again. The job is dead at once.
    Permanent(Error),
    /// The row lacks the database's seal, so this service did not enqueue the job. The job is dead at once, and
    /// admins can see it.
    Refused,
    /// The tenant or user is suspended, or the tenant is being moved. The job is delayed without counting an attempt.
    Suspended {
        /// Reason for the delay.
        error: Error,
        /// Duration of the suspension so far.
        lasted: TimeDelta,
    },
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        // The tenant was marked as moving while the job ran. The job moves with the tenant, without counting an
        // attempt.
        if says_moved(&error) { Self::Suspended { error, lasted: TimeDelta::zero() } } else { Self::Retry(error) }
    }
}

/// A job claimed by this process. It is created only in this module, from the claimed row.
pub struct Claimed {
    task: &'static str,
    payload: Value,
    is_bulk: bool,
}

impl Claimed {
    /// Returns the name of the job's task.
    pub fn task(&self) -> &'static str {
        self.task
    }

    /// Returns whether the job is a bulk job.
    pub fn is_bulk(&self) -> bool {
        self.is_bulk
    }

    /// Returns the tenant and user of the job; `None` for a system job.
    pub(crate) fn owner(&self) -> Option<(TenantId, UserId)> {
        let id = |name| self.payload.get(name)?.as_str()?.parse::<Uuid>().ok();
        Some((TenantId(id("tenant_id")?), UserId(id("user_id")?)))
    }

    pub(crate) fn payload(&self) -> &Value {
        &self.payload
    }

    /// Returns the ids in the payload.
    ///
    /// # Errors
    /// `Permanent` if this build does not understand the payload.
    pub fn ids<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        T::deserialize(&self.payload).map_err(|e| JobError::Permanent(Error::internal(e)))
    }
}

/// A kind of job with the data it needs to run.
#[derive(Clone)]
pub struct Task {
    pub(super) name: &'static str,
    pub(super) schedule: Option<&'static str>,
    define: Arc<dyn Fn(WorkerOptions) -> WorkerOptions + Send + Sync>,
}

impl Task {
    /// Creates a task for enqueued jobs.
    pub fn new<J: JobKind>(job: J) -> Self {
        let job = SharedJob(Arc::new(job));
        let define = move |options: WorkerOptions| options.define_job::<Handler<J>>().add_extension(job.clone());
        Self { name: J::TASK, schedule: None, define: Arc::new(define) }
    }

    /// Creates a task for a scheduled system job, which runs once for all workers together. `schedule` has the five
    /// fields of a crontab, in UTC.
    pub fn scheduled<J: JobKind>(job: J, schedule: &'static str) -> Self {
        Self { schedule: Some(schedule), ..Self::new(job) }
    }

    pub(super) fn define(&self, options: WorkerOptions) -> WorkerOptions {
        (self.define)(options)
    }
}

struct SharedJob<J>(Arc<J>);

impl<J> Clone for SharedJob<J> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<J: JobKind> Debug for SharedJob<J> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(J::TASK)
    }
}

/// Notified after each job, because another one may be waiting.
#[derive(Debug, Clone)]
pub(super) struct JobDoneNotifier(pub(super) Arc<Notify>);

/// Adapter for the library. It does not deserialize the payload, because the job reads it from the whole row.
struct Handler<J>(PhantomData<fn() -> J>);

impl<J> Serialize for Handler<J> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de, J> Deserialize<'de> for Handler<J> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(PhantomData))
    }
}

impl<J: JobKind> TaskHandler for Handler<J> {
    const IDENTIFIER: &'static str = J::TASK;

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        let Some(SharedJob(job)) = ctx.get_ext::<SharedJob<J>>().cloned() else {
            return Err(FailureMessage("the task has no job".into()));
        };
        if let Some(share) = ctx.get_ext::<Share>() {
            share.count(&ctx).await;
        }
        let is_bulk = is_bulk(*ctx.job().priority());
        let claimed = Claimed { task: J::TASK, payload: ctx.payload().clone(), is_bulk };
        let owner = claimed.owner();
        metrics::job_begun(J::TASK, (SystemClock.now() - *ctx.job().run_at()).to_std().unwrap_or_default());
        let since = metrics::now();
        let cause = claimed.payload.get("trace").and_then(Value::as_str).and_then(Parent::read);
        let span = Whole::job(J::TASK, cause.as_ref());
        let done = Whole::within(span.as_ref(), AssertUnwindSafe(job.run(claimed)).catch_unwind()).await;
        if let Some(JobDoneNotifier(job_done)) = ctx.get_ext::<JobDoneNotifier>() {
            job_done.notify_one();
        }
        let done = done.unwrap_or_else(|_| Err(JobError::Retry(Error::internal("the job panicked"))));
        let outcome = match &done {
            Ok(()) => Tried::Done,
            Err(JobError::Suspended { .. }) => Tried::PutBack,
            Err(failure) if is_dead(&ctx, failure) => Tried::Dead,
            Err(_) => Tried::Retried,
        };
        since.tried(J::TASK, outcome);
        let settled = match done {
            Ok(()) => Ok(()),
            Err(JobError::Suspended { error, lasted }) => Err(put_back(&ctx, &error, lasted).await),
            Err(failure) => Err(Whole::within(span.as_ref(), settle(&ctx, owner, failure)).await),
        };
        if let Some(span) = span {
            span.tried(outcome);
        }
        settled
    }
}

/// Minimum delay of a suspended job. When a suspension ends, its jobs are scheduled at once (`suspensions.wake`).
const SOONEST: TimeDelta = TimeDelta::minutes(1);
/// Maximum delay of a suspended job. A job that is delayed just when the suspension ends waits at most this long.
const LATEST: TimeDelta = TimeDelta::hours(1);

/// Delays a suspended user's job. The delay is as long as the suspension has lasted, within the bounds. The library
/// adds a short time and unlocks the job.
async fn put_back(ctx: &WorkerContext, error: &Error, lasted: TimeDelta) -> FailureMessage {
    let sql = "-- task.put_back
        update graphile_worker._private_jobs
        set attempts = greatest(attempts - 1, 0), run_at = now() + $3 * interval '1 second'
        where id = $1 and locked_by = $2";
    let seconds = i32::try_from(lasted.clamp(SOONEST, LATEST).num_seconds()).unwrap_or(i32::MAX);
    let id = *ctx.job().id();
    let params = vec![DbValue::I64(id), DbValue::Text(ctx.worker_id().to_owned()), DbValue::I32(seconds)];
    if let Err(error) = ctx.database().execute(sql, params.into()).await {
        tracing::warn!(job = id, %error, "a job could not be delayed; it counts as an attempt");
    }
    FailureMessage::of(id, error)
}
