//! Counts the repairs made by the graph reconciler, and its remaining work.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Amount of work that graph extraction still has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrelated {
    /// Number of users with unread skills.
    pub users: i64,
    /// Number of jobs that are waiting or running.
    pub jobs: i64,
}

/// Counts users with skills that were not read with these rules, and the jobs that read skills. Counts at most `most`
/// of each.
///
/// Runs across tenants because operators see the totals of the deployment.
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

/// Numbers of repairs made by the graph reconciler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Number of skills that were missing from the graph.
    pub indexed: i64,
    /// Number of skills that were marked as unread but had no job.
    pub reconciled: i64,
    /// Number of entities that only deleted skills referred to.
    pub removed: i64,
}

/// Adds these numbers to today's repairs.
///
/// Runs across tenants because the counts are totals of the deployment.
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

/// Returns the sum of the repairs made in the last 30 days.
///
/// Runs across tenants because operators see the totals of the deployment.
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
