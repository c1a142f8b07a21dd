//! `knowhow worker`, and the worker within `knowhow serve`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use knowhow_ops::{App, jobs};
use knowhow_store::queue::{self, WorkerConfig};
use tokio::signal::unix::{SignalKind, signal};

use super::{serve, shell};
use crate::config::Config;
use crate::telemetry;

/// Works until SIGTERM or SIGINT, then finishes what is in hand or gives it back.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    telemetry::init(config)?;
    let worker = config.worker()?;
    let app = App { models: serve::open_models(config)?, ..shell::app(config)? };
    serve::require_walls(config, &app.db).await?;
    work(&worker, &app, told_to_stop()?).await?;
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

/// Ends with SIGTERM or SIGINT, from now on.
pub(super) fn told_to_stop() -> Result<impl Future<Output = ()> + Send + 'static> {
    let listen = |kind| signal(kind).context("cannot wait for signals");
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
