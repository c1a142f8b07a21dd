//! Identifiers: UUIDv7 newtypes made by the service, never by a caller.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct TenantId(pub Uuid);

/// One end user of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct UserId(pub Uuid);

impl UserId {
    /// The owner of rows that belong to a tenant as a whole, such as an operator's audit entry.
    pub const TENANT_WIDE: Self = Self(Uuid::nil());
}

/// A skill, for as long as it lives; a restored skill keeps its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct SkillId(pub Uuid);

impl From<Uuid> for UserId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

/// A new time-ordered id (RFC 9562, version 7).
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}
