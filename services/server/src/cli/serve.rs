//! `knowhow serve`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use futures_util::future::{join, select};
use knowhow_ops::{App, Models};
use knowhow_store::{Database, boot};
use tokio::sync::oneshot;

use super::database::explained;
use super::{shell, worker};
use crate::config::Config;
use crate::listen::listen;
use crate::telemetry;

/// Serves until SIGTERM or SIGINT, then finishes what is in flight. With a worker, this thread works on jobs too: requests
/// have threads of their own.
pub(super) fn run(config: &Config) -> Result<ExitCode> {
    telemetry::init(config)?;
    actix_web::rt::System::new().block_on(async {
        let app = App { models: open_models(config)?, ..shell::app(config)? };
        require_walls(config, &app.db).await?;
        let worker = config.with_worker.then(|| config.worker()).transpose()?;
        let listening = listen(config, app.gate.state().clone(), app.models.clone(), app.clock.clone())?;
        for address in &listening.addresses {
            tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "serving");
        }
        let (serving, ended) = oneshot::channel::<()>();
        let served = async move {
            let _serving = serving;
            listening.server.await
        };
        let working = async {
            match worker {
                // A signal ends both at once; a server that fails takes the worker along.
                Some(worker) => {
                    let stop = select(Box::pin(worker::told_to_stop()?), ended).map(drop);
                    worker::work(&worker, &app, stop).await
                }
                None => Ok(()),
            }
        };
        let (served, worked) = join(served, working).await;
        app.db.close().await;
        tracing::info!("stopped");
        served.context("the server failed")?;
        worked
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The models that are configured; the service works without them, and says so.
pub(super) fn open_models(config: &Config) -> Result<Arc<Models>> {
    let models = Models::open(config.models()?)?;
    match (models.problem(), &models.embedder) {
        (Some(problem), _) => {
            tracing::warn!(problem, "the embeddings model cannot be used: skills are found by words only")
        }
        (None, None) => tracing::warn!("no embeddings model is configured: skills are found by words only"),
        (None, Some(embedder)) => tracing::info!(model = embedder.model(), "embeddings"),
    }
    Ok(Arc::new(models))
}

/// Behind a wall with a hole it is better not to serve at all.
pub(super) async fn require_walls(config: &Config, db: &Database) -> Result<()> {
    let findings = match boot::inspect(db).await {
        Ok(findings) => findings,
        Err(error) => return Err(explained(config, error.into()).await),
    };
    if findings.is_empty() {
        return Ok(());
    }
    bail!("refusing to serve:\n  - {}", findings.join("\n  - "))
}
