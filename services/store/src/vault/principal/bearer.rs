//! Whom a credential stands for, and how histories name it.

use std::sync::Arc;

use knowhow_domain::{KeyId, Result, Scope, Scopes, TenantId, TenantSettings};

use crate::credential::{Claims, Issuer};
use crate::vault::gate::KnownTenant;

/// Whom a credential that is good stands for, before the database is asked for its user.
pub struct Bearer {
    pub(super) tenant: Arc<KnownTenant>,
    pub(super) external_id: Option<Arc<str>>,
    pub(super) key: Option<KeyId>,
    /// The token's issuer.
    pub(super) issuer: Option<Arc<Issuer>>,
    pub(super) scopes: Scopes,
    pub(super) caller: Caller,
}

impl Bearer {
    /// The tenant that the credential is of.
    pub fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Slug of that tenant; empty for an operator who names none.
    pub fn tenant_slug(&self) -> &str {
        &self.tenant.slug
    }

    /// Quotas and switches of that tenant.
    pub fn settings(&self) -> &TenantSettings {
        &self.tenant.settings
    }

    /// The user, as the tenant calls it; `None` where it stands for none.
    pub fn external_id(&self) -> Option<&str> {
        self.external_id.as_deref()
    }

    /// The API key that it is.
    pub fn key(&self) -> Option<KeyId> {
        self.key
    }

    /// Refuses if `scope` is missing.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, scope: Scope) -> Result<()> {
        self.scopes.require(scope)
    }

    /// Whether an operator of the deployment calls.
    pub fn is_operator(&self) -> bool {
        matches!(self.caller, Caller::Operator(_))
    }

    /// As the audit log shows the caller.
    pub fn actor(&self) -> String {
        self.caller.name(self.external_id())
    }
}

/// What kind of credential calls, for history and audit.
pub(super) enum Caller {
    /// A token of a tenant's issuer, for its own user.
    Token,
    /// An API key, by the prefix that may be shown.
    Key(Arc<str>),
    /// Whoever runs the command line.
    Shell,
    /// A token of the deployment's own issuer, by its subject.
    Operator(Arc<str>),
}

impl Caller {
    /// Who did it, on behalf of `user`: stored with the user's id, and shown with the tenant's own name.
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

/// The user of a token of this issuer.
pub(super) fn by_claims(tenant: Arc<KnownTenant>, issuer: Arc<Issuer>, claims: &Claims) -> Bearer {
    Bearer {
        tenant,
        issuer: Some(issuer),
        external_id: Some(claims.sub.as_str().into()),
        key: None,
        scopes: scopes_of(claims),
        caller: Caller::Token,
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
