//! Tenants, API keys and users as looked up in the database and cached by the gate.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{KeyId, Scopes, TenantId, TenantSettings, UserId};

use crate::vault::credential::Issuer;
use crate::vault::place::{HOME, PlaceId};

/// A tenant with the data needed to check credentials.
pub(crate) struct KnownTenant {
    pub(crate) id: TenantId,
    /// Place of the tenant's rows.
    pub(crate) place: PlaceId,
    /// Whether the tenant lives in another place. If so, these rows are an unfinished copy, or a move left them
    /// behind.
    pub(crate) is_elsewhere: bool,
    pub(crate) slug: String,
    pub(crate) settings: TenantSettings,
    /// The tenant's library of starters, if it has or had one.
    pub(crate) library: Option<TenantLibrary>,
    /// Number of erasures, suspensions and unsuspensions of the tenant's users. A cached user with a lower number is
    /// looked up again.
    pub(crate) erasures: i64,
    /// Reason for the suspension, if the tenant is suspended.
    pub(crate) suspended: Option<Arc<str>>,
}

impl KnownTenant {
    /// Returns a placeholder for an operator's token without a tenant. No row has its tenant id.
    pub(crate) fn nowhere() -> Self {
        Self {
            id: TenantId::FIRST,
            place: HOME,
            is_elsewhere: false,
            slug: String::new(),
            settings: TenantSettings::default(),
            library: None,
            erasures: 0,
            suspended: None,
        }
    }
}

/// The current texts of a tenant's library.
#[derive(Debug)]
pub struct TenantLibrary {
    /// Ids of the texts, sorted.
    pub ids: Vec<i32>,
}

impl From<Vec<i32>> for TenantLibrary {
    fn from(mut ids: Vec<i32>) -> Self {
        ids.sort_unstable();
        Self { ids }
    }
}

/// Lookup key for the tenant and issuer of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) slug: String,
    /// Empty to look up only the tenant.
    pub(crate) iss: String,
}

/// A tenant and, if it was found, the requested issuer.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) tenant: Arc<KnownTenant>,
    pub(crate) issuer: Option<Arc<Issuer>>,
}

/// A stored API key.
pub(crate) struct KnownKey {
    pub(crate) id: KeyId,
    pub(crate) tenant: Arc<KnownTenant>,
    pub(crate) secret_hash: Vec<u8>,
    /// Mark of the master key that the hash was made with, if recorded.
    pub(crate) hashed_under: Option<Vec<u8>>,
    pub(crate) scopes: Scopes,
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) revoked_at: Option<DateTime<Utc>>,
}

impl KnownKey {
    pub(crate) fn is_live(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

/// A cached user.
#[derive(Clone)]
pub(crate) struct KnownUser {
    pub(crate) id: UserId,
    pub(crate) starters_release: Option<Arc<[u8]>>,
    /// Reason for the suspension, if the user is suspended.
    pub(crate) suspended: Option<Arc<str>>,
    /// Lower bound of the tenant's erasure counter when this user was read. If the counter is higher, the entry may
    /// be stale.
    pub(crate) erasures: i64,
}
