//! Creates parts of the service for commands that access the database directly instead of over HTTP.

use std::sync::Arc;

use anyhow::Result;
use aws_lc_rs::hmac;
use chrono::TimeDelta;
use knowhow_domain::{Clock, Limits, SystemClock};
use knowhow_ops::{App, Webhooks};
use knowhow_store::{Database, Gate, GateConfig, GateState, OperatorIssuer};

use crate::config::Config;

/// Creates the state for authentication from the settings.
pub(super) fn gate(config: &Config, clock: Arc<dyn Clock>) -> Result<Arc<GateState>> {
    let secret_key = config.secret()?;
    let operator = operator(config, &secret_key);
    let gate = GateConfig {
        secret_key,
        previous_secret_key: config.previous_secret()?,
        audience: config.audience.clone(),
        operator: Some(operator),
        private_issuers: config.private_issuers,
    };
    Ok(Arc::new(GateState::new(gate, clock)?))
}

/// Returns the deployment's own token issuer. Its secret is derived from the master secret, unless it is configured.
pub(super) fn operator(config: &Config, secret_key: &[u8]) -> OperatorIssuer {
    let secret = if config.operator_secret.is_empty() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret_key);
        hmac::sign(&key, b"knowhow/v1/operator-issuer").as_ref().to_vec()
    } else {
        config.operator_secret.as_bytes().to_vec()
    };
    OperatorIssuer { iss: config.operator_issuer.clone(), secret }
}

/// Creates the application with its own connections and without models.
pub(super) fn app(config: &Config) -> Result<App> {
    app_over(config, Database::open(&config.database()?)?)
}

/// Creates the application with these connections and without models.
pub(super) fn app_over(config: &Config, db: Database) -> Result<App> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let gate = Gate::new(db.clone(), gate(config, clock.clone())?);
    let limits = Arc::new(Limits { body_bytes: config.skill_body_bytes });
    Ok(App {
        db,
        replica: None,
        gate,
        clock,
        limits,
        models: Arc::default(),
        admission: Arc::default(),
        catalogues: Arc::new(config.catalogues()),
        library: Arc::default(),
        at_once: Arc::default(),
        short_caches: Arc::default(),
        readiness: Arc::default(),
        webhooks: Arc::new(Webhooks::new(config.private_webhooks)?),
        snapshot_lifetime: TimeDelta::minutes(config.snapshot_minutes.into()),
    })
}
