//! API keys of a tenant's backends.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{KeyId, Scope};

/// An API key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    /// Id of the key, for revoking it.
    #[schema(value_type = uuid::Uuid)]
    pub id: KeyId,
    /// Slug of the tenant.
    #[schema(example = "acme")]
    pub tenant: String,
    /// First characters of the key, after `kh_`.
    #[schema(example = "a1b2c3d4e5f6")]
    pub prefix: String,
    /// Display name.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<Scope>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: Option<DateTime<Utc>>,
    /// Time of revocation.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<DateTime<Utc>>,
}
