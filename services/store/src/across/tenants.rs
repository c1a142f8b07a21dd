//! Tenants, as operators keep them. A tenant is above every tenant's context, so these run as the system role.

mod list;

use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, StoredSettings, Tenant, TenantId, TenantSettings, UserId, new_id};
use knowhow_telemetry::metrics;
use moka::sync::Cache;
use serde_json::Value;
use uuid::Uuid;

pub use list::{TenantFilter, list};

use crate::error::{is_unique_violation, refuse};
use crate::vault::place::HOME;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal, TenantTx};

/// Waits for others who are adding one of these things to the tenant, until this transaction ends: so nobody counts what two
/// add at once as one.
pub(crate) async fn count_alone(tx: &mut TenantTx, things: &str) -> Result<()> {
    let line = format!("{things} of {}", tx.tenant());
    sqlx::query!(
        "-- tenants.count_alone
        select pg_advisory_xact_lock(hashtextextended($1, 0))",
        line
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}

/// Whether Postgres knows a time zone by that name, an IANA one. Asked before there is a tenant to ask as.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `Unavailable`.
pub async fn knows_time_zone(db: &Database, operator: &Principal, name: &str) -> Result<bool> {
    operator.require_operator()?;
    let mut tx = SystemTx::begin(db, "tenants.knows_time_zone").await?;
    let is_known = sqlx::query_scalar!(
        r#"-- tenants.knows_time_zone
        select exists (select from pg_timezone_names n where n.name = $1) as "is_known!""#,
        name
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(is_known)
}

/// A tenant to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewTenant<'a> {
    /// Its name in addresses and credentials.
    pub slug: &'a str,
    /// Its name as people are shown it.
    pub name: &'a str,
    /// The settings that differ from the defaults.
    pub settings: &'a Value,
    /// At which place it is to live.
    pub place: &'a str,
}

/// Makes a tenant.
///
/// # Errors
/// `Conflict` where the slug is taken; `Malformed` where there is no such place; `Unavailable` where any place is out of reach,
/// as it might have a tenant of that name.
pub async fn create(db: &Database, operator: &Principal, new: &NewTenant<'_>, now: DateTime<Utc>) -> Result<Tenant> {
    operator.require_operator()?;
    let there = db.named(new.place)?;
    if !db.is_spread() {
        return insert(&there, operator, new, now).await;
    }
    // Two who make a tenant of one name at two places at once do so one after the other. Who waits holds none of the connections that
    // the other one needs.
    let mut alone = SystemTx::begin_at_leisure(&db.at(HOME), "tenants.create_alone").await?;
    sqlx::query!(
        "-- tenants.create_alone
        select pg_advisory_xact_lock(hashtextextended('tenant ' || $1, 0))",
        new.slug
    )
    .execute(alone.conn())
    .await
    .map_err(refuse)?;
    for other in db.each().filter(|other| other.here() != there.here()) {
        if exists(&other, new.slug).await? {
            return Err(is_taken(new.slug));
        }
    }
    let made = insert(&there, operator, new, now).await?;
    alone.commit().await?;
    Ok(made)
}

async fn exists(db: &Database, slug: &str) -> Result<bool> {
    let mut tx = SystemTx::begin(db, "tenants.exists").await?;
    let exists = sqlx::query_scalar!(
        r#"-- tenants.exists
        select exists (select from tenants where slug = $1) as "exists!""#,
        slug
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(exists)
}

fn is_taken(slug: &str) -> Error {
    Error::Conflict { code: "tenant-exists", detail: format!("there is a tenant '{slug}' already") }
}

async fn insert(db: &Database, operator: &Principal, new: &NewTenant<'_>, now: DateTime<Utc>) -> Result<Tenant> {
    let NewTenant { slug, name, settings, .. } = *new;
    let id = TenantId(new_id());
    let mut tx = SystemTx::begin(db, "tenants.create").await?;
    sqlx::query!(
        "-- tenants.create
        with made as (
            insert into tenants (tenant_id, slug, name, settings, created_at) values ($1, $2, $3, $4, $5)
            returning tenant_id
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select tenant_id, $6, $7, $5, $8, 'tenant.create', $2 from made",
        id.0,
        slug,
        name,
        settings,
        now,
        UserId::TENANT_WIDE.0,
        new_id(),
        operator.actor()
    )
    .execute(tx.conn())
    .await
    .map_err(|e| if is_unique_violation(&e) { is_taken(slug) } else { refuse(e) })?;
    tx.commit().await?;
    let settings = read_settings(id.0, settings);
    let (slug, name, place) = (slug.into(), name.into(), db.place_name().into());
    Ok(Tenant { id, slug, name, settings, place, created_at: now, suspended_at: None, suspended_reason: None })
}

/// A tenant as it is stored.
pub struct StoredTenant {
    pub tenant: Tenant,
    /// Its settings as they are stored: members that this version cannot use are among them.
    pub settings: Value,
}

/// The name and settings that a tenant gets.
pub struct TenantState {
    pub name: String,
    pub settings: Value,
    /// What changed, for the audit log.
    pub detail: Value,
}

/// The tenant to change, in which the operator stands, and the time of the change.
#[derive(Debug, Clone, Copy)]
pub struct UpdateAt<'a> {
    pub slug: &'a str,
    pub now: DateTime<Utc>,
}

/// Changes a tenant. `decide` is given its state, locked, and returns the new one, or `None` if nothing changes.
///
/// # Errors
/// `NotFound`; what `decide` returns.
pub async fn update(
    db: &Database,
    operator: &Principal,
    at: UpdateAt<'_>,
    decide: impl FnOnce(&StoredTenant) -> Result<Option<TenantState>>,
) -> Result<Tenant> {
    operator.require_operator()?;
    let mut tx = SystemTx::begin_about(db, operator.tenant(), "tenants.update").await?;
    let UpdateAt { slug, now } = at;
    let stored = lock(db, &mut tx, slug).await?;
    let Some(TenantState { name, settings, detail }) = decide(&stored)? else { return Ok(stored.tenant) };
    sqlx::query!(
        "-- tenants.update
        with changed as (
            update tenants set name = $2, settings = $3 where slug = $1
            returning tenant_id, slug
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select tenant_id, $4, $5, $6, $7, 'tenant.update', slug, $8 from changed",
        slug,
        name,
        settings,
        UserId::TENANT_WIDE.0,
        new_id(),
        now,
        operator.actor(),
        detail
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let settings = read_settings(stored.tenant.id.0, &settings);
    Ok(Tenant { name, settings, ..stored.tenant })
}

async fn lock(db: &Database, tx: &mut SystemTx, slug: &str) -> Result<StoredTenant> {
    let row = sqlx::query!(
        "-- tenants.lock
        select tenant_id, slug, name, settings, created_at, suspended_at, suspended_reason from tenants
        where slug = $1 for update",
        slug
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("tenant"))?;
    let tenant = Tenant {
        id: TenantId(row.tenant_id),
        slug: row.slug,
        name: row.name,
        settings: read_settings(row.tenant_id, &row.settings),
        place: db.place_name().into(),
        created_at: row.created_at,
        suspended_at: row.suspended_at,
        suspended_reason: row.suspended_reason,
    };
    Ok(StoredTenant { tenant, settings: row.settings })
}

/// Reads the settings of a tenant. Members that this version cannot use have their defaults; they are counted, and logged once an
/// hour.
pub(crate) fn read_settings(tenant: Uuid, stored: &Value) -> TenantSettings {
    static LOGGED: LazyLock<Cache<Uuid, ()>> =
        LazyLock::new(|| Cache::builder().max_capacity(10_000).time_to_live(Duration::from_secs(3600)).build());
    let StoredSettings { settings, unusable } = StoredSettings::read(stored);
    if !unusable.is_empty() {
        metrics::unusable_settings(unusable.len());
        if LOGGED.entry(tenant).or_insert(()).is_fresh() {
            let settings: Vec<String> = unusable.iter().map(|f| format!("{} {}", f.pointer, f.detail)).collect();
            tracing::warn!(tenant_id = %tenant, ?settings, "stored settings are unusable; their defaults are used");
        }
    }
    settings
}
