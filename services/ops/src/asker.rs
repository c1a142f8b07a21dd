//! For whom a model is asked: its time is shared by tenants, and within a tenant by users.

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_store::Principal;
use uuid::Uuid;

/// A user of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asker {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
}

impl Asker {
    /// The service itself, for what all users share.
    pub const HOUSE: Self = Self { tenant: TenantId(Uuid::nil()), user: UserId(Uuid::nil()) };

    /// The user that a caller acts for.
    ///
    /// # Errors
    /// `Malformed` where that is nobody.
    pub fn of(principal: &Principal) -> Result<Self> {
        Ok(Self { tenant: principal.tenant(), user: principal.user()? })
    }
}
