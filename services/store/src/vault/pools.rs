//! The pools of one place: one for transactions and the pipeline's. They are opened lazily, by the thread that uses them: a
//! socket that another thread polls costs a wake-up at every answer.

use std::sync::Arc;

use deadpool::Runtime;
use deadpool::managed::{Manager, Object, Pool, QueueMode, Timeouts};
use futures_util::future::join_all;
use knowhow_domain::{Error, Result, Secret};
use knowhow_telemetry::metrics;

use crate::connect::{Checked, CheckedPool, Pipelined, check_files};
use crate::vault::ahead::Connections;
use crate::vault::held::{Patience, Source};
use crate::vault::observed;
use crate::vault::room::{Bounds, Room};
use crate::{DatabaseConfig, DatabaseUrl};

/// Connections of each worker thread that find out who calls: one for statements of one round trip, one for transactions.
pub(super) const LOOKUP_CONNECTIONS: u32 = 2;

/// For each worker thread, for administration, jobs and exports.
pub(super) const RARE_CONNECTIONS: u32 = 2;

/// The pools of one worker thread at one place. Not a way to run a statement: that takes a [`crate::TenantTx`] or a statement of
/// the pipeline, both of which set the caller's context.
#[derive(Clone)]
pub struct Pools {
    /// The place's name.
    pub(crate) name: Arc<str>,
    /// For [`crate::TenantTx`], and for what the clock does across tenants.
    pub(crate) writes: CheckedPool,
    /// For statements across tenants, so that callers are recognised however busy the writers are.
    pub(crate) lookups: CheckedPool,
    /// For those of them that take one round trip.
    pub(crate) quick_lookups: Connections,
    /// For statements of one round trip.
    pub(crate) reads: Connections,
    /// For [`crate::WriteTx`].
    pub(crate) changes: Connections,
    pub(crate) patience: Patience,
    pub(crate) room: Arc<Room>,
}

impl Pools {
    /// Prepares the pools; connects nothing yet.
    ///
    /// # Errors
    /// `Malformed` where the URL is not one.
    pub(super) fn open(config: &DatabaseConfig, name: &str, url: &Secret) -> Result<Self> {
        let url = connection_url(config, url)?;
        let pipelined = |connections, often: &'static [&'static str], label| -> Result<Connections> {
            Ok(Connections { pool: pool(config, Pipelined(url.clone()), connections)?, often, label })
        };
        let checked = |connections| pool(config, Checked(url.clone()), connections);
        let rare = config.write_connections.min(RARE_CONNECTIONS);
        let all = [config.read_connections, config.write_connections as usize, rare as usize];
        let length = if config.queue_length == 0 { 2 * all.iter().sum::<usize>() } else { config.queue_length };
        let pools = Self {
            name: name.into(),
            room: Room::new(Bounds { length, longest: config.queue_wait }, all),
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
        };
        observed::note(&pools);
        Ok(pools)
    }

    /// Where transactions of administration, jobs and exports take their connections.
    pub(crate) fn rare(&self) -> Source<'_> {
        Source { pool: &self.writes, label: metrics::Pool::Rare }
    }

    /// Where statements across tenants that a request waits for take theirs.
    pub(crate) fn lookups(&self) -> Source<'_> {
        Source { pool: &self.lookups, label: metrics::Pool::Lookups }
    }

    /// Closes every connection; requests that still hold one finish first.
    pub(super) async fn close(&self) {
        self.reads.pool.close();
        self.changes.pool.close();
        self.quick_lookups.pool.close();
        close(&self.writes).await;
        close(&self.lookups).await;
    }
}

/// What Postgres shows of a connection: the program, and the places besides `home` that it knows. Whoever moves a tenant refuses to while
/// processes are connected that do not know where to.
fn application_name(config: &DatabaseConfig) -> String {
    let places = config.places.iter().map(|place| place.name.as_str());
    let names: Vec<&str> = std::iter::once(PROGRAM).chain(places).collect();
    names.join(" ")
}

/// What a process calls itself that knows of no other place.
pub(crate) const PROGRAM: &str = "knowhow";

/// Parses the URL and reads the files that it names.
///
/// # Errors
/// `Malformed`, with the parameter or file that is wrong.
pub(crate) fn connection_url(config: &DatabaseConfig, url: &Secret) -> Result<DatabaseUrl> {
    let url = DatabaseUrl::parse(url)?;
    check_files(&url.tls)?;
    Ok(url.named(application_name(config)).within(config.acquire_timeout))
}

/// Prepares a pool whose connections are opened when they are needed.
pub(crate) fn pool<M, W>(config: &DatabaseConfig, manager: M, connections: usize) -> Result<Pool<M, W>>
where
    M: Manager,
    W: From<Object<M>>,
{
    let wait = Some(config.acquire_timeout);
    Pool::builder(manager)
        .max_size(connections)
        // The connection that was used last goes first: it has what this process asks for prepared and planned, which
        // costs a new one some 5 ms a statement. A caller who keeps many connections busy once would otherwise
        // leave all others a round of cold ones.
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
