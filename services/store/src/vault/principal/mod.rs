//! Authenticated callers. A [`Principal`] is only created in this folder: from a verified credential, or from a job
//! that the database itself enqueued.

mod admit;
mod authenticate;
mod bearer;
mod console;
mod verify;

use std::sync::Arc;

use knowhow_domain::{Error, IssuerId, KeyId, Result, Scope, Scopes, TenantId, TenantSettings, UserId};

use crate::vault::credential::Issuer;
use crate::vault::known_callers::{KnownTenant, TenantLibrary};
use crate::vault::place::PlaceId;

pub use authenticate::Gate;
pub use bearer::Bearer;
pub use console::{ConsoleSecret, ConsoleSession};

/// Name of a caller. The stored name contains the user's internal id, so that it does not reveal the name of an
/// erased user.
#[derive(Clone)]
struct Actor {
    stored: Arc<str>,
    shown: Arc<str>,
}

impl Actor {
    /// Creates an actor from a name that contains no user.
    fn of(name: String) -> Self {
        let name = Arc::<str>::from(name);
        Self { stored: name.clone(), shown: name }
    }
}

/// An authenticated caller: one tenant, at most one user, and the scopes of the credential.
#[derive(Clone)]
pub struct Principal {
    tenant: Arc<KnownTenant>,
    user: Option<(UserId, Arc<str>)>,
    scopes: Scopes,
    operator: bool,
    /// Whether an admin reads the data of another user.
    views: bool,
    key: Option<KeyId>,
    /// The tenant's issuer that issued the caller's token; `None` for other credentials.
    issuer: Option<Arc<Issuer>>,
    actor: Actor,
    starters_release: Option<Arc<[u8]>>,
    /// The tenant's erasure counter when this caller was authenticated.
    erasures: i64,
}

impl Principal {
    /// Returns the tenant. The caller's transactions see only its rows.
    pub fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Returns the place of the tenant. The caller's transactions run there.
    pub fn place(&self) -> PlaceId {
        self.tenant.place
    }

    /// Returns the slug of the tenant; empty for an operator without one.
    pub fn tenant_slug(&self) -> &str {
        &self.tenant.slug
    }

    /// Returns the quotas and switches of the tenant.
    pub fn settings(&self) -> &TenantSettings {
        &self.tenant.settings
    }

    /// Returns the user this caller acts for.
    ///
    /// # Errors
    /// `Malformed` if a request with an API key has no `Knowhow-User` header; `Denied` for an operator.
    pub fn user(&self) -> Result<UserId> {
        match &self.user {
            Some((id, _)) => Ok(*id),
            None if self.operator => {
                Err(Error::Denied("an operator acts for no user: use a credential of the user, or an API key"))
            }
            None => Err(Error::Malformed(
                "the request must name a user: send the header Knowhow-User with the user's external id".into(),
            )),
        }
    }

    /// Returns the user's external id, if the caller acts for a user.
    pub fn external_id(&self) -> Option<&str> {
        self.user.as_ref().map(|(_, external)| external.as_ref())
    }

    /// Returns the name stored in history and audit: `user:<id>` or `key:a1b2c3d4e5f6 for <id>`, with the internal user
    /// id.
    pub fn actor(&self) -> &str {
        &self.actor.stored
    }

    /// Returns the displayed name, e.g. `user:alice` or `key:a1b2c3d4e5f6 for alice`.
    pub fn shown_actor(&self) -> &str {
        &self.actor.shown
    }

    /// Returns whether the caller uses an API key. Such a caller is an agent's backend and not the user.
    pub fn is_backend(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the API key of the caller.
    pub fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// Returns the issuer of the caller's token.
    pub(crate) fn issuer_id(&self) -> Option<IssuerId> {
        self.issuer.as_ref().map(|issuer| issuer.id)
    }

    /// Returns the `iss` of the caller's token.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_ref().map(|issuer| issuer.iss.as_str())
    }

    /// Returns the release of the starter skills that the user had when last seen.
    pub fn starters_release(&self) -> Option<&[u8]> {
        self.starters_release.as_deref()
    }

    /// Returns whether the caller is an operator of the deployment.
    pub fn is_operator(&self) -> bool {
        self.operator
    }

    /// Returns the tenant's erasure counter at the time of authentication.
    pub(crate) fn known_erasures(&self) -> i64 {
        self.erasures
    }

    /// Returns the tenant's library of starters, if it has or had one.
    pub fn library(&self) -> Option<&TenantLibrary> {
        self.tenant.library.as_ref()
    }

    /// Returns this caller with the tenant read again from the database.
    ///
    /// # Errors
    /// `Unavailable`; `NotFound` if the tenant no longer exists.
    pub async fn refreshed(&self, gate: &Gate) -> Result<Self> {
        let tenant = gate.fresh_tenant(self.tenant_slug()).await?.ok_or_else(|| Error::not_found("tenant"))?;
        Ok(Self { tenant, issuer: None, ..self.clone() })
    }

    /// Rejects the caller if `scope` is missing.
    pub fn require(&self, scope: Scope) -> Result<()> {
        self.scopes.require(scope)
    }

    /// Rejects callers other than the tenant's admins and operators.
    pub fn require_admin(&self) -> Result<()> {
        self.require(Scope::Admin)
    }

    /// Rejects an operator that names no tenant.
    pub fn require_tenant(&self) -> Result<()> {
        if self.tenant.slug.is_empty() {
            return Err(Error::Malformed("operators must name a tenant: add ?tenant=<slug>".into()));
        }
        Ok(())
    }

    /// Rejects callers other than operators of the deployment.
    pub fn require_operator(&self) -> Result<()> {
        if self.operator { Ok(()) } else { Err(Error::Forbidden("operator")) }
    }

    /// Returns this admin acting on one user's skills, to decide about proposed changes.
    ///
    /// # Errors
    /// `Forbidden` unless the caller is an admin of the tenant with the right to review.
    pub fn reviewing(&self, user: UserId, external_id: &str) -> Result<Self> {
        self.require_admin()?;
        self.require(Scope::Review)?;
        Ok(Self { user: Some((user, external_id.into())), starters_release: None, ..self.clone() })
    }

    /// Returns this admin reading the data of one user, without the right to change skills.
    ///
    /// # Errors
    /// `Forbidden` unless the caller is an admin of the tenant.
    pub fn looking_at(&self, user: UserId, external_id: &str) -> Result<Self> {
        self.require_admin()?;
        let user = Some((user, external_id.into()));
        let scopes = self.scopes.without(Scope::SkillsWrite);
        Ok(Self { user, scopes, starters_release: None, views: true, ..self.clone() })
    }

    /// Returns whether the caller is an admin who reads the data of another user. Reading then counts as no use.
    pub fn views(&self) -> bool {
        self.views
    }

    /// Returns this operator acting in another tenant.
    ///
    /// # Errors
    /// `NotFound` if the caller is no operator or the tenant does not exist.
    pub async fn in_tenant(&self, gate: &Gate, slug: &str) -> Result<Self> {
        if slug == self.tenant_slug() {
            return Ok(self.clone());
        }
        if !self.operator {
            return Err(Error::not_found("tenant"));
        }
        let known = match gate.tenant(slug).await? {
            // The tenant may have been created after the cache was filled.
            None => gate.fresh_tenant(slug).await?,
            known => known,
        };
        let tenant = known.ok_or_else(|| Error::not_found("tenant"))?;
        Ok(Self { tenant, user: None, issuer: None, starters_release: None, ..self.clone() })
    }
}
