//! Jobs counted by kind, as admins see them: how many there are, and how long they wait.
//!
//! Why across tenants: as `across/desk.rs`; and an operator asks whether the workers keep up, whoever's the jobs are.

use knowhow_domain::{JobQueue, Result};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row};

use super::desk::Desk;
use crate::error::refuse;
use crate::{Database, Principal};

/// Jobs that are looked at.
const MOST_COUNTED: i64 = 100_000;

/// Of the tenant `$1`, of at most `$2` jobs.
fn count_of_tenant() -> Query<'static, Postgres, PgArguments> {
    sqlx::query(
        "-- queues.list
    select t.identifier as task, count(*) filter (where j.state = 'waiting') as waiting,
           count(*) filter (where j.state = 'running') as running, count(*) filter (where j.state = 'failed') as failed,
           count(*) filter (where j.state = 'dead') as dead, min(j.created_at) filter (where j.state <> 'dead') as oldest_at,
           coalesce(extract(epoch from now() - min(j.run_at)
               filter (where j.state in ('waiting', 'failed') and j.run_at <= now())), 0)::bigint as late_s
    from (select p.task_id, p.run_at, p.created_at,
                 case when p.locked_at is not null then 'running' when p.attempts >= p.max_attempts then 'dead'
                      when p.attempts > 0 then 'failed' else 'waiting' end as state
          from graphile_worker._private_jobs p
          where coalesce(p.payload ->> 'tenant_id', '') = $1 and (p.key is not null or p.locked_at is not null)
          limit $2) j
    join graphile_worker._private_tasks t on t.id = j.task_id
    group by t.identifier
    order by t.identifier",
    )
}

/// The same of all tenants and of the system; `$1` is empty.
fn count_all() -> Query<'static, Postgres, PgArguments> {
    sqlx::query(
        "-- queues.list_all
    select t.identifier as task, count(*) filter (where j.state = 'waiting') as waiting,
           count(*) filter (where j.state = 'running') as running, count(*) filter (where j.state = 'failed') as failed,
           count(*) filter (where j.state = 'dead') as dead, min(j.created_at) filter (where j.state <> 'dead') as oldest_at,
           coalesce(extract(epoch from now() - min(j.run_at)
               filter (where j.state in ('waiting', 'failed') and j.run_at <= now())), 0)::bigint as late_s
    from (select p.task_id, p.run_at, p.created_at,
                 case when p.locked_at is not null then 'running' when p.attempts >= p.max_attempts then 'dead'
                      when p.attempts > 0 then 'failed' else 'waiting' end as state
          from graphile_worker._private_jobs p
          where $1 = '' and (p.key is not null or p.locked_at is not null)
          limit $2) j
    join graphile_worker._private_tasks t on t.id = j.task_id
    group by t.identifier
    order by t.identifier",
    )
}

/// Counts jobs by kind: those of the admin's tenant, and for an operator in none those of all tenants and the system together. It
/// looks at 100,000 jobs at most.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn list_queues(db: &Database, admin: &Principal) -> Result<Vec<JobQueue>> {
    let mut desk = Desk::open(db, admin).await?;
    let counting = if desk.tenant.is_empty() { count_all() } else { count_of_tenant() };
    let counted = counting.bind(desk.tenant.clone()).bind(MOST_COUNTED).fetch_all(desk.conn());
    let rows = counted.await.map_err(refuse)?;
    desk.commit().await?;
    rows.iter().map(queue_of).collect::<sqlx::Result<_>>().map_err(refuse)
}

fn queue_of(row: &PgRow) -> sqlx::Result<JobQueue> {
    Ok(JobQueue {
        task: row.try_get("task")?,
        waiting: row.try_get("waiting")?,
        running: row.try_get("running")?,
        failed: row.try_get("failed")?,
        dead: row.try_get("dead")?,
        oldest_at: row.try_get("oldest_at")?,
        late_s: row.try_get("late_s")?,
    })
}
