//! Connections: the pool for writes and the pipelined door for hot reads. Both are opened lazily, by the thread that
//! uses them: a socket that another thread polls costs a wake-up at every answer.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod, Timeouts};
use knowhow_domain::{Error, Result};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Where Postgres is and how many connections each worker thread may hold.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// `postgres://` URL of the login role.
    pub url: String,
    /// Connections for writes, per worker thread. Durable writes wait for the disk, so more of them share one flush.
    pub write_connections: u32,
    /// Connections of the pipelined door, per worker thread.
    pub read_connections: usize,
    /// How long a request may wait for a connection before it is refused.
    pub acquire_timeout: Duration,
    /// Upper bound for one statement.
    pub statement_timeout: Duration,
}

/// The pools of one worker thread. Not a way to run a statement: that takes a [`crate::TenantTx`] or a read through
/// the door, both of which set the caller's context.
#[derive(Clone)]
pub struct Database {
    pub(crate) writes: sqlx::PgPool,
    pub(crate) reads: deadpool_postgres::Pool,
    pub(crate) statement_timeout_ms: u128,
}

impl Database {
    /// Prepares the pools; connects nothing yet.
    ///
    /// # Errors
    /// `Malformed` where the URL is not one.
    pub fn open(config: &DatabaseConfig) -> Result<Self> {
        let unreadable = |e: &dyn std::fmt::Display| Error::Malformed(format!("the database URL is not usable: {e}"));
        let options: PgConnectOptions = config.url.parse().map_err(|e: sqlx::Error| unreadable(&e))?;
        let writes = PgPoolOptions::new()
            .max_connections(config.write_connections)
            .acquire_timeout(config.acquire_timeout)
            .test_before_acquire(false)
            // A future dropped while `begin` is in flight would hand its open transaction to the next request.
            .after_release(|conn, _| {
                Box::pin(async move {
                    sqlx::Executor::execute(conn, "rollback").await?;
                    Ok(true)
                })
            })
            // That hook mostly finds nothing to roll back; without this the server would warn of it each time.
            .connect_lazy_with(options.application_name("knowhow").options([("client_min_messages", "error")]));
        let mut target: tokio_postgres::Config = config.url.parse().map_err(|e| unreadable(&e))?;
        target.application_name("knowhow").connect_timeout(config.acquire_timeout);
        let manager = Manager::from_config(
            target,
            MakeRustlsConnect::new(tls()?),
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let wait = Some(config.acquire_timeout);
        let reads = deadpool_postgres::Pool::builder(manager)
            .max_size(config.read_connections)
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .build()
            .map_err(Error::internal)?;
        Ok(Self { writes, reads, statement_timeout_ms: config.statement_timeout.as_millis() })
    }

    /// Closes every connection; requests that still hold one finish first.
    pub async fn close(&self) {
        self.reads.close();
        self.writes.close().await;
    }
}

fn tls() -> Result<rustls::ClientConfig> {
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    let (certificates, _) = rustls_native_certs::load_native_certs()
        .certs
        .into_iter()
        .fold((0, 0), |(ok, bad), c| if roots.add(c).is_ok() { (ok + 1, bad) } else { (ok, bad + 1) });
    tracing::debug!(certificates, "certificate roots of the system");
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
