//! Positions of a primary and its replica in the write-ahead log, used to check whether the replica is recent enough
//! for reads.
//!
//! Runs across tenants because the log belongs to the whole server. No tenant's rows are read.

use knowhow_domain::Result;
use sqlx::Row;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Returns the position of the primary, after all acknowledged commits.
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

/// Returns the replayed position of the replica; `None` if the server is a primary.
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
