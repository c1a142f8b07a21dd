//! Deletes archived skills after their tenant's retention.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use uuid::Uuid;

use crate::Database;
use crate::skills::history::{ClearedStep, STEP};
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

pub(super) async fn list_owners_of_due_archives(
    db: &Database,
    now: DateTime<Utc>,
    batch: i64,
) -> Result<Vec<(Uuid, Uuid)>> {
    let mut tx = SystemTx::begin_at_leisure(db, "prune.list_owners_of_due_archives").await?;
    let owners = sqlx::query!(
        "-- prune.list_owners_of_due_archives
        select distinct tenant_id, user_id from archived_skills where purge_at <= $1 limit $2",
        now,
        batch
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(owners.into_iter().map(|o| (o.tenant_id, o.user_id)).collect())
}

/// Deletes one batch of a user's expired archive. Locks the user's catalogue row first: a writer that is about to
/// reuse a stored file waits for this transaction and then stores the file again. Each batch has its own transaction,
/// so that other writers of the user can run between batches.
pub(super) async fn clear_one_step(
    db: &Database,
    tenant: Uuid,
    user: Uuid,
    now: DateTime<Utc>,
) -> Result<Option<ClearedStep>> {
    let mut tx = SystemTx::begin_at_leisure(db, "prune.clear_one_step").await?;
    sqlx::query!(
        "-- prune.lock_owner
        select revision from user_catalogs where tenant_id = $1 and user_id = $2 for update",
        tenant,
        user
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    let row = sqlx::query!(
        "-- prune.clear_one_step (the tenant_id and user_id are those of an entry that is due)
        select finished, files from app.clear_deleted($1, $2, $3, $4)",
        tenant,
        user,
        now,
        STEP
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    // Both columns are null if no entry is left.
    Ok(row
        .finished
        .zip(row.files)
        .map(|(finished, files)| ClearedStep { finished, files: files.unsigned_abs().into() }))
}
