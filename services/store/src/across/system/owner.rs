//! Finds the user whose job a worker has claimed.
//!
//! Why across tenants: workers claim the jobs of all of them, and until the user is found there is nobody to run as.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, TenantId, UserId};
use serde_json::Value;

use crate::error::{is_being_moved, refuse};
use crate::vault::gate::{KnownTenant, TenantLibrary};
use crate::vault::tx::SystemTx;
use crate::{Database, tenants};

/// A user and the tenant around it.
pub(crate) struct Owner {
    pub(crate) tenant: KnownTenant,
    pub(crate) external_id: String,
    pub(crate) starters_release: Option<Arc<[u8]>>,
    /// Why and since when the user's jobs wait, where they do.
    pub(crate) suspended: Option<(Error, DateTime<Utc>)>,
}

/// What a job says of itself.
pub(crate) struct Claim<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) task: &'a str,
    pub(crate) payload: &'a Value,
}

/// Why: a claimed job says whose it is; until the row is found there is nobody to run as. Also whether the job was put into
/// the queue by the database, for them. `Unavailable` where the tenant lives elsewhere, so that its rows are hidden: asked in the same
/// statement, as it may come back in between.
pub(crate) async fn find_owner(db: &Database, claim: &Claim<'_>) -> Result<Option<(Owner, bool)>> {
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
    let owner = Owner {
        tenant: KnownTenant {
            id: claim.tenant,
            place: db.here(),
            is_elsewhere: false,
            slug,
            settings: tenants::read_settings(claim.tenant.0, &settings),
            library: row.library.map(TenantLibrary::from),
            erasures,
            suspended: None,
        },
        suspended: of_tenant.or(of_user),
        external_id,
        starters_release: row.starters_release.map(Arc::from),
    };
    Ok(Some((owner, row.is_sealed)))
}
