//! Working on jobs: claims, retries, the clock, and what becomes of the jobs of a worker that died.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use graphile_worker::{
    Database as QueueDatabase, FailureReason, JobRecovery, JobRecoveryResult, Worker, WorkerOptions,
    WorkerRecoveryConfig,
};
use knowhow_domain::{Error, Result};
use sqlx::PgPool;
use tokio::sync::Notify;

use super::MAX_ATTEMPTS;
use super::driver::RoleDriver;
use super::share::Share;
use super::task::{Bell, Task};
use crate::database::{connect_options, pool};
use crate::tx::DatabaseRole;
use crate::{Database, DatabaseConfig, walls};

/// Claims, heartbeats and the clock are short statements; jobs have connections of their own.
const CONNECTIONS: u32 = 4;

/// How long a new job waits at most where the worker is idle. Each slot asks once: a few index probes a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

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
    let pool = pool(&config.database, connect_options(&config.database)?, CONNECTIONS);
    let stop = stop.boxed().shared();
    loop {
        match run(db, config, &pool, tasks, stop.clone()).await {
            Ok(()) => break,
            Err(error) => tracing::warn!(%error, "the worker lost its queue; it tries again"),
        }
        if let Either::Right(_) = select(Box::pin(tokio::time::sleep(RETRY_AFTER)), stop.clone()).await {
            break;
        }
    }
    pool.close().await;
    Ok(())
}

/// Works until `stop`, or until the database is out of reach.
async fn run(
    db: &Database,
    config: &WorkerConfig,
    pool: &PgPool,
    tasks: &[Task],
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    // The worker may not make tables: where they are missing it says so instead of trying.
    if let Some(problem) = walls::inspect_migrations(db).await? {
        return Err(Error::Unavailable(problem));
    }
    let bell = Arc::new(Notify::new());
    let timeout_ms = config.database.statement_timeout.as_millis();
    let driver = RoleDriver::new(pool.clone(), DatabaseRole::Queue, timeout_ms, bell.clone());
    let id = driver.worker();
    let options =
        options(config, driver, tasks)?.add_extension(Bell(bell)).add_extension(Share::of(tasks)).shutdown_signal(stop);
    let worker = options.init().await.map_err(out_of_reach)?;
    id.get_or_init(|| worker.worker_id().clone());
    worker.run().await.map_err(out_of_reach)
}

fn options(config: &WorkerConfig, driver: RoleDriver, tasks: &[Task]) -> Result<WorkerOptions> {
    let mut options = Worker::options()
        .database(QueueDatabase::new(driver))
        .concurrency(config.concurrency)
        .poll_interval(LOOK_EVERY)
        .worker_recovery(recovery(config.recovery))
        .on(JobRecovery, async |interrupted| count_crash(interrupted.reason))
        .listen_os_shutdown_signals(false)
        .shutdown_grace_period(config.shutdown)
        .shutdown_interrupted_job_retry_delay(Duration::ZERO);
    for task in tasks {
        options = task.define(options);
        if let Some(schedule) = task.schedule {
            options = options.with_cron(crontab(task.name, schedule)).map_err(|e| Error::internal(e.to_string()))?;
        }
    }
    Ok(options)
}

/// The library's line: a tick that came while no worker ran is made up for within ten minutes, and a job that still waits
/// at the next tick is that tick's.
fn crontab(task: &str, schedule: &str) -> String {
    format!("{schedule} {task} ?fill=10m&max={MAX_ATTEMPTS}&job_key={task}")
}

/// Silence is measured in three heartbeats; with a look for the silent ones at every third of the time, the jobs of a
/// worker that was killed are back within one and a third of it.
fn recovery(after: Duration) -> WorkerRecoveryConfig {
    WorkerRecoveryConfig::default()
        .heartbeat_interval(after / 3)
        .sweep_interval(after / 3)
        .sweep_threshold(after)
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
