//! For whom a model is asked: its time is shared by tenants, and within a tenant by users.

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_store::Principal;
use tokio::time::Instant;
use uuid::Uuid;

use crate::Priority;

/// A user of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asker {
    pub tenant: TenantId,
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

/// On whose account a model is asked, how urgently, and until when its answer is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    pub asker: Asker,
    pub priority: Priority,
    /// `None` waits however long it takes.
    pub deadline: Option<Instant>,
}

impl Asking {
    /// On the account of a job's user, however long it takes.
    ///
    /// # Errors
    /// `Malformed` for who acts for no user.
    pub(crate) fn of_job(principal: &Principal, priority: Priority) -> Result<Self> {
        Ok(Self { asker: Asker::of(principal)?, priority, deadline: None })
    }
}
