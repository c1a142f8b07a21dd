//! The databases of a deployment, each with its pools: one, unless tenants are spread over several places.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{Error, Result, Secret};

use crate::Principal;
use crate::vault::ahead::Often;
use crate::vault::held::Patience;
use crate::vault::place::{HOME, HOME_NAME, PlaceConfig, PlaceId};
use crate::vault::pools::Pools;

/// Where the log would repeat what Postgres warns of: that a connection which goes back to its pool had nothing to roll back.
pub const NOTICES: &str = "sqlx::postgres::notice";

/// Where Postgres is and how many connections each worker thread may hold.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// `postgres://` URL of the login role.
    pub url: Secret,
    /// Other places that tenants live at.
    pub places: Vec<PlaceConfig>,
    /// Connections for changes in two round trips, per worker thread. Durable writes wait for the disk, so more of them share one flush.
    pub write_connections: u32,
    /// Connections for statements of one round trip, per worker thread.
    pub read_connections: usize,
    /// What a new connection prepares before somebody waits for it: what most requests run, in a process that serves.
    pub prepares_ahead: Often,
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
    /// The URL of that place.
    pub fn url_of(&self, place: PlaceId) -> &Secret {
        place.index().checked_sub(1).and_then(|other| self.places.get(other)).map_or(&self.url, |other| &other.url)
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience { acquire: self.acquire_timeout, statement: self.statement_timeout }
    }
}

/// The databases as one worker thread reaches them, from one of the places. Not a way to run a statement: that takes a
/// [`crate::TenantTx`] or a statement of the pipeline, both of which set the caller's context and go where the caller's tenant
/// lives; what is across tenants runs at this place.
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
    /// Prepares the pools; connects nothing yet. It is at `home`.
    ///
    /// # Errors
    /// `Malformed` where a URL is not one.
    pub fn open(config: &DatabaseConfig) -> Result<Self> {
        let home = Pools::open(config, HOME_NAME, &config.url)?;
        let others = config.places.iter().map(|place| Pools::open(config, &place.name, &place.url));
        let places = std::iter::once(Ok(home)).chain(others).collect::<Result<_>>()?;
        Ok(Self { places, here: HOME })
    }

    /// The same databases, from that place.
    #[must_use]
    pub fn at(&self, place: PlaceId) -> Self {
        Self { places: self.places.clone(), here: place }
    }

    /// Each place, `home` first.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        let all = self.clone();
        (0..self.places.len()).map(move |index| all.at(PlaceId(index.try_into().unwrap_or_default())))
    }

    /// This place.
    pub fn here(&self) -> PlaceId {
        self.here
    }

    /// What operators call this place.
    pub fn place_name(&self) -> &str {
        &self.name
    }

    /// The place that operators call so.
    ///
    /// # Errors
    /// `Malformed`, naming those that there are.
    pub fn named(&self, name: &str) -> Result<Self> {
        self.each().find(|place| place.place_name() == name).ok_or_else(|| {
            let all: Vec<&str> = self.places.iter().map(|place| &*place.name).collect();
            Error::Malformed(format!("there is no place '{name}'; there are: {}", all.join(", ")))
        })
    }

    /// Whether tenants are spread over several places, so that one may be moved.
    pub(crate) fn is_spread(&self) -> bool {
        self.places.len() > 1
    }

    /// The pools where the principal's tenant lives.
    pub(crate) fn of(&self, principal: &Principal) -> &Pools {
        &self.places[principal.place().index()]
    }

    /// Whether so many requests wait for connections on this thread that the next ones may be turned away.
    pub fn is_crowded(&self, principal: &Principal) -> bool {
        self.of(principal).room.is_crowded()
    }

    /// What a transaction of a tenant begins with, besides its context: where tenants may be moved, it finds out whether its own
    /// has been since it was looked up. Else it costs nothing.
    pub(crate) fn fence(&self) -> &'static str {
        if self.is_spread() { "; SELECT app.require_here()" } else { "" }
    }

    /// Closes every connection; requests that still hold one finish first.
    pub async fn close(&self) {
        join_all(self.places.iter().map(Pools::close)).await;
    }
}
