//! `knowhow worker`, and the worker within `knowhow serve`.

use std::process::ExitCode;

use anyhow::Result;
use knowhow_ops::{App, jobs};
use knowhow_store::queue::{self, WorkerConfig};

use super::signals::Signals;
use super::{serve, shell};
use crate::config::Config;
use crate::telemetry;

/// Works until SIGTERM or SIGINT, then finishes what is in hand or gives it back.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    let mut signals = Signals::listen()?;
    telemetry::init(config)?;
    let worker = config.worker()?;
    let app = App { models: serve::open_models(config)?, ..shell::app(config)? };
    serve::require_walls(config, &app.db).await?;
    let stop = async move {
        signals.next().await;
    };
    work(&worker, &app, stop).await?;
    app.db.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Works on jobs until `stop`.
pub(super) async fn work(
    config: &WorkerConfig,
    app: &App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    tracing::info!(concurrency = config.concurrency, "working on jobs");
    // What this version reads anew begins at once, not with the next minute.
    if let Err(error) = jobs::reconcile(app).await {
        tracing::warn!(%error, "the graph was not looked through at the start; it will be within a minute");
    }
    queue::work(&app.db, config, &jobs::tasks(app), stop).await?;
    tracing::info!("the worker stopped");
    Ok(())
}
