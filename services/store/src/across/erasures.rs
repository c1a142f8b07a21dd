//! Deletes the remaining rows of erased users.
//!
//! Runs across tenants because an erased user can no longer be a principal, and any tenant may have unfinished
//! erasures.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Result, TenantId, UserId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// An erased user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub tenant: TenantId,
    /// Id of the erased user, to find the rows.
    pub user: UserId,
}

/// Lists unfinished erasures, oldest first, and erasures finished after `since`. Finished ones are included because a
/// request that began before the erasure may have written rows after it.
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

/// Deletes at most `most` rows of an erased user and adds their number to the ledger of erasures. Returns 0 if no
/// rows are left.
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

/// Marks an erasure as finished.
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

/// An entry in the ledger of erasures, for export to a file outside of the database. If an old backup is restored, the
/// file shows which users to erase again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    pub tenant_id: Uuid,
    pub erasure_id: Uuid,
    /// The user id of the deleted rows.
    pub subject_id: Uuid,
    /// Keyed hash of the user's external id, in hexadecimal.
    pub external_hash: String,
    /// Reason for the erasure.
    pub reason: String,
    /// Actor who requested the erasure, by id.
    pub actor: String,
    /// Time of the request.
    pub requested_at: DateTime<Utc>,
}

/// Returns a page of the ledger for all tenants, ordered by id, starting after the erasure `behind`.
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
