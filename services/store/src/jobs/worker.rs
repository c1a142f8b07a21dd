//! Workers: claim jobs, retry them, run schedules, and recover the jobs of crashed workers.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, join, select};
use graphile_worker::{
    Database as QueueDatabase, FailureReason, JobRecovery, JobRecoveryResult, Worker, WorkerRecoveryConfig,
};
use knowhow_domain::{Error, Result};
use tokio::sync::{Notify, oneshot};

use super::MAX_ATTEMPTS;
use super::driver::RoleDriver;
use super::share::{LAST_OF_PERSONS, Share};
use super::task::{JobDoneNotifier, Task};
use crate::deployment::boot;
use crate::vault::connect::{CheckedConnector, CheckedPool};
use crate::vault::pool_metrics::note_queue;
use crate::vault::pools::{close, connection_url, pool};
use crate::vault::tx::DatabaseRole;
use crate::{Database, DatabaseConfig};

/// Number of connections that a process's workers use for claims, heartbeats and schedules, which are short statements.
/// Jobs use other connections.
pub const CONNECTIONS: u32 = 4;

/// Polling interval of idle slots, which is also the maximum delay of a new job. Each poll is one index lookup.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Interval for a check that never runs in practice.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Pause between two attempts to reach the database.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Configuration of a process's workers.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Database of the queue.
    pub database: DatabaseConfig,
    /// Number of concurrent jobs.
    pub concurrency: usize,
    /// Time without a heartbeat after which a worker counts as crashed. Its jobs are then released.
    pub recovery: Duration,
    /// Time that running jobs have to finish at shutdown. Unfinished jobs are then released.
    pub shutdown: Duration,
}

/// Runs jobs of the queue until `stop` completes. Restarts after database failures.
///
/// # Errors
/// `Malformed` for an invalid database URL.
pub async fn work(
    db: &Database,
    config: &WorkerConfig,
    tasks: &[Task],
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let url = config.database.url_of(db.here());
    let pool = pool(&config.database, CheckedConnector(connection_url(&config.database, url)?), CONNECTIONS as usize)?;
    note_queue(&pool);
    let state = WorkerState { db, pool: &pool, tasks, config };
    let stop = stop.boxed().shared();
    loop {
        match state.work(stop.clone()).await {
            Ok(()) => break,
            Err(error) => tracing::warn!(%error, "the worker lost its connection to the queue; retrying"),
        }
        if let Either::Right(_) = select(Box::pin(tokio::time::sleep(RETRY_AFTER)), stop.clone()).await {
            break;
        }
    }
    close(&pool).await;
    Ok(())
}

/// Data shared by the two workers of a process.
struct WorkerState<'a> {
    db: &'a Database,
    pool: &'a CheckedPool,
    tasks: &'a [Task],
    config: &'a WorkerConfig,
}

impl WorkerState<'_> {
    /// Runs jobs until `stop` completes, or until the database is unreachable.
    async fn work(&self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        // The worker must not create tables, so a missing table is an error.
        if let Some(problem) = boot::inspect_migrations(self.db).await? {
            return Err(Error::Unavailable(problem));
        }
        // Half of the slots, if there are several, run only people's jobs. A bulk job takes minutes, and a person
        // must not wait for it.
        let kept = self.config.concurrency / 2;
        let (broken, breaks) = oneshot::channel::<()>();
        let broken = Mutex::new(Some(broken));
        let stop = select(stop.boxed(), breaks).map(drop).shared();
        // If one worker ends, the other one must end too.
        let until_broken = async |work: Result<Worker>| {
            let outcome = async { work?.run().await.map_err(out_of_reach) }.await;
            drop(broken.lock().unwrap_or_else(PoisonError::into_inner).take());
            outcome
        };
        let anything = self.hire(self.config.concurrency - kept, None, stop.clone()).await;
        if kept == 0 {
            return until_broken(anything).await;
        }
        let persons = self.hire(kept, Some(LAST_OF_PERSONS), stop).await;
        let (anything, persons) = join(until_broken(anything), until_broken(persons)).await;
        anything.and(persons)
    }

    /// Starts a worker with `places` slots, for jobs up to a priority number or for all jobs. The worker for all jobs
    /// also runs schedules, recovers jobs of crashed workers, and promotes bulk jobs.
    async fn hire(
        &self,
        places: usize,
        last_priority: Option<i16>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Worker> {
        let job_done = Arc::new(Notify::new());
        let driver = RoleDriver::new(self.pool.clone(), DatabaseRole::Queue, self.db.patience, job_done.clone());
        let (driver, recovery) = match last_priority {
            Some(priority) => (driver.up_to(priority), recovery(self.config.recovery, NEVER, NEVER)),
            None => (driver, recovery(self.config.recovery, self.config.recovery / 3, self.config.recovery)),
        };
        let id = driver.worker();
        let mut options = Worker::options()
            .database(QueueDatabase::new(driver))
            .concurrency(places)
            .poll_interval(LOOK_EVERY)
            .worker_recovery(recovery)
            .on(JobRecovery, async |interrupted| count_crash(interrupted.reason))
            .listen_os_shutdown_signals(false)
            .shutdown_grace_period(self.config.shutdown)
            .shutdown_interrupted_job_retry_delay(Duration::ZERO)
            .add_extension(JobDoneNotifier(job_done))
            .shutdown_signal(stop);
        if last_priority.is_none() {
            options = options.add_extension(Share::of(self.tasks.iter().map(|task| task.name)));
        }
        for task in self.tasks {
            options = task.define(options);
            if let Some(schedule) = task.schedule.filter(|_| last_priority.is_none()) {
                options =
                    options.with_cron(crontab(task.name, schedule)).map_err(|e| Error::internal(e.to_string()))?;
            }
        }
        let worker = options.init().await.map_err(out_of_reach)?;
        id.get_or_init(|| worker.worker_id().clone());
        Ok(worker)
    }
}

/// Returns the library's crontab line for a task. If no worker ran at the scheduled time, the job is still enqueued
/// within ten minutes. If a job of the task is still waiting at the next time, no second one is enqueued.
fn crontab(task: &str, schedule: &str) -> String {
    format!("{schedule} {task} ?fill=10m&max={MAX_ATTEMPTS}&job_key={task}")
}

/// Configures heartbeats and recovery. There are three heartbeats and three checks per recovery time, so that jobs of
/// a killed worker are released within 4/3 of it. Only a worker that sees all jobs may recover them.
fn recovery(own: Duration, look_every: Duration, silent_for: Duration) -> WorkerRecoveryConfig {
    WorkerRecoveryConfig::default()
        .heartbeat_interval(own / 3)
        .sweep_interval(look_every)
        .sweep_threshold(silent_for)
        .recovery_delay(Duration::ZERO)
}

/// Counts an attempt for each job of a crashed worker. So a job that crashes every worker is not retried forever. No
/// attempt is counted for a job that was released at shutdown.
fn count_crash(reason: FailureReason) -> JobRecoveryResult {
    match reason {
        FailureReason::WorkerCrashed => JobRecoveryResult::FailWithBackoff,
        _ => JobRecoveryResult::Default,
    }
}

fn out_of_reach(error: impl std::fmt::Display) -> Error {
    Error::Unavailable(error.to_string())
}
