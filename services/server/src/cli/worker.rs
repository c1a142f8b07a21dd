//! `knowhow worker`, and the worker within `knowhow serve`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use knowhow_ops::{App, jobs};
use knowhow_store::queue;
use tokio::signal::unix::{SignalKind, signal};

use super::{serve, shell};
use crate::config::Config;
use crate::telemetry;

/// Works until SIGTERM or SIGINT, then finishes what is in hand or gives it back.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    telemetry::init(config)?;
    let app = App { models: serve::open_models(config)?, ..shell::app(config)? };
    serve::require_walls(&app.db).await?;
    work(config, &app).await?;
    app.db.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Works on jobs until the process is told to stop.
pub(super) async fn work(config: &Config, app: &App) -> Result<()> {
    let worker = config.worker()?;
    let mut stopped = [SignalKind::terminate(), SignalKind::interrupt()]
        .map(signal)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .context("cannot wait for signals")?;
    let stop = async move {
        futures_util::future::select_all(stopped.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    };
    tracing::info!(concurrency = worker.concurrency, "working on jobs");
    queue::work(&app.db, &worker, &jobs::tasks(app), stop).await?;
    tracing::info!("the worker stopped");
    Ok(())
}
