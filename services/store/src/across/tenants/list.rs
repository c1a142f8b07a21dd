//! Lists the tenants of a place and records the access in the audit log.
//!
//! Runs across tenants because operators act on tenants from outside, as in `across/tenants.rs`.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Tenant, TenantId, UserId, new_id};

use super::read_settings;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal, Window};

#[derive(Debug, Clone, Copy)]
pub struct TenantFilter<'a> {
    /// Slug of the only tenant to return; `None` for all tenants.
    pub only: Option<&'a str>,
    /// Page, ordered by slug.
    pub page: Window<&'a str>,
}

/// Lists tenants of this place ordered by slug.
///
/// # Errors
/// `Forbidden` unless the caller is an operator.
pub async fn list(
    db: &Database,
    operator: &Principal,
    filter: &TenantFilter<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<Tenant>> {
    operator.require_operator()?;
    let TenantFilter { only, page: Window { behind: after, limit } } = *filter;
    let mut tx = SystemTx::begin(db, "tenants.list").await?;
    let rows = sqlx::query!(
        r#"-- tenants.list
        with found as materialized (
            select tenant_id, slug, name, settings, created_at, suspended_at, suspended_reason from tenants
            where slug collate "C" > $1 and ($2::text is null or slug = $2)
              and not exists (select from tenants_elsewhere e where e.tenant = tenants.tenant_id)
            order by slug collate "C"
            limit $3
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
            select coalesce((select tenant_id from found where $2 is not null), $4), $4, $5, $6, $7, 'tenant.read',
                   coalesce($2, 'all tenants')
        )
        select tenant_id, slug, name, settings, created_at, suspended_at, suspended_reason from found order by slug collate "C""#,
        after,
        only,
        limit,
        UserId::TENANT_WIDE.0,
        new_id(),
        now,
        operator.actor()
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let tenants = rows.into_iter().map(|r| Tenant {
        id: TenantId(r.tenant_id),
        slug: r.slug,
        name: r.name,
        settings: read_settings(r.tenant_id, &r.settings),
        place: db.place_name().into(),
        created_at: r.created_at,
        suspended_at: r.suspended_at,
        suspended_reason: r.suspended_reason,
    });
    Ok(tenants.collect())
}
