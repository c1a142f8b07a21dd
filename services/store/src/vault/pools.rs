//! The pools of one place. Each thread opens its own pools lazily: if another thread polled a socket, each answer
//! would cost a wake-up.

use std::sync::Arc;

use deadpool::Runtime;
use deadpool::managed::{Manager, Object, Pool, QueueMode, Timeouts};
use futures_util::future::join_all;
use knowhow_domain::{Error, Result, Secret};
use knowhow_telemetry::metrics;

use crate::vault::connect::{CheckedConnector, CheckedPool, Pipelined, check_files};
use crate::vault::connection_queue::{Bounds, ConnectionQueue};
use crate::vault::pool_metrics::{self, ObservedPool};
use crate::vault::rollback_guard::{LabelledPool, Patience};
use crate::vault::user_concurrency::UserConcurrency;
use crate::vault::warm_up::WarmPool;
use crate::{DatabaseConfig, DatabaseUrl};

/// Number of connections per worker thread for authentication: one for single statements, one for transactions.
pub(super) const LOOKUP_CONNECTIONS: u32 = 2;

/// Number of connections per worker thread for administration, jobs and exports.
pub(super) const RARE_CONNECTIONS: u32 = 2;

/// The pools of one worker thread for one place. Statements run only through [`crate::TenantTx`] or the pipeline, which
/// set the caller's context.
#[derive(Clone)]
pub struct Pools {
    /// Name of the place.
    pub(crate) name: Arc<str>,
    /// Pool for [`crate::TenantTx`] and scheduled work across tenants.
    pub(crate) writes: CheckedPool,
    /// Pool for transactions across tenants, so that authentication works even if all writers are busy.
    pub(crate) lookups: CheckedPool,
    /// Pool for single statements across tenants.
    pub(crate) quick_lookups: WarmPool,
    /// Pool for statements of one round trip.
    pub(crate) reads: WarmPool,
    /// Pool for [`crate::WriteTx`].
    pub(crate) changes: WarmPool,
    pub(crate) patience: Patience,
    pub(crate) queue: Arc<ConnectionQueue>,
    pub(crate) user_concurrency: Arc<UserConcurrency>,
}

impl Pools {
    /// Creates the pools without connecting.
    ///
    /// # Errors
    /// `Malformed` if the URL is invalid.
    pub(super) fn open(
        config: &DatabaseConfig,
        name: &str,
        url: &Secret,
        user_concurrency: &Arc<UserConcurrency>,
    ) -> Result<Self> {
        let url = connection_url(config, url)?;
        let pipelined = |connections, often: &'static [&'static str], label| -> Result<WarmPool> {
            Ok(WarmPool { pool: pool(config, Pipelined(url.clone()), connections)?, frequent: often, label })
        };
        let checked = |connections| pool(config, CheckedConnector(url.clone()), connections);
        let rare = config.write_connections.min(RARE_CONNECTIONS);
        let all = [config.read_connections, config.write_connections as usize, rare as usize];
        let length = if config.queue_length == 0 { 2 * all.iter().sum::<usize>() } else { config.queue_length };
        let pools = Self {
            name: name.into(),
            queue: ConnectionQueue::new(Bounds { length, longest: config.queue_wait }, all),
            writes: checked(rare as usize)?,
            lookups: checked(LOOKUP_CONNECTIONS as usize / 2)?,
            quick_lookups: pipelined(LOOKUP_CONNECTIONS as usize / 2, &[], metrics::Pool::Lookups)?,
            reads: pipelined(config.read_connections, config.prepares_ahead.reads, metrics::Pool::Reads)?,
            changes: pipelined(
                config.write_connections as usize,
                config.prepares_ahead.changes,
                metrics::Pool::Changes,
            )?,
            patience: config.patience(),
            user_concurrency: user_concurrency.clone(),
        };
        pool_metrics::note(pools.observed());
        Ok(pools)
    }

    /// Returns all pools with their labels, for metrics.
    fn observed(&self) -> [ObservedPool; 5] {
        [
            ObservedPool::Pipelined(metrics::Pool::Reads, self.reads.pool.clone()),
            ObservedPool::Pipelined(metrics::Pool::Changes, self.changes.pool.clone()),
            ObservedPool::Checked(metrics::Pool::Rare, self.writes.clone()),
            ObservedPool::Checked(metrics::Pool::Lookups, self.lookups.clone()),
            ObservedPool::Pipelined(metrics::Pool::Lookups, self.quick_lookups.pool.clone()),
        ]
    }

    /// Returns the pool for administration, jobs and exports.
    pub(crate) fn rare(&self) -> LabelledPool<'_> {
        LabelledPool { pool: &self.writes, label: metrics::Pool::Rare }
    }

    /// Returns the pool for requests' transactions across tenants.
    pub(crate) fn lookups(&self) -> LabelledPool<'_> {
        LabelledPool { pool: &self.lookups, label: metrics::Pool::Lookups }
    }

    /// Closes all connections. Requests in progress finish first.
    pub(super) async fn close(&self) {
        self.reads.pool.close();
        self.changes.pool.close();
        self.quick_lookups.pool.close();
        close(&self.writes).await;
        close(&self.lookups).await;
    }
}

/// Returns the application name of connections: the program and the configured places other than `home`. A tenant is
/// not moved to a place while processes are connected that do not know it.
fn application_name(config: &DatabaseConfig) -> String {
    let places = config.places.iter().map(|place| place.name.as_str());
    let names: Vec<&str> = std::iter::once(PROGRAM).chain(places).collect();
    names.join(" ")
}

/// Application name of a process without further places.
pub(crate) const PROGRAM: &str = "knowhow";

/// Parses the URL and checks the files it refers to.
///
/// # Errors
/// `Malformed` with the invalid parameter or file.
pub(crate) fn connection_url(config: &DatabaseConfig, url: &Secret) -> Result<DatabaseUrl> {
    let url = DatabaseUrl::parse(url)?;
    check_files(&url.tls)?;
    Ok(url.named(application_name(config)).within(config.acquire_timeout))
}

/// Creates a pool that opens connections on demand.
pub(crate) fn pool<M, W>(config: &DatabaseConfig, manager: M, connections: usize) -> Result<Pool<M, W>>
where
    M: Manager,
    W: From<Object<M>>,
{
    let wait = Some(config.acquire_timeout);
    Pool::builder(manager)
        .max_size(connections)
        // Reuses the most recently used connection, because its statements are already prepared and planned; that
        // costs about 5 ms per statement. With the opposite order, one client that briefly uses many connections
        // would give other clients only cold connections.
        .queue_mode(QueueMode::Lifo)
        .timeouts(Timeouts { wait, create: wait, recycle: wait })
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(Error::internal)
}

/// Closes the pool and its idle connections.
pub(crate) async fn close(pool: &CheckedPool) {
    let idle = pool.retain(|_, _| false).removed;
    pool.close();
    join_all(idle.into_iter().map(sqlx::Connection::close)).await;
}
