//! Counts what the reconciler of the graph has repaired, and what is still to be made.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::job::task;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// What of the graph is still to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrelated {
    /// Users whose skills are to be read.
    pub users: i64,
    /// Jobs that wait, or are at work.
    pub jobs: i64,
}

/// Users whose skills were not all read for the graph by these rules, and jobs that read them: at most `most` of either.
///
/// Why: it is the operator's question, over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn count_unrelated(db: &Database, rules: i32, most: i64) -> Result<Unrelated> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.count_unrelated").await?;
    let (users, jobs) = sqlx::query_as(
        "-- due.count_unrelated
        select (select count(*) from (select from user_catalogs c
                                      where c.starters_at is null and c.related_rules < $1 and c.skill_count > 0
                                      limit $2) u),
               (select count(*) from (select from graphile_worker._private_jobs j
                                      join graphile_worker._private_tasks t on t.id = j.task_id
                                      where t.identifier = $3 and j.attempts < j.max_attempts
                                      limit $2) w)",
    )
    .bind(rules)
    .bind(most)
    .bind(task::RELATE_SKILLS)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(Unrelated { users, jobs })
}

/// What the reconciler of the graph has repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Skills that were not in the graph.
    pub indexed: i64,
    /// Skills that were to be read, and were forgotten.
    pub reconciled: i64,
    /// Entities whose skills were gone.
    pub removed: i64,
}

/// Adds to what was repaired today.
///
/// Why: the counts are of all tenants together.
///
/// # Errors
/// `Unavailable`.
pub async fn add_reconciled(db: &Database, repaired: Reconciled, now: DateTime<Utc>) -> Result<()> {
    let mut tx = SystemTx::begin(db, "due.add_reconciled").await?;
    sqlx::query!(
        "-- due.add_reconciled
        insert into reconciliations as r (day, indexed, reconciled, removed, last_at)
        values (($4::timestamptz at time zone 'UTC')::date, $1, $2, $3, $4)
        on conflict (day) do update
        set indexed = r.indexed + excluded.indexed, reconciled = r.reconciled + excluded.reconciled,
            removed = r.removed + excluded.removed, last_at = greatest(r.last_at, excluded.last_at)",
        repaired.indexed,
        repaired.reconciled,
        repaired.removed,
        now
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// Sums up what was repaired in the last 30 days.
///
/// Why: it is the operator's question, over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn sum_reconciled(db: &Database, now: DateTime<Utc>) -> Result<Reconciled> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.sum_reconciled").await?;
    let row = sqlx::query!(
        r#"-- due.sum_reconciled
        select coalesce(sum(r.indexed), 0)::bigint as "indexed!", coalesce(sum(r.reconciled), 0)::bigint as "reconciled!",
               coalesce(sum(r.removed), 0)::bigint as "removed!"
        from reconciliations r
        where r.day > ($1::timestamptz at time zone 'UTC')::date - 30"#,
        now
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(Reconciled { indexed: row.indexed, reconciled: row.reconciled, removed: row.removed })
}
