//! The caller that a verified credential identifies, and the caller's name in histories.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, KeyId, Result, Scope, Scopes, TenantId, TenantSettings};

use crate::vault::credential::{Claims, Issuer};
use crate::vault::known_callers::KnownTenant;

/// The caller that a verified credential identifies, before its user is looked up.
pub struct Bearer {
    pub(super) tenant: Arc<KnownTenant>,
    pub(super) external_id: Option<Arc<str>>,
    pub(super) key: Option<KeyId>,
    /// The tenant's issuer that issued the caller's token; `None` for other credentials.
    pub(super) issuer: Option<Arc<Issuer>>,
    pub(super) scopes: Scopes,
    pub(super) caller: Caller,
    /// Time at which the credential expires.
    pub(super) expires_at: Option<DateTime<Utc>>,
}

impl Bearer {
    /// Returns the tenant of the credential.
    pub fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Returns the slug of the tenant; empty for an operator without one.
    pub fn tenant_slug(&self) -> &str {
        &self.tenant.slug
    }

    /// Returns the quotas and switches of the tenant.
    pub fn settings(&self) -> &TenantSettings {
        &self.tenant.settings
    }

    /// Returns the user's external id, if the credential is for a user.
    pub fn external_id(&self) -> Option<&str> {
        self.external_id.as_deref()
    }

    /// Returns the API key, if the credential is one.
    pub fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// Returns the time at which the credential expires, if it does.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.expires_at
    }

    /// Rejects the caller if `scope` is missing.
    pub fn require(&self, scope: Scope) -> Result<()> {
        self.scopes.require(scope)
    }

    /// Returns whether the caller is an operator of the deployment.
    pub fn is_operator(&self) -> bool {
        matches!(self.caller, Caller::Operator(_))
    }

    /// Returns the error of a token with a header that names another user.
    pub fn other_user() -> Error {
        Error::Denied(
            "the header Knowhow-User names another user than the token; only an API key acts for other users, and an \
             admin reads their data with the header Knowhow-Reason",
        )
    }

    /// Returns the caller's name for the audit log.
    pub fn actor(&self) -> String {
        self.caller.name(self.external_id())
    }
}

/// Kind of credential, for history and audit.
pub(super) enum Caller {
    /// A token from a tenant's issuer, for its own user.
    Token,
    /// An API key, with its public prefix.
    Key(Arc<str>),
    /// A command on the command line.
    Shell,
    /// A token from the deployment's own issuer, with its subject.
    Operator(Arc<str>),
}

impl Caller {
    /// Returns the name of the caller acting for `user`. The stored name contains the user's internal id, the
    /// displayed name the external id.
    pub(super) fn name(&self, user: Option<&str>) -> String {
        match (self, user) {
            (Self::Token, user) => format!("user:{}", user.unwrap_or_default()),
            (Self::Key(prefix), Some(user)) => format!("key:{prefix} for {user}"),
            (Self::Key(prefix), None) => format!("key:{prefix}"),
            (Self::Shell, Some(user)) => format!("shell for {user}"),
            (Self::Shell, None) => "shell".into(),
            (Self::Operator(subject), _) => format!("operator:{subject}"),
        }
    }
}

/// Returns the bearer of a verified token.
pub(super) fn by_claims(tenant: Arc<KnownTenant>, issuer: Arc<Issuer>, claims: &Claims) -> Bearer {
    Bearer {
        tenant,
        issuer: Some(issuer),
        external_id: Some(claims.sub.as_str().into()),
        key: None,
        scopes: scopes_of(claims),
        caller: Caller::Token,
        expires_at: claims.expires_at(),
    }
}

fn scopes_of(claims: &Claims) -> Scopes {
    let named: Scopes = claims.scope.iter().filter_map(|s| s.parse().ok()).collect();
    claims.roles.iter().fold(named, |scopes, role| match role.as_str() {
        "tenant_admin" => scopes.union(Scopes::all()),
        "user" => scopes.union(Scopes::of_user()),
        _ => scopes,
    })
}
