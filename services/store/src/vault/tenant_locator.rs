//! Finds the place of a tenant: the place that has the tenant's rows, without a marker that the tenant lives
//! elsewhere. Each place answers for itself, so if one is down, only its own tenants are affected.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use knowhow_domain::Result;
use tokio::time::sleep;

use crate::Database;
use crate::across::system::{self, IssuerReader};
use crate::vault::error::is_being_moved;
use crate::vault::known_callers::{Found, KnownKey, Origin};
use crate::vault::place::PlaceId;

/// Time limit for an answer from the last known place. After that the other places are queried too.
const FIRST_ANSWER: Duration = Duration::from_millis(100);

/// Maximum number of cached places.
const PLACES: u64 = 10_000;
/// Time after its last use until a cached place is dropped.
const IDLE: Duration = Duration::from_secs(600);

/// Answer from one place to a lookup.
enum LookupAnswer<T> {
    Here(T),
    /// The place has rows of a tenant that lives elsewhere.
    Elsewhere,
    Nothing,
}

/// Finds tenants and remembers their places.
pub(super) struct TenantLocator {
    /// Last known place of each tenant and key. Lookups try it first.
    places: moka::sync::Cache<String, PlaceId>,
}

impl TenantLocator {
    /// Creates a locator that knows no place.
    pub(super) fn new() -> Self {
        Self { places: moka::sync::Cache::builder().max_capacity(PLACES).time_to_idle(IDLE).build() }
    }

    /// Finds the tenant with the slug of `origin`.
    ///
    /// # Errors
    /// `Unavailable` if the tenant is being moved, or if a place that may have it is unreachable.
    pub(super) async fn find_tenant(
        &self,
        db: &Database,
        origin: &Origin,
        issuers: &IssuerReader<'_>,
    ) -> Result<Option<Found>> {
        let ask = |at: Database| async move {
            Ok(match system::find_tenant(&at, origin, issuers).await? {
                Some(found) if found.tenant.is_elsewhere => LookupAnswer::Elsewhere,
                Some(found) => LookupAnswer::Here((found.tenant.place, found)),
                None => LookupAnswer::Nothing,
            })
        };
        self.find(db, &origin.slug, ask).await
    }

    /// Finds the API keys with this prefix, at the place of their tenant.
    ///
    /// # Errors
    /// As [`Self::find_tenant`].
    pub(super) async fn find_keys(&self, db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
        let ask = |at: Database| async move {
            let found = system::find_keys(&at, prefix).await?;
            let (elsewhere, here): (Vec<_>, Vec<_>) = found.into_iter().partition(|key| key.tenant.is_elsewhere);
            Ok(match (here.is_empty(), elsewhere.is_empty()) {
                (false, _) => LookupAnswer::Here((at.here(), here)),
                (true, false) => LookupAnswer::Elsewhere,
                (true, true) => LookupAnswer::Nothing,
            })
        };
        Ok(self.find(db, prefix, ask).await?.unwrap_or_default())
    }

    /// Queries the last known place of `name`. Queries the other places only if that place does not have the name or
    /// does not answer soon.
    async fn find<T, F: Future<Output = Result<LookupAnswer<(PlaceId, T)>>>>(
        &self,
        db: &Database,
        name: &str,
        ask: impl Fn(Database) -> F,
    ) -> Result<Option<T>> {
        let last = self.places.get(name).unwrap_or_default();
        let mut asked = FuturesUnordered::new();
        asked.push(ask(db.at(last)));
        let mut answers = Vec::new();
        if let Either::Left((Some(answer), _)) = select(asked.next(), std::pin::pin!(sleep(FIRST_ANSWER))).await {
            answers.push(answer);
        }
        if !matches!(answers.first(), Some(Ok(LookupAnswer::Here(_)))) {
            asked.extend(db.each().filter(|at| at.here() != last).map(&ask));
        }
        let (mut is_moving, mut failed) = (false, None);
        loop {
            let answer = match answers.pop() {
                Some(answer) => answer,
                // If another place has the name, a place that does not answer is not awaited.
                None => match asked.next().await {
                    Some(answer) => answer,
                    None => break,
                },
            };
            match answer {
                Ok(LookupAnswer::Here((place, found))) => {
                    self.places.insert(name.to_owned(), place);
                    return Ok(Some(found));
                }
                Ok(LookupAnswer::Elsewhere) => is_moving = true,
                Ok(LookupAnswer::Nothing) => {}
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            _ if is_moving => Err(is_being_moved()),
            Some(error) => Err(error),
            None => Ok(None),
        }
    }
}
