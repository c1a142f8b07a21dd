//! Kinds of jobs as the floor above defines them, and one job as a worker has claimed it.

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

use self::failed::{Told, is_dead, settle};
use super::share::{Share, is_bulk};
use crate::error::says_moved;

/// A kind of job. `run` may be called again for a job that was done already: what it does, it does once.
pub trait JobKind: Send + Sync + 'static {
    /// The name in the queue.
    const TASK: &'static str;

    /// Does one job. No transaction stays open while a model is asked.
    fn run(&self, claimed: Claimed) -> impl Future<Output = Result<(), JobError>> + Send;
}

/// Why a job was not done.
#[derive(Debug)]
pub enum JobError {
    /// Worth another try, later each time.
    Retry(Error),
    /// Another try would end the same; the job is dead at once.
    Permanent(Error),
    /// The row in the queue does not carry the database's seal: somebody else wrote it. It is dead at once, and shown.
    Refused,
    /// The tenant or the user is suspended, or the tenant is being moved. It waits, and this was no attempt.
    Suspended {
        /// Who has to wait, and why.
        error: Error,
        /// For how long by now.
        lasted: TimeDelta,
    },
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        // It was at work when its tenant was marked: it goes along with it, and this was no attempt.
        if says_moved(&error) { Self::Suspended { error, lasted: TimeDelta::zero() } } else { Self::Retry(error) }
    }
}

/// A job that this process has claimed. Made here alone, from the claimed row.
pub struct Claimed {
    task: &'static str,
    payload: Value,
    is_bulk: bool,
}

impl Claimed {
    /// The name of its task.
    pub fn task(&self) -> &'static str {
        self.task
    }

    /// Whether nobody waits for it.
    pub fn is_bulk(&self) -> bool {
        self.is_bulk
    }

    /// Whose it is; `None` for a job of the system.
    pub(crate) fn owner(&self) -> Option<(TenantId, UserId)> {
        let id = |name| self.payload.get(name)?.as_str()?.parse::<Uuid>().ok();
        Some((TenantId(id("tenant_id")?), UserId(id("user_id")?)))
    }

    pub(crate) fn payload(&self) -> &Value {
        &self.payload
    }

    /// What it is about.
    ///
    /// # Errors
    /// `Permanent` where this build does not understand the payload.
    pub fn ids<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        T::deserialize(&self.payload).map_err(|e| JobError::Permanent(Error::internal(e)))
    }
}

/// A kind of job with what it needs, ready to be worked on.
#[derive(Clone)]
pub struct Task {
    pub(super) name: &'static str,
    pub(super) schedule: Option<&'static str>,
    define: Arc<dyn Fn(WorkerOptions) -> WorkerOptions + Send + Sync>,
}

impl Task {
    /// Jobs that somebody enqueues.
    pub fn new<J: JobKind>(job: J) -> Self {
        let job = Running(Arc::new(job));
        let define = move |options: WorkerOptions| options.define_job::<Handler<J>>().add_extension(job.clone());
        Self { name: J::TASK, schedule: None, define: Arc::new(define) }
    }

    /// A job of the system that comes by the clock, once for all workers together. `schedule` has the five fields of a
    /// crontab, in UTC.
    pub fn scheduled<J: JobKind>(job: J, schedule: &'static str) -> Self {
        Self { schedule: Some(schedule), ..Self::new(job) }
    }

    pub(super) fn define(&self, options: WorkerOptions) -> WorkerOptions {
        (self.define)(options)
    }
}

struct Running<J>(Arc<J>);

impl<J> Clone for Running<J> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<J: JobKind> Debug for Running<J> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(J::TASK)
    }
}

/// Rung after each job: where there was one, there may be another.
#[derive(Debug, Clone)]
pub(super) struct Bell(pub(super) Arc<Notify>);

/// A job's payload in the library's terms. It is read by the job itself, which sees the whole row.
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
        let Some(Running(job)) = ctx.get_ext::<Running<J>>().cloned() else {
            return Err(Told("the task has no job".into()));
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
        if let Some(Bell(bell)) = ctx.get_ext::<Bell>() {
            bell.notify_one();
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

/// Between two looks whether somebody is suspended still. Whoever lifts it calls the jobs at once (`suspensions.wake`); this finds
/// what was being put back at that moment.
const SOONEST: TimeDelta = TimeDelta::minutes(1);
const LATEST: TimeDelta = TimeDelta::hours(1);

/// Puts a job of somebody who is suspended back for as long again as that has lasted. The library adds a moment, and ends its hold.
async fn put_back(ctx: &WorkerContext, error: &Error, lasted: TimeDelta) -> Told {
    let sql = "-- task.put_back
        update graphile_worker._private_jobs
        set attempts = greatest(attempts - 1, 0), run_at = now() + $3 * interval '1 second'
        where id = $1 and locked_by = $2";
    let seconds = i32::try_from(lasted.clamp(SOONEST, LATEST).num_seconds()).unwrap_or(i32::MAX);
    let id = *ctx.job().id();
    let params = vec![DbValue::I64(id), DbValue::Text(ctx.worker_id().to_owned()), DbValue::I32(seconds)];
    if let Err(error) = ctx.database().execute(sql, params.into()).await {
        tracing::warn!(job = id, %error, "a job could not be put back; it counts as an attempt");
    }
    Told::of(id, error)
}
