//! The databases of a deployment, each with its pools. There is one database unless tenants are spread over several
//! places.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{Error, Result, Secret};

use crate::Principal;
use crate::vault::place::{HOME, HOME_NAME, PlaceConfig, PlaceId};
use crate::vault::pools::Pools;
use crate::vault::rollback_guard::Patience;
use crate::vault::user_concurrency::UserConcurrency;
use crate::vault::warm_up::FrequentStatements;

/// Log target of Postgres notices. Every rollback on a connection without a transaction logs a warning there.
pub const NOTICES: &str = "sqlx::postgres::notice";

/// Database URLs, pool sizes and timeouts.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// URL (`postgres://`) for connections as the login role.
    pub url: Secret,
    /// Further databases for tenants, in addition to `home`.
    pub places: Vec<PlaceConfig>,
    /// Number of connections per worker thread for transactions of several round trips. Commits wait for the disk, so
    /// more connections let more of them share one flush.
    pub write_connections: u32,
    /// Number of connections per worker thread for statements of one round trip.
    pub read_connections: usize,
    /// Frequent statements that new connections prepare in advance. Set in processes that serve requests.
    pub prepares_ahead: FrequentStatements,
    /// Time limit for acquiring a connection, for requests that have already run a statement.
    pub acquire_timeout: Duration,
    /// Maximum number of requests waiting for their first connection, per worker thread; 0 means twice the number of
    /// connections.
    pub queue_length: usize,
    /// Time limit for acquiring the first connection.
    pub queue_wait: Duration,
    /// Time limit for one statement. If no answer arrives half a second after the limit, the connection is closed.
    pub statement_timeout: Duration,
}

impl DatabaseConfig {
    /// Returns the URL of a place.
    pub fn url_of(&self, place: PlaceId) -> &Secret {
        place.index().checked_sub(1).and_then(|other| self.places.get(other)).map_or(&self.url, |other| &other.url)
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience { acquire: self.acquire_timeout, statement: self.statement_timeout }
    }
}

/// The pools of one worker thread for all databases, with one of them selected.
///
/// Statements run only through [`crate::TenantTx`] or the pipeline. Both set the caller's context and use the database
/// of the caller's tenant. Statements across tenants use the selected database.
#[derive(Clone)]
pub struct Database {
    places: Arc<[Pools]>,
    here: PlaceId,
}

impl Deref for Database {
    type Target = Pools;

    fn deref(&self) -> &Pools {
        &self.places[self.here.index()]
    }
}

impl Database {
    /// Creates the pools without connecting and selects `home`. Further databases of a process are opened with
    /// [`Database::open_sharing`], so that a user's limits apply to all of them together.
    ///
    /// # Errors
    /// `Malformed` if a URL is invalid.
    pub fn open(config: &DatabaseConfig) -> Result<Self> {
        Self::open_sharing(config, &Arc::default())
    }

    /// Creates pools, e.g. of another thread or a replica, that share the limits per user with other databases of the
    /// process.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_sharing(config: &DatabaseConfig, user_concurrency: &Arc<UserConcurrency>) -> Result<Self> {
        let home = Pools::open(config, HOME_NAME, &config.url, user_concurrency)?;
        let others = config.places.iter().map(|place| Pools::open(config, &place.name, &place.url, user_concurrency));
        let places = std::iter::once(Ok(home)).chain(others).collect::<Result<_>>()?;
        Ok(Self { places, here: HOME })
    }

    /// Returns the same databases with another place selected.
    #[must_use]
    pub fn at(&self, place: PlaceId) -> Self {
        Self { places: self.places.clone(), here: place }
    }

    /// Returns each place, `home` first.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        let all = self.clone();
        (0..self.places.len()).map(move |index| all.at(PlaceId(index.try_into().unwrap_or_default())))
    }

    /// Returns the id of the selected place.
    pub fn here(&self) -> PlaceId {
        self.here
    }

    /// Returns the configured name of the selected place.
    pub fn place_name(&self) -> &str {
        &self.name
    }

    /// Returns these databases with the place of this name selected.
    ///
    /// # Errors
    /// `Malformed` with the list of existing places.
    pub fn named(&self, name: &str) -> Result<Self> {
        self.each().find(|place| place.place_name() == name).ok_or_else(|| {
            let all: Vec<&str> = self.places.iter().map(|place| &*place.name).collect();
            Error::Malformed(format!("unknown place '{name}'; known places: {}", all.join(", ")))
        })
    }

    /// Returns the limits per user, for further databases of this process.
    pub fn user_concurrency(&self) -> &Arc<UserConcurrency> {
        &self.user_concurrency
    }

    /// Returns whether there are several places, so that tenants can be moved.
    pub(crate) fn is_spread(&self) -> bool {
        self.places.len() > 1
    }

    /// Returns the pools of the database that stores the principal's tenant.
    pub(crate) fn of(&self, principal: &Principal) -> &Pools {
        &self.places[principal.place().index()]
    }

    /// Returns whether the queue for connections on this thread is nearly full, so that the next requests may be
    /// rejected.
    pub fn is_crowded(&self, principal: &Principal) -> bool {
        self.of(principal).queue.is_crowded()
    }

    /// Returns the statement that checks that the tenant has not been moved since its place was looked up. Empty if
    /// there is only one place.
    pub(crate) fn fence(&self) -> &'static str {
        if self.is_spread() { "; SELECT app.require_here()" } else { "" }
    }

    /// Closes all connections. Requests in progress finish first.
    pub async fn close(&self) {
        join_all(self.places.iter().map(Pools::close)).await;
    }
}
