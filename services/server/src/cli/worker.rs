//! `knowhow worker`, and the worker within `knowhow serve`.

use std::process::ExitCode;

use actix_web::web::Data;
use anyhow::Result;
use futures_util::FutureExt;
use futures_util::future::try_join_all;
use knowhow_ops::{App, jobs};
use knowhow_store::queue::{self, WorkerConfig};

use super::heartbeat::Heartbeat;
use super::signals::Signals;
use super::{block_on, process, serve, shell};
use crate::config::Config;
use crate::entry::Drain;
use crate::telemetry::{self, Telemetry};

/// Works until SIGTERM or SIGINT, then finishes what is in hand or gives it back.
pub(super) fn run(config: &Config) -> Result<ExitCode> {
    let telemetry = telemetry::init(config)?;
    let worked = block_on(alone(config, &telemetry));
    telemetry.end();
    worked
}

async fn alone(config: &Config, telemetry: &Telemetry) -> Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let worker = config.worker()?;
    let app = App { models: serve::open_models(config)?, ..shell::app(config)? };
    serve::require_walls(config, &app.db).await?;
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

/// Works on the jobs of one place, which has a queue of its own.
async fn work_at(config: &WorkerConfig, app: App, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    tracing::info!(concurrency = config.concurrency, place = app.db.place_name(), "working on jobs");
    // What this version reads anew begins at once, not with the next minute.
    if let Err(error) = jobs::reconcile(&app).await {
        tracing::warn!(%error, "the graph was not looked through at the start; it will be within a minute");
    }
    queue::work(&app.db, config, &jobs::tasks(&app), stop).await?;
    Ok(())
}

/// Works on jobs until `stop`, at each place as many at once as are set.
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
