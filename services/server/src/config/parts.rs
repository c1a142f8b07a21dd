//! What each part of the service is given of the settings.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use knowhow_domain::Secret;
use knowhow_ops::recall::Catalogues;
use knowhow_store::queue::WorkerConfig;
use knowhow_store::{DatabaseConfig, Often, Replica};

use super::{Config, places};
use crate::entry::Defaults;

/// As a tenant's own settings bound it.
const MOST_REQUESTS_PER_SECOND: u32 = 1_000_000;

impl Config {
    /// What a worker needs.
    ///
    /// # Errors
    /// Where no database is named, or a number is zero.
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

    /// What the pools need.
    ///
    /// # Errors
    /// Where no database is named, or other places are not written as they must be.
    pub fn database(&self) -> Result<DatabaseConfig> {
        if self.database_url.is_empty() {
            bail!("set KNOWHOW_DATABASE_URL, e.g. postgres://knowhow_login:...@127.0.0.1:5432/knowhow");
        }
        Ok(DatabaseConfig {
            url: Secret::from(&*self.database_url),
            places: places::parse_others(&self.places)?,
            write_connections: self.write_connections,
            read_connections: self.read_connections,
            prepares_ahead: Often::default(),
            acquire_timeout: Duration::from_millis(self.acquire_timeout_ms),
            queue_length: self.queue_length,
            queue_wait: Duration::from_millis(self.queue_wait_ms),
            statement_timeout: Duration::from_millis(self.statement_timeout_ms),
        })
    }

    /// Threads that serve requests.
    ///
    /// # Errors
    /// Where the number of cores is asked for and not known.
    pub fn threads(&self) -> Result<usize> {
        Ok(if self.workers == 0 { std::thread::available_parallelism()?.get() } else { self.workers })
    }

    /// The replica, where one is named.
    ///
    /// # Errors
    /// Where its address is none, or no database is named.
    pub fn replica(&self) -> Result<Option<Replica>> {
        if self.replica_url.is_empty() {
            return Ok(None);
        }
        let replica = Replica::open(Secret::from(&*self.replica_url), &self.database()?);
        replica.map(Some).context("KNOWHOW_REPLICA_URL is of no use")
    }

    /// What callers may send whose tenants do not say.
    ///
    /// # Errors
    /// For more than [`MOST_REQUESTS_PER_SECOND`].
    pub fn rates(&self) -> Result<Defaults> {
        let set = [
            ("TENANT", self.tenant_requests_per_second),
            ("USER", self.user_requests_per_second),
            ("KEY", self.key_requests_per_second),
            ("ANONYMOUS", self.anonymous_requests_per_second),
        ];
        if let Some((of, _)) = set.into_iter().find(|(_, rate)| *rate > MOST_REQUESTS_PER_SECOND) {
            bail!("KNOWHOW_{of}_REQUESTS_PER_SECOND must be at most {MOST_REQUESTS_PER_SECOND}; 0 is any number");
        }
        Ok(Defaults {
            tenant: self.tenant_requests_per_second,
            user: self.user_requests_per_second,
            key: self.key_requests_per_second,
            address: self.anonymous_requests_per_second,
        })
    }

    /// What recall knows of users, nothing yet.
    pub fn catalogues(&self) -> Catalogues {
        Catalogues::new(self.catalogue_cache_mb * 1024 * 1024, self.catalogue_vectors)
    }

    /// The master secret's bytes.
    ///
    /// # Errors
    /// Where it is not at least 64 hex characters.
    pub fn secret(&self) -> Result<Vec<u8>> {
        let wrong = "KNOWHOW_SECRET_KEY must be at least 64 hex characters: openssl rand -hex 32";
        read_secret(&self.secret_key).context(wrong)
    }

    /// The master secret before, where one is set.
    ///
    /// # Errors
    /// Where it is not at least 64 hex characters, or the same as the current one.
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

/// The bytes of a secret in hex; `None` for fewer than 32.
fn read_secret(secret: &Secret) -> Option<Vec<u8>> {
    hex::decode(secret.as_bytes()).ok().filter(|bytes| bytes.len() >= 32)
}
