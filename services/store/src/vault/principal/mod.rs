//! Callers that were recognised. Only this folder makes a [`Principal`]: from a credential that was verified here, or
//! from a job that the database itself put into the queue.

mod admit;
mod authenticate;
mod bearer;
mod verify;

use std::sync::Arc;

use knowhow_domain::{Error, KeyId, Result, Scope, Scopes, TenantId, TenantSettings, UserId};
use percent_encoding::percent_decode_str;

use crate::credential::Issuer;
use crate::vault::gate::{KnownTenant, TenantLibrary};
use crate::vault::place::PlaceId;

pub use authenticate::{Gate, OperatorIssuer};
pub use bearer::Bearer;

/// Who did something. What is stored names a user by id, so that a user who is erased is named nowhere.
#[derive(Clone)]
struct Actor {
    stored: Arc<str>,
    shown: Arc<str>,
}

impl Actor {
    /// One that names no user.
    fn of(name: String) -> Self {
        let name = Arc::<str>::from(name);
        Self { stored: name.clone(), shown: name }
    }
}

/// A verified caller: one tenant, at most one user, and what the credential allows.
#[derive(Clone)]
pub struct Principal {
    tenant: Arc<KnownTenant>,
    user: Option<(UserId, Arc<str>)>,
    scopes: Scopes,
    operator: bool,
    key: Option<KeyId>,
    /// The token's issuer.
    issuer: Option<Arc<Issuer>>,
    actor: Actor,
    starters_release: Option<Arc<[u8]>>,
    /// Erasures that the tenant was known to have had when this caller was recognised.
    erasures: i64,
}

impl Principal {
    /// The tenant all of whose rows this caller's transactions are confined to.
    pub fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Where the tenant lives, so where the caller's transactions run.
    pub fn place(&self) -> PlaceId {
        self.tenant.place
    }

    /// The slug of the caller's tenant; empty for an operator who names none.
    pub fn tenant_slug(&self) -> &str {
        &self.tenant.slug
    }

    /// Quotas and switches of the tenant.
    pub fn settings(&self) -> &TenantSettings {
        &self.tenant.settings
    }

    /// The user this caller acts for.
    ///
    /// # Errors
    /// `Malformed` where an API key came without `Knowhow-User`.
    pub fn user(&self) -> Result<UserId> {
        self.user.as_ref().map(|(id, _)| *id).ok_or_else(|| {
            Error::Malformed("say for whom: send the header Knowhow-User with the user's external id".into())
        })
    }

    /// The tenant's own name for the user, where there is one.
    pub fn external_id(&self) -> Option<&str> {
        self.user.as_ref().map(|(_, external)| external.as_ref())
    }

    /// Who did it, as history and audit keep it: `user:<id>` or `key:a1b2c3d4e5f6 for <id>`, with the user's own id.
    pub fn actor(&self) -> &str {
        &self.actor.stored
    }

    /// The same as people are shown it, e.g. `user:alice` or `key:a1b2c3d4e5f6 for alice`.
    pub fn shown_actor(&self) -> &str {
        &self.actor.shown
    }

    /// Whether an API key calls, so an agent's backend and not the user.
    pub fn is_backend(&self) -> bool {
        self.key.is_some()
    }

    /// The API key that calls.
    pub fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// The `iss` of the token that calls.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_ref().map(|issuer| issuer.iss.as_str())
    }

    /// Which release of the starter skills the user was last seen with.
    pub fn starters_release(&self) -> Option<&[u8]> {
        self.starters_release.as_deref()
    }

    /// Whether an operator of the deployment calls.
    pub fn is_operator(&self) -> bool {
        self.operator
    }

    /// Erasures that the tenant was known to have had when this caller was recognised.
    pub(crate) fn known_erasures(&self) -> i64 {
        self.erasures
    }

    /// The tenant's own starters, where it has, or had, any.
    pub fn library(&self) -> Option<&TenantLibrary> {
        self.tenant.library.as_ref()
    }

    /// The same caller, with the tenant as the database says it now.
    ///
    /// # Errors
    /// `Unavailable`; `NotFound` where the tenant is gone.
    pub async fn refreshed(&self, gate: &Gate) -> Result<Self> {
        let tenant = gate.fresh_tenant(self.tenant_slug()).await?.ok_or_else(|| Error::not_found("tenant"))?;
        Ok(Self { tenant, issuer: None, ..self.clone() })
    }

    /// Refuses where `scope` is missing.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, scope: Scope) -> Result<()> {
        self.scopes.require(scope)
    }

    /// Refuses all but the tenant's admins and operators.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_admin(&self) -> Result<()> {
        self.require(Scope::Admin)
    }

    /// Refuses an operator who stands in no tenant.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn require_tenant(&self) -> Result<()> {
        if self.tenant.slug.is_empty() {
            return Err(Error::Malformed("an operator says in which tenant: add ?tenant=<slug>".into()));
        }
        Ok(())
    }

    /// Refuses all but operators of the deployment.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_operator(&self) -> Result<()> {
        if self.operator { Ok(()) } else { Err(Error::Forbidden("operator")) }
    }

    /// The same admin, at work on one user's skills: to decide what is proposed for them.
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin of the tenant who may review.
    pub fn reviewing(&self, user: UserId, external_id: &str) -> Result<Self> {
        self.require_admin()?;
        self.require(Scope::Review)?;
        Ok(Self { user: Some((user, external_id.into())), starters_release: None, ..self.clone() })
    }

    /// The same admin, looking at what the tenant keeps of one user.
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin of the tenant.
    pub fn looking_at(&self, user: UserId, external_id: &str) -> Result<Self> {
        self.require_admin()?;
        Ok(Self { user: Some((user, external_id.into())), starters_release: None, ..self.clone() })
    }

    /// The same operator, at work in another tenant.
    ///
    /// # Errors
    /// `Forbidden` for anyone else; `NotFound` where there is no such tenant.
    pub async fn in_tenant(&self, gate: &Gate, slug: &str) -> Result<Self> {
        if slug == self.tenant_slug() {
            return Ok(self.clone());
        }
        if !self.operator {
            return Err(Error::not_found("tenant"));
        }
        let known = match gate.tenant(slug).await? {
            // It may have been made a moment ago.
            None => gate.fresh_tenant(slug).await?,
            known => known,
        };
        let tenant = known.ok_or_else(|| Error::not_found("tenant"))?;
        Ok(Self { tenant, user: None, issuer: None, starters_release: None, ..self.clone() })
    }
}

/// Checks an external id that a user is to be made with. Clients and proxies resolve `.` and `..` in a path, also percent-encoded
/// and between slashes, so a request about such a user would reach something else.
///
/// # Errors
/// `Malformed`, with the rule.
pub(crate) fn check_new_external_id(external: &str) -> Result<()> {
    check_external_id(external)?;
    let mut decoded = external.to_owned();
    loop {
        let is_dots = |part: &str| !part.is_empty() && part.trim().chars().all(|c| c == '.');
        if decoded.split(['/', '\\']).any(is_dots) {
            return Err(Error::Malformed(
                "no user can be made with this external id: clients and proxies resolve '.' and '..' in a path, also between \
                 slashes and percent-encoded; use another id"
                    .into(),
            ));
        }
        // What is decoded twice on its way is decoded here as often.
        let next = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
        if next == decoded {
            return Ok(());
        }
        decoded = next;
    }
}

/// A tenant's own name for a user: 1-255 characters, none of them a control character.
///
/// # Errors
/// `Malformed`, with the rule.
pub fn check_external_id(external: &str) -> Result<()> {
    let length = external.chars().count();
    if length == 0 || length > 255 || external.chars().any(char::is_control) || external.trim() != external {
        return Err(Error::Malformed(
            "a user's external id has 1 to 255 characters, no control characters and no blanks around it".into(),
        ));
    }
    Ok(())
}
