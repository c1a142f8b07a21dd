//! `knowhow serve`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use knowhow_domain::{Clock, SystemClock};
use knowhow_ops::Models;
use knowhow_store::{Database, walls};

use super::shell;
use crate::config::Config;
use crate::http::listen;
use crate::telemetry;

/// Between two rounds of clearing up.
const PRUNE_EVERY: Duration = Duration::from_secs(600);
const PRUNE_BATCH: i64 = 5000;

/// Serves until SIGTERM or SIGINT, then finishes what is in flight.
pub(super) fn run(config: &Config) -> Result<ExitCode> {
    telemetry::init(config)?;
    actix_web::rt::System::new().block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let models = open_models(config)?;
        let db = Database::open(&config.database()?)?;
        require_walls(&db).await?;
        let gate = shell::gate(config, clock.clone())?;
        let listening = listen(config, gate, models, clock.clone())?;
        for address in &listening.addresses {
            tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "serving");
        }
        let pruning = actix_web::rt::spawn(prune(db.clone(), clock));
        let served = listening.server.await;
        pruning.abort();
        db.close().await;
        tracing::info!("stopped");
        served.context("the server failed")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The models that are configured; the service works without them, and says so.
fn open_models(config: &Config) -> Result<Arc<Models>> {
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
async fn require_walls(db: &Database) -> Result<()> {
    let findings = walls::inspect(db).await.context("the database cannot be inspected")?;
    if findings.is_empty() {
        return Ok(());
    }
    bail!("refusing to serve:\n  - {}", findings.join("\n  - "))
}

/// Removes what is past its time. Several processes may do so at once; each row is removed once.
async fn prune(db: Database, clock: Arc<dyn Clock>) {
    loop {
        actix_web::rt::time::sleep(PRUNE_EVERY).await;
        match knowhow_store::prune(&db, clock.now(), PRUNE_BATCH).await {
            Ok(pruned) => tracing::info!(?pruned, "cleared up"),
            Err(error) => tracing::warn!(%error, "clearing up failed; it is tried again"),
        }
    }
}
