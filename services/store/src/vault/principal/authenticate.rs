//! The gate through which callers come.

use std::sync::Arc;

use knowhow_domain::Result;

use super::Principal;
use crate::Database;
use crate::credential::{TokenId, api_key, peek};
use crate::vault::gate::{Found, GateState, KnownTenant, Name, Origin};

/// The deployment's own issuer, whose tokens may carry the role `operator`.
#[derive(Clone)]
pub struct OperatorIssuer {
    /// `iss` of its tokens.
    pub iss: String,
    /// HS256 secret, at least 32 bytes.
    pub secret: Vec<u8>,
}

/// Where credentials become principals. One per worker thread; what is known is shared by all of them.
#[derive(Clone)]
pub struct Gate {
    pub(super) db: Database,
    pub(super) state: Arc<GateState>,
}

impl Gate {
    /// `tid` of an operator's token that stands in no tenant.
    pub const NO_TENANT: &str = "*";

    /// A gate over this thread's connections.
    pub fn new(db: Database, state: Arc<GateState>) -> Self {
        Self { db, state }
    }

    /// Verifies the bearer credential and finds or makes its user.
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

    /// Finds a tenant by its slug, with its issuer of that name.
    pub(super) async fn tenant_and_issuer(&self, slug: &str, iss: &str) -> Result<Option<Found>> {
        match origin(slug, iss) {
            Some(origin) => self.state.tenant(&self.db, origin).await,
            None => Ok(None),
        }
    }

    /// Reads a tenant from the database now.
    pub(crate) async fn fresh_tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        let Some(origin) = origin(slug, "") else { return Ok(None) };
        Ok(self.state.fresh_tenant(&self.db, origin).await?.map(|found| found.tenant))
    }

    /// Whether verifying a credential asks the database for nothing that a stranger made up: its key, or its tenant and issuer, were
    /// found lately.
    pub fn knows(&self, resource: Option<&str>, bearer: &str) -> bool {
        if let Some((prefix, _)) = api_key::parse(bearer) {
            return self.state.knows(&Name::Prefix(prefix.to_owned()));
        }
        if TokenId::of(bearer, resource).is_some_and(|id| self.state.tokens.get(id).is_some()) {
            return true;
        }
        let Ok(peeked) = peek(bearer) else { return false };
        // The signature of an operator's token is verified before its tenant is looked up.
        self.is_operator_issuer(&peeked.iss)
            || origin(&peeked.tid, &peeked.iss).is_some_and(|origin| self.state.knows(&Name::Origin(origin)))
    }

    /// Whether that `iss` is the deployment's own, which no tenant may register.
    pub fn is_operator_issuer(&self, iss: &str) -> bool {
        self.state.operator.as_ref().is_some_and(|o| o.iss == iss)
    }

    /// What every gate of this process knows.
    pub fn state(&self) -> &Arc<GateState> {
        &self.state
    }
}

/// The longest name of an issuer that can be registered, in bytes.
const MOST_ISS: usize = 4 * 512;

/// `None` for a slug or an issuer that cannot exist.
fn origin(slug: &str, iss: &str) -> Option<Origin> {
    let is_slug = slug.len() <= 64 && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_issuer = iss.len() <= MOST_ISS && !iss.contains('\0');
    (is_slug && is_issuer).then(|| Origin { slug: slug.to_owned(), iss: iss.to_owned() })
}
