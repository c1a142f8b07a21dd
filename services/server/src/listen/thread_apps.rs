//! Creates an `App` for each worker thread. Each has its own database connections; the remaining state is shared.

use std::sync::Arc;

use anyhow::Result;
use chrono::TimeDelta;
use knowhow_domain::{Clock, Limits};
use knowhow_ops::recall::Catalogues;
use knowhow_ops::skills::follow_up::AtOnce;
use knowhow_ops::{Admission, App, Library, Models, Readiness, ShortCaches, Webhooks};
use knowhow_store::{Database, DatabaseConfig, Gate, GateState, OFTEN_RUN, Replica, UserConcurrency};

use crate::config::Config;

/// The state that worker threads share. Each thread opens its own application with it.
#[derive(Clone)]
pub(super) struct ThreadApps {
    database: DatabaseConfig,
    user_concurrency: Arc<UserConcurrency>,
    replica: Option<Replica>,
    gate: Arc<GateState>,
    clock: Arc<dyn Clock>,
    limits: Arc<Limits>,
    models: Arc<Models>,
    admission: Arc<Admission>,
    catalogues: Arc<Catalogues>,
    library: Arc<Library>,
    at_once: Arc<AtOnce>,
    short_caches: Arc<ShortCaches>,
    readiness: Arc<Readiness>,
    webhooks: Arc<Webhooks>,
    snapshot_lifetime: TimeDelta,
}

impl ThreadApps {
    /// Creates the shared state. `main` provides the parts that the whole process shares.
    ///
    /// # Errors
    /// Fails if a setting is invalid.
    pub(super) fn of(config: &Config, main: &App) -> Result<Self> {
        Ok(Self {
            database: DatabaseConfig { prepares_ahead: OFTEN_RUN, ..config.database()? },
            user_concurrency: main.db.user_concurrency().clone(),
            replica: main.replica.clone(),
            gate: main.gate.state().clone(),
            clock: main.clock.clone(),
            limits: Arc::new(Limits { body_bytes: config.skill_body_bytes }),
            models: main.models.clone(),
            admission: main.admission.clone(),
            catalogues: Arc::new(config.catalogues()),
            library: Arc::default(),
            at_once: Arc::default(),
            short_caches: Arc::default(),
            readiness: Arc::default(),
            webhooks: Arc::new(Webhooks::new(config.private_webhooks)?),
            snapshot_lifetime: TimeDelta::minutes(config.snapshot_minutes.into()),
        })
    }

    /// Opens the application of the current thread, with its own database connections.
    pub(super) fn open(&self) -> App {
        #[expect(clippy::expect_used, reason = "the same configuration was opened once before the workers started")]
        let db = Database::open_sharing(&self.database, &self.user_concurrency)
            .expect("the database configuration was checked");
        #[expect(clippy::expect_used, reason = "the same")]
        let replica =
            self.replica.as_ref().map(|replica| replica.for_this_thread().expect("its configuration was checked"));
        let gate = Gate::new(db.clone(), self.gate.clone());
        App {
            db,
            replica,
            gate,
            clock: self.clock.clone(),
            limits: self.limits.clone(),
            models: self.models.clone(),
            admission: self.admission.clone(),
            catalogues: self.catalogues.clone(),
            library: self.library.clone(),
            at_once: self.at_once.clone(),
            short_caches: self.short_caches.clone(),
            readiness: self.readiness.clone(),
            webhooks: self.webhooks.clone(),
            snapshot_lifetime: self.snapshot_lifetime,
        }
    }
}
