//! The pools of one place: one for transactions and the pipeline's. They are opened lazily, by the thread that uses them: a
//! socket that another thread polls costs a wake-up at every answer.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, QueueMode, RecyclingMethod, Timeouts};
use knowhow_domain::{Error, Result, Secret};
use knowhow_telemetry::metrics;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::DatabaseConfig;
use crate::tls;
use crate::vault::ahead::Connections;
use crate::vault::held::{Patience, Source};
use crate::vault::observed;
use crate::vault::room::{Bounds, Room};

/// For each worker thread; what they look up is remembered for a second.
pub(super) const LOOKUP_CONNECTIONS: u32 = 2;

/// For each worker thread, for administration, jobs and exports.
pub(super) const RARE_CONNECTIONS: u32 = 2;

/// For how long the other end of a socket may leave what was sent to it unconfirmed.
const SILENCE: Duration = Duration::from_secs(10);

/// The pools of one worker thread at one place. Not a way to run a statement: that takes a [`crate::TenantTx`] or a statement of
/// the pipeline, both of which set the caller's context.
#[derive(Clone)]
pub struct Pools {
    /// The place's name.
    pub(crate) name: Arc<str>,
    /// For [`crate::TenantTx`], and for what the clock does across tenants.
    pub(crate) writes: sqlx::PgPool,
    /// For statements across tenants, so that callers are recognised however busy the writers are.
    pub(crate) lookups: sqlx::PgPool,
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
        let options = connect_options(config, url)?;
        let tls = tls::Settings::take_from(url)?;
        let mut target: tokio_postgres::Config = tls.url.parse().map_err(unusable)?;
        target.application_name(application_name(config)).connect_timeout(config.acquire_timeout).ssl_mode(tls.mode);
        // A connection whose other end is gone without a word is found out while it waits in the pool.
        target
            .tcp_user_timeout(SILENCE)
            .keepalives_idle(SILENCE)
            .keepalives_interval(SILENCE / 4)
            .keepalives_retries(4);
        let tls_client = MakeRustlsConnect::new(tls.client()?);
        let wait = Some(config.acquire_timeout);
        let pipelined = |connections, often: &'static [&'static str], label| -> Result<Connections> {
            let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
            let manager = Manager::from_config(target.clone(), tls_client.clone(), recycling);
            let pool = deadpool_postgres::Pool::builder(manager)
                .max_size(connections)
                // The connection that was used last goes first: it has what this process asks for prepared and planned, which
                // costs a new one some 5 ms a statement. A caller who keeps many connections busy once would otherwise
                // leave all others a round of cold ones.
                .queue_mode(QueueMode::Lifo)
                .timeouts(Timeouts { wait, create: wait, recycle: wait })
                .runtime(deadpool_postgres::Runtime::Tokio1)
                .build()
                .map_err(Error::internal)?;
            Ok(Connections { pool, often, label })
        };
        let rare = config.write_connections.min(RARE_CONNECTIONS);
        let all = [config.read_connections, config.write_connections as usize, rare as usize];
        let length = if config.queue_length == 0 { 2 * all.iter().sum::<usize>() } else { config.queue_length };
        let pools = Self {
            name: name.into(),
            room: Room::new(Bounds { length, longest: config.queue_wait }, all),
            writes: pool(config, options.clone(), rare),
            lookups: pool(config, options, LOOKUP_CONNECTIONS),
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
        self.writes.close().await;
        self.lookups.close().await;
    }
}

pub(crate) fn unusable(error: impl std::fmt::Display) -> Error {
    Error::Malformed(format!("the database URL is not usable: {error}"))
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

pub(crate) fn connect_options(config: &DatabaseConfig, url: &Secret) -> Result<PgConnectOptions> {
    let options: PgConnectOptions = url.parse().map_err(unusable)?;
    // No other parameters: a pooler knows a few alone, and refuses a connection that sends more.
    Ok(options.application_name(&application_name(config)).extra_float_digits(None))
}

/// A pool whose connections are opened when they are needed.
pub(crate) fn pool(config: &DatabaseConfig, options: PgConnectOptions, connections: u32) -> sqlx::PgPool {
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(config.acquire_timeout);
    pool.test_before_acquire(false).connect_lazy_with(options)
}
