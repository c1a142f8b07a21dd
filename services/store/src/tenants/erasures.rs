//! Erases users of a tenant, and protects users from erasure. A job deletes the rows (`across/erasures.rs`).

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Erasure, ErasureId, Error, Result, UserId, new_id};

use crate::TenantTx;
use crate::vault::error::refuse;

pub use crate::across::erasures::{LedgerLine, Subject, list_ledger, list_unfinished, note_finished, take_step};

/// A user to erase.
#[derive(Debug)]
pub struct NewErasure<'a> {
    /// Stored hash of the user's external id.
    pub external_hash: &'a [u8],
    /// Reason for the erasure.
    pub reason: &'a str,
    pub now: DateTime<Utc>,
}

/// Result of starting an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureStart {
    /// The user's data is hidden from now on.
    Erasing(ErasureId),
    /// An admin has protected the user from erasure.
    Held,
    /// The user was already erased.
    Gone,
}

/// Erases the user of the transaction. Frees the external id at once; a job deletes the rows.
pub async fn begin(tx: &mut TenantTx, new: NewErasure<'_>) -> Result<ErasureStart> {
    let (tenant, user, actor, id) = (tx.tenant(), tx.user(), tx.actor().to_owned(), new_id());
    let begun = sqlx::query!(
        "-- erasures.begin
        with marked as (
            update users set external_id = chr(1) || user_id::text, erased_at = $3
            where tenant_id = $1 and user_id = $2 and erased_at is null and held_at is null
            returning user_id
        ), counted as (
            update tenants t set erasures = t.erasures + 1, user_count = greatest(0, t.user_count - 1)
            from marked where t.tenant_id = $1
        ), noted as (
            insert into erasures (tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at)
            select $1, $4, user_id, $5, $6, $7, $3 from marked
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
            select $1, user_id, $8, $3, $7, 'user.erase', user_id::text,
                   jsonb_build_object('reason', $6::text, 'erasure', $4::uuid)
            from marked
        )
        select app.enqueue($9, '{}', 'erasure')::text from marked",
        tenant,
        user,
        new.now,
        id,
        new.external_hash,
        new.reason,
        actor,
        new_id(),
        task::ERASE_USER
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    if begun.is_some() {
        return Ok(ErasureStart::Erasing(ErasureId(id)));
    }
    let held = sqlx::query_scalar!(
        r#"-- erasures.is_held
        select held_at is not null as "held!" from users where tenant_id = $1 and user_id = $2 and erased_at is null"#,
        tenant,
        user
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(if held == Some(true) { ErasureStart::Held } else { ErasureStart::Gone })
}

/// Protects the user of the transaction from erasure for a reason, or removes the protection if `reason` is `None`.
///
/// # Errors
/// `NotFound` if the user was erased.
pub async fn hold(tx: &mut TenantTx, reason: Option<&str>, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let found = sqlx::query!(
        "-- erasures.hold
        with found as (
            select user_id, hold_reason from users where tenant_id = $1 and user_id = $2 and erased_at is null for update
        ), changed as (
            update users u set held_at = case when $3::text is not null then coalesce(u.held_at, $4) end, hold_reason = $3
            from found f
            where u.tenant_id = $1 and u.user_id = f.user_id and f.hold_reason is distinct from $3
            returning u.user_id
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
            select $1, user_id, $5, $4, $6, case when $3::text is null then 'user.release' else 'user.hold' end, user_id::text,
                   jsonb_strip_nulls(jsonb_build_object('reason', $3::text))
            from changed
        )
        select user_id from found",
        tenant,
        user,
        reason,
        now,
        new_id(),
        actor
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    found.map(drop).ok_or_else(|| Error::not_found("user"))
}

/// Lists a page of the tenant's erasures, newest first, starting before the erasure `before`.
pub async fn list(tx: &mut TenantTx, before: Option<ErasureId>, limit: i64) -> Result<Vec<Erasure>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        Erasure,
        r#"-- erasures.list
        select erasure_id as id, $4::text as "tenant!", subject_id as user_id, reason,
               app.shown_actor(actor) as "requested_by!", requested_at, finished_at, removed
        from erasures
        where tenant_id = $1 and ($2::uuid is null or erasure_id < $2)
        order by erasure_id desc
        limit $3"#,
        tenant,
        before.map(|erasure| erasure.0),
        limit,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Search for an erasure.
#[derive(Debug, Default)]
pub struct ErasureSearch<'a> {
    /// Hashes of the user's name. The last erasure with one of them is found.
    pub hashes: &'a [[u8; 32]],
    /// Id that the erasure must have; `None` for any id.
    pub id: Option<ErasureId>,
    /// User id that the erasure must have; `None` for any user.
    pub user: Option<UserId>,
}

/// Finds an erasure of the tenant.
pub async fn find(tx: &mut TenantTx, sought: ErasureSearch<'_>) -> Result<Option<Erasure>> {
    let ErasureSearch { hashes, id, user } = sought;
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    let hashes: Vec<Vec<u8>> = hashes.iter().map(|hash| hash.to_vec()).collect();
    sqlx::query_as!(
        Erasure,
        r#"-- erasures.find
        select erasure_id as id, $4::text as "tenant!", subject_id as user_id, reason,
               app.shown_actor(actor) as "requested_by!", requested_at, finished_at, removed
        from erasures
        where tenant_id = $1 and (external_hash = any ($2) or erasure_id = $3) and ($5::uuid is null or subject_id = $5)
        order by erasure_id desc
        limit 1"#,
        tenant,
        &hashes,
        id.map(|id| id.0),
        slug,
        user.map(|user| user.0)
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)
}
