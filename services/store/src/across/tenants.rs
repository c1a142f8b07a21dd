//! Tenants as managed by operators. Statements run as the system role, because a tenant cannot change itself.

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

use crate::vault::error::{is_unique_violation, refuse};
use crate::vault::place::HOME;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal, TenantTx};

/// Takes a lock, until the transaction ends, for adding items of one kind to a tenant. Concurrent requests therefore
/// cannot exceed a limit.
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

/// Returns whether Postgres knows an IANA time zone by this name. Runs across tenants because the tenant might not
/// exist yet.
///
/// # Errors
/// `Forbidden` unless the caller is an operator; `Unavailable`.
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

/// A tenant to create.
#[derive(Debug, Clone, Copy)]
pub struct NewTenant<'a> {
    /// Name in addresses and credentials.
    pub slug: &'a str,
    /// Display name.
    pub name: &'a str,
    /// Settings that differ from the defaults.
    pub settings: &'a Value,
    /// Name of the tenant's place.
    pub place: &'a str,
}

/// Creates a tenant.
///
/// # Errors
/// `Conflict` if the slug is taken; `Malformed` if the place does not exist; `Unavailable` if any place is
/// unreachable, because that place might have a tenant with this slug.
pub async fn create(db: &Database, operator: &Principal, new: &NewTenant<'_>, now: DateTime<Utc>) -> Result<Tenant> {
    operator.require_operator()?;
    let there = db.named(new.place)?;
    if !db.is_spread() {
        return insert(&there, operator, new, now).await;
    }
    // Serializes the creation of tenants with the same slug at different places. A waiting request occupies a
    // connection for administration of `home`, which the other request does not need.
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
    Error::Conflict { code: "tenant-exists", detail: format!("the tenant '{slug}' already exists") }
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

/// A stored tenant.
pub struct StoredTenant {
    pub tenant: Tenant,
    /// Settings as stored, including members that this version cannot use.
    pub settings: Value,
}

/// New name and settings of a tenant.
pub struct TenantState {
    pub name: String,
    pub settings: Value,
    /// Changes, for the audit log.
    pub detail: Value,
}

/// The tenant to change and the time of the change.
#[derive(Debug, Clone, Copy)]
pub struct UpdateAt<'a> {
    pub slug: &'a str,
    pub now: DateTime<Utc>,
}

/// Changes a tenant. `decide` gets the locked state and returns the new state, or `None` for no change.
///
/// # Errors
/// `NotFound`; errors of `decide`.
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

/// Reads the settings of a tenant. Members that this version cannot use get their defaults. They are counted in metrics
/// and logged once an hour.
pub(crate) fn read_settings(tenant: Uuid, stored: &Value) -> TenantSettings {
    static LOGGED: LazyLock<Cache<Uuid, ()>> =
        LazyLock::new(|| Cache::builder().max_capacity(10_000).time_to_live(Duration::from_secs(3600)).build());
    let StoredSettings { settings, unusable } = StoredSettings::read(stored);
    if !unusable.is_empty() {
        metrics::unusable_settings(unusable.len());
        if LOGGED.entry(tenant).or_insert(()).is_fresh() {
            let settings: Vec<String> = unusable.iter().map(|f| format!("{} {}", f.pointer, f.detail)).collect();
            tracing::warn!(tenant_id = %tenant, ?settings, "stored settings are invalid; using their defaults");
        }
    }
    settings
}
