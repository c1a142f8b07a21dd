//! Where a primary and its replica are in the write-ahead log, by which it is seen whether the replica may be asked.
//!
//! Why across tenants: the log is the whole server's, and no row of anybody is looked at.

use knowhow_domain::Result;
use sqlx::Row;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Where the primary is: behind all that was said to be kept.
pub(crate) async fn find_position(primary: &Database) -> Result<i64> {
    let mut tx = SystemTx::begin(primary, "replica.find_position").await?;
    let row = sqlx::query(
        "-- replica.find_position
        select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint",
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    row.try_get(0).map_err(refuse)
}

/// How far the replica is; `None` of one that is a primary itself.
pub(crate) async fn find_replayed(replica: &Database) -> Result<Option<i64>> {
    let mut tx = SystemTx::begin(replica, "replica.find_replayed").await?;
    let row = sqlx::query(
        "-- replica.find_replayed
        select case when pg_is_in_recovery()
                    then coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint end",
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    row.try_get(0).map_err(refuse)
}
