//! Deletes unused snapshots.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use uuid::Uuid;

use super::remove;
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

pub(super) async fn prune_idle_snapshots(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_idle_snapshots
        delete from current_snapshots where (tenant_id, user_id, index_budget, form) in (
            select c.tenant_id, c.user_id, c.index_budget, c.form from current_snapshots c
            where c.rendered_at < $1::timestamptz - interval '1 day' and c.used_at < $1::timestamptz - interval '1 day'
            limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

/// Deletes unreferenced snapshots older than a day and returns their number. Reads all snapshots in key order, one
/// page per transaction, because no index shows which snapshots are unreferenced.
///
/// # Errors
/// `Unavailable`; rows already deleted stay deleted.
pub async fn prune_snapshots(db: &Database, now: DateTime<Utc>, page: i64) -> Result<u64> {
    let (mut after, mut removed) = ([Uuid::nil(); 3], 0);
    loop {
        let mut tx = SystemTx::begin_at_leisure(db, "prune.prune_snapshots").await?;
        let row = sqlx::query!(
            r#"-- prune.prune_snapshots
            with page as materialized (
                select n.tenant_id, n.user_id, n.snapshot_id, n.created_at from snapshots n
                where (n.tenant_id, n.user_id, n.snapshot_id) > ($2, $3, $4)
                order by n.tenant_id, n.user_id, n.snapshot_id
                limit $5
            ), removed as (
                delete from snapshots n using page p
                where n.tenant_id = p.tenant_id and n.user_id = p.user_id and n.snapshot_id = p.snapshot_id
                  and p.created_at < $1::timestamptz - interval '1 day'
                  and not exists (select from sessions s where s.tenant_id = p.tenant_id and s.user_id = p.user_id
                                  and s.snapshot_id = p.snapshot_id)
                  and not exists (select from current_snapshots c where c.tenant_id = p.tenant_id
                                  and c.user_id = p.user_id and c.snapshot_id = p.snapshot_id)
                returning 1
            )
            select (select count(*) from removed) as "removed!", p.tenant_id, p.user_id, p.snapshot_id
            from page p
            order by p.tenant_id desc, p.user_id desc, p.snapshot_id desc
            limit 1"#,
            now,
            after[0],
            after[1],
            after[2],
            page
        )
        .fetch_optional(tx.conn())
        .await
        .map_err(refuse)?;
        tx.commit().await?;
        let Some(row) = row else { return Ok(removed) };
        removed += row.removed.unsigned_abs();
        after = [row.tenant_id, row.user_id, row.snapshot_id];
    }
}
