//! Converts the settings to the configuration of each part of the service.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use knowhow_domain::Secret;
use knowhow_ops::recall::Catalogues;
use knowhow_store::jobs::WorkerConfig;
use knowhow_store::{DatabaseConfig, FrequentStatements, Replica, UserConcurrency};

use super::{Config, places};
use crate::entry::Defaults;

/// Maximum default rate in requests per second. A tenant's settings have the same maximum.
const MOST_REQUESTS_PER_SECOND: u32 = 1_000_000;

impl Config {
    /// Returns the configuration of a worker.
    ///
    /// # Errors
    /// Fails if no database is configured or a number is zero.
    pub fn worker(&self) -> Result<WorkerConfig> {
        if self.worker_concurrency == 0 || self.worker_recovery_s == 0 {
            bail!("KNOWHOW_WORKER_CONCURRENCY and KNOWHOW_WORKER_RECOVERY_S must be at least 1");
        }
        Ok(WorkerConfig {
            database: self.database()?,
            concurrency: self.worker_concurrency,
            recovery: Duration::from_secs(self.worker_recovery_s),
            shutdown: Duration::from_secs(self.shutdown_timeout_s),
        })
    }

    /// Returns the configuration of the connection pools.
    ///
    /// # Errors
    /// Fails if no database is configured or the other databases cannot be parsed.
    pub fn database(&self) -> Result<DatabaseConfig> {
        if self.database_url.is_empty() {
            bail!("set KNOWHOW_DATABASE_URL, e.g. postgres://knowhow_login:...@127.0.0.1:5432/knowhow");
        }
        Ok(DatabaseConfig {
            url: Secret::from(&*self.database_url),
            places: places::parse_others(&self.places)?,
            write_connections: self.write_connections,
            read_connections: self.read_connections,
            prepares_ahead: FrequentStatements::default(),
            acquire_timeout: Duration::from_millis(self.acquire_timeout_ms),
            queue_length: self.queue_length,
            queue_wait: Duration::from_millis(self.queue_wait_ms),
            statement_timeout: Duration::from_millis(self.statement_timeout_ms),
        })
    }

    /// Returns the number of threads that serve requests.
    ///
    /// # Errors
    /// Fails if the setting is 0 and the number of cores cannot be determined.
    pub fn threads(&self) -> Result<usize> {
        Ok(if self.workers == 0 { std::thread::available_parallelism()?.get() } else { self.workers })
    }

    /// Opens the replica, if one is configured. It shares the limits per user with the primary.
    ///
    /// # Errors
    /// Fails if its URL is invalid or no database is configured.
    pub fn replica(&self, user_concurrency: &Arc<UserConcurrency>) -> Result<Option<Replica>> {
        if self.replica_url.is_empty() {
            return Ok(None);
        }
        let replica = Replica::open(Secret::from(&*self.replica_url), &self.database()?, user_concurrency);
        replica.map(Some).context("KNOWHOW_REPLICA_URL cannot be used")
    }

    /// Returns the default rate limits, which apply to tenants without their own.
    ///
    /// # Errors
    /// Fails for a rate above [`MOST_REQUESTS_PER_SECOND`].
    pub fn rates(&self) -> Result<Defaults> {
        let set = [
            ("TENANT", self.tenant_requests_per_second),
            ("USER", self.user_requests_per_second),
            ("KEY", self.key_requests_per_second),
            ("ANONYMOUS", self.anonymous_requests_per_second),
        ];
        if let Some((of, _)) = set.into_iter().find(|(_, rate)| *rate > MOST_REQUESTS_PER_SECOND) {
            bail!("KNOWHOW_{of}_REQUESTS_PER_SECOND must be at most {MOST_REQUESTS_PER_SECOND}; 0 means unlimited");
        }
        Ok(Defaults {
            tenant: self.tenant_requests_per_second,
            user: self.user_requests_per_second,
            key: self.key_requests_per_second,
            address: self.anonymous_requests_per_second,
        })
    }

    /// Creates an empty cache of catalogues.
    pub fn catalogues(&self) -> Catalogues {
        Catalogues::new(self.catalogue_cache_mb * 1024 * 1024, self.catalogue_vectors)
    }

    /// Decodes the master secret.
    ///
    /// # Errors
    /// Fails if it is shorter than 64 hex characters.
    pub fn secret(&self) -> Result<Vec<u8>> {
        let wrong = "KNOWHOW_SECRET_KEY must be at least 64 hex characters: openssl rand -hex 32";
        read_secret(&self.secret_key).context(wrong)
    }

    /// Decodes the previous master secret; `None` if it is not set.
    ///
    /// # Errors
    /// Fails if it is shorter than 64 hex characters, or if it equals the current secret.
    pub fn previous_secret(&self) -> Result<Option<Vec<u8>>> {
        if self.secret_key_previous.is_empty() {
            return Ok(None);
        }
        let wrong = "KNOWHOW_SECRET_KEY_PREVIOUS must be at least 64 hex characters";
        let previous = read_secret(&self.secret_key_previous).context(wrong)?;
        if previous == self.secret()? {
            bail!("KNOWHOW_SECRET_KEY_PREVIOUS is the same as KNOWHOW_SECRET_KEY");
        }
        Ok(Some(previous))
    }
}

/// Decodes a hex secret. Returns `None` if it is invalid or has fewer than 32 bytes.
fn read_secret(secret: &Secret) -> Option<Vec<u8>> {
    hex::decode(secret.as_bytes()).ok().filter(|bytes| bytes.len() >= 32)
}
