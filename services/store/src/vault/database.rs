//! Connections: the pool for transactions and the pipeline's. Both are opened lazily, by the thread that
//! uses them: a socket that another thread polls costs a wake-up at every answer.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, QueueMode, RecyclingMethod, Timeouts};
use knowhow_domain::{Error, Result, Secret};
use knowhow_telemetry::metrics;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::declared::{OFTEN_CHANGED, OFTEN_READ};
use crate::tls;
use crate::vault::ahead::Connections;
use crate::vault::held::{Patience, Source, within};
use crate::vault::observed;
use crate::vault::room::{Bounds, Room};

/// For each worker thread; what they look up is remembered for a second.
pub(super) const LOOKUP_CONNECTIONS: u32 = 2;

/// For each worker thread, for administration, jobs and exports.
pub(super) const RARE_CONNECTIONS: u32 = 2;

/// Where the log would repeat what Postgres warns of: that a connection which goes back to its pool had nothing to roll back.
pub const NOTICES: &str = "sqlx::postgres::notice";

/// For how long the other end of a socket may leave what was sent to it unconfirmed.
const SILENCE: Duration = Duration::from_secs(10);

/// Where Postgres is and how many connections each worker thread may hold.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// `postgres://` URL of the login role.
    pub url: Secret,
    /// Connections for changes in two round trips, per worker thread. Durable writes wait for the disk, so more of them share one flush.
    pub write_connections: u32,
    /// Connections for statements of one round trip, per worker thread.
    pub read_connections: usize,
    /// Whether a new connection prepares what most requests run: a process that serves.
    pub prepares_ahead: bool,
    /// How long a request that has begun may wait for a connection before it is refused.
    pub acquire_timeout: Duration,
    /// How many requests may wait for their first connection, per worker thread; 0 is twice as many as there are connections.
    pub queue_length: usize,
    /// How long each of them may.
    pub queue_wait: Duration,
    /// Upper bound for one statement; half a second later its connection is given up.
    pub statement_timeout: Duration,
}

impl DatabaseConfig {
    pub(crate) fn patience(&self) -> Patience {
        Patience { acquire: self.acquire_timeout, statement: self.statement_timeout }
    }
}

/// The pools of one worker thread. Not a way to run a statement: that takes a [`crate::TenantTx`] or a statement of
/// the pipeline, both of which set the caller's context.
#[derive(Clone)]
pub struct Database {
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

impl Database {
    /// Prepares the pools; connects nothing yet.
    ///
    /// # Errors
    /// `Malformed` where the URL is not one.
    pub fn open(config: &DatabaseConfig) -> Result<Self> {
        let options = connect_options(config)?;
        let tls = tls::Settings::take_from(&config.url)?;
        let mut target: tokio_postgres::Config = tls.url.parse().map_err(unusable)?;
        target.application_name("knowhow").connect_timeout(config.acquire_timeout).ssl_mode(tls.mode);
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
            Ok(Connections { pool, often: if config.prepares_ahead { often } else { &[] }, label })
        };
        let rare = config.write_connections.min(RARE_CONNECTIONS);
        let all = [config.read_connections, config.write_connections as usize, rare as usize];
        let length = if config.queue_length == 0 { 2 * all.iter().sum::<usize>() } else { config.queue_length };
        let db = Self {
            room: Room::new(Bounds { length, longest: config.queue_wait }, all),
            writes: pool(config, options.clone(), rare),
            lookups: pool(config, options, LOOKUP_CONNECTIONS),
            reads: pipelined(config.read_connections, &OFTEN_READ, metrics::Pool::Reads)?,
            changes: pipelined(config.write_connections as usize, &OFTEN_CHANGED, metrics::Pool::Changes)?,
            patience: config.patience(),
        };
        observed::note(&db);
        Ok(db)
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
    pub async fn close(&self) {
        self.reads.pool.close();
        self.changes.pool.close();
        self.writes.close().await;
        self.lookups.close().await;
    }
}

pub(crate) fn unusable(error: impl std::fmt::Display) -> Error {
    Error::Malformed(format!("the database URL is not usable: {error}"))
}

pub(crate) fn connect_options(config: &DatabaseConfig) -> Result<PgConnectOptions> {
    let options: PgConnectOptions = config.url.parse().map_err(unusable)?;
    // No other parameters: a pooler knows a few alone, and refuses a connection that sends more.
    Ok(options.application_name("knowhow").extra_float_digits(None))
}

/// A pool whose connections are opened when they are needed.
pub(crate) fn pool(config: &DatabaseConfig, options: PgConnectOptions, connections: u32) -> sqlx::PgPool {
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(config.acquire_timeout);
    rolling_back(pool, config.patience()).test_before_acquire(false).connect_lazy_with(options)
}

/// Rolls back every connection that returns to the pool, so that no request gets another one's open transaction. A
/// connection that a dropped request left at work answers once its statement has ended, at the latest by its limit. One
/// that does not answer by then is closed. It is not closed sooner: Postgres would go on with the statement, and a new
/// connection would begin another one.
pub(crate) fn rolling_back(pool: PgPoolOptions, patience: Patience) -> PgPoolOptions {
    pool.after_release(move |conn, _| {
        Box::pin(async move {
            within(patience.answer(), sqlx::Executor::execute(conn, "rollback")).await?;
            Ok(true)
        })
    })
}
