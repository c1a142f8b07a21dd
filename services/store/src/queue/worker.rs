//! Working on jobs: claims, retries, the clock, and what becomes of the jobs of a worker that died.

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
use super::task::{Bell, Task};
use crate::connect::{Checked, CheckedPool};
use crate::vault::observed::note_queue;
use crate::vault::pools::{close, connection_url, pool};
use crate::vault::tx::DatabaseRole;
use crate::{Database, DatabaseConfig, boot};

/// Claims, heartbeats and the clock are short statements; jobs have connections of their own.
pub const CONNECTIONS: u32 = 4;

/// Longest wait of a new job for an idle worker. Each slot asks once in this time: a few index probes a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// As good as never.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Between two tries to reach the database.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How a process works on jobs.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Where the queue is.
    pub database: DatabaseConfig,
    /// Jobs at once.
    pub concurrency: usize,
    /// A worker that is silent for so long is taken for dead, and its jobs are given to others.
    pub recovery: Duration,
    /// At the end, jobs in hand have so long to finish; then they are given back.
    pub shutdown: Duration,
}

/// Works on the queue until `stop`, through every failure of the database.
///
/// # Errors
/// `Malformed` for a database URL that is not one.
pub async fn work(
    db: &Database,
    config: &WorkerConfig,
    tasks: &[Task],
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let url = config.database.url_of(db.here());
    let pool = pool(&config.database, Checked(connection_url(&config.database, url)?), CONNECTIONS as usize)?;
    note_queue(&pool);
    let crew = Crew { db, pool: &pool, tasks, config };
    let stop = stop.boxed().shared();
    loop {
        match crew.work(stop.clone()).await {
            Ok(()) => break,
            Err(error) => tracing::warn!(%error, "the worker lost its queue; it tries again"),
        }
        if let Either::Right(_) = select(Box::pin(tokio::time::sleep(RETRY_AFTER)), stop.clone()).await {
            break;
        }
    }
    close(&pool).await;
    Ok(())
}

/// What the two workers of a process share.
struct Crew<'a> {
    db: &'a Database,
    pool: &'a CheckedPool,
    tasks: &'a [Task],
    config: &'a WorkerConfig,
}

impl Crew<'_> {
    /// Works until `stop`, or until the database is out of reach.
    async fn work(&self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        // The worker may not make tables: where they are missing it says so instead of trying.
        if let Some(problem) = boot::inspect_migrations(self.db).await? {
            return Err(Error::Unavailable(problem));
        }
        // With more than one place, half of them take only jobs that persons cause: bulk takes minutes, and a person must
        // not wait for its end.
        let kept = self.config.concurrency / 2;
        let (broken, breaks) = oneshot::channel::<()>();
        let broken = Mutex::new(Some(broken));
        let stop = select(stop.boxed(), breaks).map(drop).shared();
        // Neither works on without the other.
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

    /// A worker with so many places, for jobs up to a priority or for all. The latter also sees to the clock, to the jobs of
    /// workers that died, and to the turn of bulk.
    async fn hire(
        &self,
        places: usize,
        last_priority: Option<i16>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Worker> {
        let bell = Arc::new(Notify::new());
        let driver = RoleDriver::new(self.pool.clone(), DatabaseRole::Queue, self.db.patience, bell.clone());
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
            .add_extension(Bell(bell))
            .shutdown_signal(stop);
        if last_priority.is_none() {
            options = options.add_extension(Share::of(self.tasks));
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

/// The library's line: a tick that came while no worker ran is made up for within ten minutes, and a job that still waits
/// at the next tick is that tick's.
fn crontab(task: &str, schedule: &str) -> String {
    format!("{schedule} {task} ?fill=10m&max={MAX_ATTEMPTS}&job_key={task}")
}

/// Silence is measured in three heartbeats; with a look for the silent ones at every third of the time, the jobs of a
/// worker that was killed are back within one and a third of it. Only who sees all jobs may look for them.
fn recovery(own: Duration, look_every: Duration, silent_for: Duration) -> WorkerRecoveryConfig {
    WorkerRecoveryConfig::default()
        .heartbeat_interval(own / 3)
        .sweep_interval(look_every)
        .sweep_threshold(silent_for)
        .recovery_delay(Duration::ZERO)
}

/// A job whose worker died has had its try: one that kills every worker must come to an end. A job that is given back at
/// the end of a worker has not.
fn count_crash(reason: FailureReason) -> JobRecoveryResult {
    match reason {
        FailureReason::WorkerCrashed => JobRecoveryResult::FailWithBackoff,
        _ => JobRecoveryResult::Default,
    }
}

fn out_of_reach(error: impl std::fmt::Display) -> Error {
    Error::Unavailable(error.to_string())
}
