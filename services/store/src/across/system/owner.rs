//! Finds the user of a claimed job.
//!
//! Runs across tenants because workers claim jobs of all tenants, and there is no principal before the user is found.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, TenantId, UserId};
use serde_json::Value;

use super::TenantRow;
use crate::Database;
use crate::vault::error::{is_being_moved, refuse};
use crate::vault::known_callers::KnownTenant;
use crate::vault::tx::SystemTx;

/// A user and its tenant.
pub(crate) struct OwnerDetails {
    pub(crate) tenant: KnownTenant,
    pub(crate) external_id: String,
    pub(crate) starters_release: Option<Arc<[u8]>>,
    /// Error and start of the suspension, if the tenant or user is suspended.
    pub(crate) suspended: Option<(Error, DateTime<Utc>)>,
}

/// Tenant, user and task of a job, as the job itself states them.
pub(crate) struct Claim<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) task: &'a str,
    pub(crate) payload: &'a Value,
}

/// Finds the user of a claimed job, and whether the database itself enqueued the job for this user. Returns
/// `Unavailable` if the tenant lives in another place, so that its rows are hidden. The same statement checks the
/// place, because the tenant may be moved back between two statements.
pub(crate) async fn find_owner(db: &Database, claim: &Claim<'_>) -> Result<Option<(OwnerDetails, bool)>> {
    let mut tx = SystemTx::begin(db, "system.find_owner").await?;
    let row = sqlx::query!(
        r#"-- system.find_owner
        select w.is_elsewhere as "is_elsewhere!", o.slug as "slug?", o.settings as "settings?", o.library, o.erasures as "erasures?",
               o.external_id as "external_id?", o.starters_release, app.is_sealed($3, $4) as "is_sealed!",
               o.tenant_suspended, o.tenant_suspended_at, o.user_suspended, o.user_suspended_at
        from (select exists (select from tenants_elsewhere e where e.tenant = $1) as is_elsewhere) w
        left join (
            select t.slug, t.settings, t.library, t.erasures, u.external_id, c.starters_release,
                   t.suspended_reason as tenant_suspended, t.suspended_at as tenant_suspended_at,
                   u.suspended_reason as user_suspended, u.suspended_at as user_suspended_at
            from users u
            join tenants t on t.tenant_id = u.tenant_id
            join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
            where u.tenant_id = $1 and u.user_id = $2 and u.erased_at is null) o on true"#,
        claim.tenant.0,
        claim.user.0,
        claim.task,
        claim.payload
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    if row.is_elsewhere {
        return Err(is_being_moved());
    }
    let (Some(slug), Some(settings), Some(erasures), Some(external_id)) =
        (row.slug, row.settings, row.erasures, row.external_id)
    else {
        return Ok(None);
    };
    let since = |what, reason: Option<String>, at: Option<DateTime<Utc>>| {
        reason.zip(at).map(|(reason, at)| (Error::Suspended { what, reason }, at))
    };
    let of_tenant = since("tenant", row.tenant_suspended, row.tenant_suspended_at);
    let of_user = since("user", row.user_suspended, row.user_suspended_at);
    // A job of a suspended tenant is rejected with the error in `suspended`.
    let tenant = TenantRow {
        tenant_id: claim.tenant.0,
        slug,
        settings,
        library: row.library,
        erasures,
        suspended_reason: None,
        is_elsewhere: false,
    };
    let owner = OwnerDetails {
        tenant: tenant.into_known(db),
        suspended: of_tenant.or(of_user),
        external_id,
        starters_release: row.starters_release.map(Arc::from),
    };
    Ok(Some((owner, row.is_sealed)))
}
