//! Tenants: the customers, each with users, keys and issuers of its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{TenantId, TenantSettings};

/// A customer of the deployment.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Tenant {
    /// The tenant's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: TenantId,
    /// What tokens name it by.
    #[schema(example = "acme")]
    pub slug: String,
    /// Its name, as people are shown it.
    pub name: String,
    /// Quotas and switches.
    pub settings: TenantSettings,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}
