//! API keys of a tenant's backends.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{KeyId, Scope};

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    /// The key's id, by which it can be revoked.
    #[schema(value_type = uuid::Uuid)]
    pub id: KeyId,
    /// The tenant it works in, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// What it begins with, after `kh_`.
    #[schema(example = "a1b2c3d4e5f6")]
    pub prefix: String,
    /// A name by which people recognise the key.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it stops working.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Its last use, to the minute.
    pub last_used_at: Option<DateTime<Utc>>,
}
