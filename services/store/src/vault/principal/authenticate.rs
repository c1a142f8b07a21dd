//! Authenticates callers.

use std::sync::Arc;

use knowhow_domain::Result;

use super::Principal;
use crate::Database;
use crate::vault::credential::{TokenId, api_key, peek};
use crate::vault::gate::{GateState, Name};
use crate::vault::known_callers::{Found, KnownTenant, Origin};

/// Turns credentials into principals. Each worker thread has one gate; all gates share the same caches.
#[derive(Clone)]
pub struct Gate {
    pub(super) db: Database,
    pub(super) state: Arc<GateState>,
}

impl Gate {
    /// The `tid` claim of an operator's token that names no tenant.
    pub const NO_TENANT: &str = "*";

    /// Creates a gate over this thread's connections.
    pub fn new(db: Database, state: Arc<GateState>) -> Self {
        Self { db, state }
    }

    /// Returns whether a credential has the form of an API key. If not, it is verified as a JWT.
    pub fn is_api_key(credential: &str) -> bool {
        api_key::parse(credential).is_some()
    }

    /// Verifies the bearer credential and finds or creates its user.
    ///
    /// # Errors
    /// As [`Gate::verify`] and [`Gate::admit`].
    pub async fn authenticate(&self, bearer: &str, on_behalf_of: Option<&str>) -> Result<Principal> {
        self.admit(self.verify(None, bearer, on_behalf_of).await?).await
    }

    /// Finds a tenant by its slug.
    pub(crate) async fn tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        Ok(self.tenant_and_issuer(slug, "").await?.map(|found| found.tenant))
    }

    /// Finds a tenant by its slug, with the issuer of this name.
    pub(super) async fn tenant_and_issuer(&self, slug: &str, iss: &str) -> Result<Option<Found>> {
        match origin(slug, iss) {
            Some(origin) => self.state.tenant(&self.db, origin).await,
            None => Ok(None),
        }
    }

    /// Reads a tenant from the database, bypassing the cache.
    pub(crate) async fn fresh_tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        let Some(origin) = origin(slug, "") else { return Ok(None) };
        Ok(self.state.fresh_tenant(&self.db, origin).await?.map(|found| found.tenant))
    }

    /// Returns whether the credential's key, or its tenant and issuer, was found recently. If so, verifying it does
    /// not query the database for a name that an attacker invented.
    pub fn is_known_credential(&self, resource: Option<&str>, bearer: &str) -> bool {
        if let Some((prefix, _)) = api_key::parse(bearer) {
            return self.state.is_known(&Name::Prefix(prefix.to_owned()));
        }
        if TokenId::of(bearer, resource).is_some_and(|id| self.state.tokens.get(id).is_some()) {
            return true;
        }
        let Ok(peeked) = peek(bearer) else { return false };
        // The signature of an operator's token is verified before its tenant is looked up.
        self.is_operator_issuer(&peeked.iss)
            || origin(&peeked.tid, &peeked.iss).is_some_and(|origin| self.state.is_known(&Name::Origin(origin)))
    }

    /// Returns whether this `iss` is the deployment's own, which no tenant may register.
    pub fn is_operator_issuer(&self, iss: &str) -> bool {
        self.state.operator.as_ref().is_some_and(|o| o.iss == iss)
    }

    /// Returns the state shared by all gates of this process.
    pub fn state(&self) -> &Arc<GateState> {
        &self.state
    }
}

/// Maximum length of an issuer's name in bytes: 512 characters of up to 4 bytes.
const MOST_ISS: usize = 4 * 512;

/// Returns the lookup key; `None` for a slug or issuer that cannot exist.
fn origin(slug: &str, iss: &str) -> Option<Origin> {
    let is_slug = slug.len() <= 64 && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_issuer = iss.len() <= MOST_ISS && !iss.contains('\0');
    (is_slug && is_issuer).then(|| Origin { slug: slug.to_owned(), iss: iss.to_owned() })
}
