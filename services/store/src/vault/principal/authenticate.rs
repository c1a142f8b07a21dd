//! The gate through which callers come.

use std::sync::Arc;

use knowhow_domain::Result;

use super::Principal;
use crate::Database;
use crate::credential::IssuerKeys;
use crate::vault::gate::{GateState, KnownTenant};

/// The deployment's own issuer, whose tokens may carry the role `operator`.
#[derive(Clone)]
pub struct OperatorIssuer {
    /// `iss` of its tokens.
    pub iss: String,
    /// HS256 secret, at least 32 bytes.
    pub secret: Vec<u8>,
}

/// What signs a development token.
pub struct SigningIssuer {
    pub iss: String,
    pub audience: String,
    /// HS256 secret.
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

    pub(crate) async fn tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        if is_plausible(slug) { self.state.tenant(&self.db, slug).await } else { Ok(None) }
    }

    /// The tenant as the database says it now.
    pub(crate) async fn fresh_tenant(&self, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        if is_plausible(slug) { self.state.fresh_tenant(&self.db, slug).await } else { Ok(None) }
    }

    /// An issuer of the principal's tenant whose tokens this service can sign itself: the first with a shared secret.
    pub fn find_signing_issuer(&self, operator: &Principal) -> Option<SigningIssuer> {
        operator.tenant.issuers.iter().find_map(|issuer| match &issuer.keys {
            IssuerKeys::Hs256 { secret } => Some(SigningIssuer {
                iss: issuer.iss.clone(),
                audience: issuer.audience.clone(),
                secret: secret.clone(),
            }),
            IssuerKeys::Jwks { .. } => None,
        })
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

fn is_plausible(slug: &str) -> bool {
    slug.len() <= 64 && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
