//! Removing what is left of users who were erased.
//!
//! Why across tenants: such a user is nobody any more, so nothing runs as that user; and what is unfinished is a question over all
//! tenants.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId, UserId, manifest};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Whose rows are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// Of this tenant.
    pub tenant: TenantId,
    /// The id that the rows have.
    pub user: UserId,
}

/// The erasures that are not finished, the oldest first, and those that were finished since: whoever had begun to write before may
/// have written after.
///
/// # Errors
/// `Unavailable`.
pub async fn list_unfinished(db: &Database, since: DateTime<Utc>, limit: i64) -> Result<Vec<Subject>> {
    let mut tx = SystemTx::begin_at_leisure(db, "erasures.list_unfinished").await?;
    let rows = sqlx::query!(
        "-- erasures.list_unfinished
        select tenant_id, subject_id from erasures
        where finished_at is null or finished_at > $1
        order by finished_at desc nulls first, requested_at
        limit $2",
        since,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let subject = |tenant, user| Subject { tenant: TenantId(tenant), user: UserId(user) };
    Ok(rows.into_iter().map(|row| subject(row.tenant_id, row.subject_id)).collect())
}

/// Removes at most so many rows of a user who was erased, and notes in the ledger how many. 0 where nothing is left.
///
/// # Errors
/// `Unavailable`.
pub async fn take_step(db: &Database, subject: Subject, most: i32) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "erasures.take_step").await?;
    let removed = sqlx::query_scalar!(
        r#"-- erasures.take_step
        with step as materialized (select app.erase_step($1, $2, $3) as removed), noted as (
            update erasures e set removed = e.removed + s.removed from step s
            where e.tenant_id = $1 and e.subject_id = $2 and s.removed > 0
        )
        select removed as "removed!" from step"#,
        subject.tenant.0,
        subject.user.0,
        most
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(removed)
}

/// Notes that nothing is left.
///
/// # Errors
/// `Unavailable`.
pub async fn note_finished(db: &Database, subject: Subject, now: DateTime<Utc>) -> Result<()> {
    let mut tx = SystemTx::begin_at_leisure(db, "erasures.note_finished").await?;
    sqlx::query!(
        "-- erasures.note_finished
        update erasures set finished_at = $3 where tenant_id = $1 and subject_id = $2 and finished_at is null",
        subject.tenant.0,
        subject.user.0,
        now
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// One erasure as it is kept outside of the database, so that a restore of an older state does not bring the user back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// The tenant's id.
    pub tenant_id: Uuid,
    /// The erasure's id.
    pub erasure_id: Uuid,
    /// The id that the user's rows had.
    pub subject_id: Uuid,
    /// The user's name under a key of the deployment, hex.
    pub external_hash: String,
    /// Why.
    pub reason: String,
    /// Who asked for it, by id.
    pub actor: String,
    /// When.
    pub requested_at: DateTime<Utc>,
}

/// A page of the ledger of all tenants, in the order of ids, behind one.
///
/// # Errors
/// `Unavailable`.
pub async fn list_ledger(db: &Database, behind: Uuid, limit: i64) -> Result<Vec<LedgerLine>> {
    let mut tx = SystemTx::begin_at_leisure(db, "erasures.list_ledger").await?;
    let rows = sqlx::query!(
        "-- erasures.list_ledger
        select tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at from erasures
        where erasure_id > $1 order by erasure_id limit $2",
        behind,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let lines = rows.into_iter().map(|row| LedgerLine {
        tenant_id: row.tenant_id,
        erasure_id: row.erasure_id,
        subject_id: row.subject_id,
        external_hash: manifest::hex(&row.external_hash),
        reason: row.reason,
        actor: row.actor,
        requested_at: row.requested_at,
    });
    Ok(lines.collect())
}
