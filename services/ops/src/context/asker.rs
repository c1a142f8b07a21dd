//! The accounts that model requests are charged to: model time is shared fairly by tenants, and within a tenant by
//! users.

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_store::Principal;
use tokio::time::Instant;
use uuid::Uuid;

use crate::Priority;

/// The account that a model request is charged to: a user of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asker {
    pub tenant: TenantId,
    pub user: UserId,
}

impl Asker {
    /// The service itself, for work on behalf of all users.
    pub const HOUSE: Self = Self { tenant: TenantId(Uuid::nil()), user: UserId(Uuid::nil()) };

    /// Returns the user that a caller acts for.
    ///
    /// # Errors
    /// `Malformed` if the caller acts for no user.
    pub fn of(principal: &Principal) -> Result<Self> {
        Ok(Self { tenant: principal.tenant(), user: principal.user()? })
    }
}

/// Options for a model request: its account, priority and deadline.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    pub asker: Asker,
    pub priority: Priority,
    /// Time until which the caller waits; `None` to wait without a limit.
    pub deadline: Option<Instant>,
}

impl Asking {
    /// Creates options for a job's user, without a deadline.
    ///
    /// # Errors
    /// `Malformed` if the principal acts for no user.
    pub(crate) fn of_job(principal: &Principal, priority: Priority) -> Result<Self> {
        Ok(Self { asker: Asker::of(principal)?, priority, deadline: None })
    }
}
