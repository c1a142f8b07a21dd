//! The command `knowhow worker`, and the worker in `knowhow serve`.

use std::process::ExitCode;

use actix_web::web::Data;
use anyhow::Result;
use futures_util::FutureExt;
use futures_util::future::try_join_all;
use knowhow_ops::{App, jobs};
use knowhow_store::jobs as job_queue;
use knowhow_store::jobs::WorkerConfig;

use super::heartbeat::Heartbeat;
use super::signals::Signals;
use super::startup::{open_models, require_isolation};
use super::{block_on, process, shell};
use crate::config::Config;
use crate::entry::Drain;
use crate::telemetry::{self, Telemetry};

/// Runs jobs until SIGTERM or SIGINT, then finishes the running jobs or returns them to the queue.
pub(super) fn run(config: &Config) -> Result<ExitCode> {
    let telemetry = telemetry::init(config)?;
    let worked = block_on(alone(config, &telemetry));
    telemetry.end();
    worked
}

async fn alone(config: &Config, telemetry: &Telemetry) -> Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let worker = config.worker()?;
    let app = App { models: open_models(config)?, ..shell::app(config)? };
    require_isolation(config, &app.db).await?;
    let drain = Data::<Drain>::default();
    let telling = telemetry.open(config, &app, drain.clone())?;
    let heartbeat = Heartbeat::start(&app.db, process::working(config)?);
    let stop = async move {
        signals.next().await;
        drain.begin();
    };
    let worked = work(&worker, &app, stop).await;
    heartbeat.stop().await;
    app.db.close().await;
    telling.stop().await;
    worked?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the jobs in one database. Each database has its own queue.
async fn work_at(config: &WorkerConfig, app: App, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    tracing::info!(concurrency = config.concurrency, place = app.db.place_name(), "running jobs");
    // Queues the skills that this release must index again immediately, instead of at the next minute.
    if let Err(error) = jobs::reconcile(&app).await {
        tracing::warn!(%error, "checking the graph at the start failed; it is checked again within a minute");
    }
    job_queue::work(&app.db, config, &jobs::tasks(&app), stop).await?;
    Ok(())
}

/// Runs jobs until `stop`. The configured concurrency applies to each database.
pub(super) async fn work(
    config: &WorkerConfig,
    app: &App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let stop = stop.boxed().shared();
    try_join_all(app.each().map(|at| work_at(config, at, stop.clone()))).await?;
    tracing::info!("the worker stopped");
    Ok(())
}
