//! Steps at the start of a server or worker.

use std::sync::Arc;

use anyhow::{Result, bail};
use knowhow_ops::Models;
use knowhow_store::deployment::boot;
use knowhow_store::{Database, HOME};

use super::database::explained;
use crate::config::Config;

/// Opens the configured models. If no embeddings model is usable, logs a warning, and the service runs without one.
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

/// Checks the isolation of tenants in each database, and fails if it is broken. If a database other than `home` cannot
/// be reached, that is only logged: tenants in other databases can be served, and the database may become reachable
/// again.
pub(super) async fn require_isolation(config: &Config, db: &Database) -> Result<()> {
    for at in db.each() {
        let findings = match boot::inspect(&at).await {
            Ok(findings) => findings,
            Err(error) if at.here() == HOME => return Err(explained(config, error.into()).await),
            Err(error) => {
                tracing::warn!(place = at.place_name(), %error, "a database is unreachable: its tenants are not \
                    served");
                continue;
            }
        };
        if !findings.is_empty() {
            let place = if at.here() == HOME { String::new() } else { format!(" at place '{}'", at.place_name()) };
            bail!("refusing to serve{place}: {}", findings.join("; "))
        }
    }
    Ok(())
}
