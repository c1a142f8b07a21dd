//! Audit of rejected logins. They are counted by tenant and address and written at intervals, so that many attempts
//! result in few entries.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Clock, Result, TenantId, UserId, new_id};
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::place::{HOME, PlaceId};
use crate::vault::tx::SystemTx;

/// Delay until the first write. It quadruples for each later write while attempts continue.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Maximum delay between two writes.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// Maximum number of counters by address. Attempts from further addresses are counted by tenant only.
const ADDRESSES: usize = 64;
/// Maximum number of counters by tenant for attempts from further addresses.
const TENANTS: usize = 64;

/// A rejected login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RefusedLogin {
    /// Place of the tenant.
    pub(crate) place: PlaceId,
    /// The nil tenant if the credential names no existing tenant.
    pub(crate) tenant: TenantId,
    /// Client address; `None` if the login is counted by tenant only.
    pub(crate) address: Option<IpAddr>,
}

#[derive(Default)]
struct RejectedLoginCounts {
    by_login: HashMap<RefusedLogin, u32>,
    /// Whether a task is running that will write the counts.
    is_awaited: bool,
}

impl RejectedLoginCounts {
    fn add(&mut self, login: RefusedLogin) {
        let known = self.by_login.len();
        let from_anywhere = RefusedLogin { address: None, ..login };
        let counted = if self.by_login.contains_key(&login) || known < ADDRESSES {
            login
        } else if self.by_login.contains_key(&from_anywhere) || known < ADDRESSES + TENANTS {
            from_anywhere
        } else {
            RefusedLogin { place: HOME, tenant: TenantId(Uuid::nil()), address: None }
        };
        let count = self.by_login.entry(counted).or_default();
        *count = count.saturating_add(1);
    }
}

/// Rejected logins that are not in the audit log yet.
#[derive(Default, Clone)]
pub(crate) struct RefusedLogins(Arc<Mutex<RejectedLoginCounts>>);

impl RefusedLogins {
    fn lock(&self) -> MutexGuard<'_, RejectedLoginCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a rejected login and starts the task that writes the counts, unless it is running.
    pub(crate) fn note(&self, db: &Database, clock: &Arc<dyn Clock>, login: RefusedLogin) {
        let mut counts = self.lock();
        counts.add(login);
        if !std::mem::replace(&mut counts.is_awaited, true) {
            tokio::spawn(self.clone().write_on(db.clone(), clock.clone()));
        }
    }

    /// Writes the counts repeatedly until there are no new ones.
    async fn write_on(self, db: Database, clock: Arc<dyn Clock>) {
        let mut wait = FIRST_WAIT;
        loop {
            tokio::time::sleep(wait).await;
            let counts = {
                let mut counts = self.lock();
                counts.is_awaited = !counts.by_login.is_empty();
                std::mem::take(&mut counts.by_login)
            };
            if counts.is_empty() {
                return;
            }
            for at in db.each() {
                let there = counts.iter().filter(|(login, _)| login.place == at.here());
                if let Err(error) = write(&at, there, clock.as_ref()).await {
                    tracing::warn!(%error, "rejected logins were not written to the audit log");
                }
            }
            wait = LONGEST_WAIT.min(wait * 4);
        }
    }
}

/// Writes the counts to the audit log.
///
/// Runs across tenants because a rejected login has no user and perhaps no tenant.
async fn write(db: &Database, counts: impl Iterator<Item = (&RefusedLogin, &u32)>, clock: &dyn Clock) -> Result<()> {
    let (mut tenants, mut addresses, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (RefusedLogin { tenant, address, .. }, count) in counts {
        tenants.push(tenant.0);
        addresses.push(address.map(|address| address.to_string()).unwrap_or_default());
        numbers.push(i64::from(*count));
    }
    if tenants.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = tenants.iter().map(|_| new_id()).collect();
    let mut tx = SystemTx::begin_at_leisure(db, "rejected_logins.write").await?;
    sqlx::query!(
        "-- rejected_logins.write
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, address)
        select tenant_id, $1, audit_id, $2, 'nobody', 'login.refused', 'login', jsonb_build_object('count', count),
               nullif(address, '')::inet
        from unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) as r (tenant_id, audit_id, address, count)
        -- Of a tenant that moves meanwhile they are lost: what is behind its fence must stay as it was compared.
        where not exists (select from tenants_elsewhere e where e.tenant = r.tenant_id)",
        UserId::TENANT_WIDE.0,
        clock.now(),
        &tenants,
        &ids,
        &addresses,
        &numbers
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

#[cfg(test)]
mod tests;
