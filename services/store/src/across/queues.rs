//! Job counts by kind for admins: number of jobs and waiting times.
//!
//! Runs across tenants because operators see all jobs of the deployment. `across/job_admin.rs` limits other admins to
//! the jobs of their tenant.

use knowhow_domain::{JobQueue, Result};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::across::job_admin::JobAdmin;
use crate::vault::error::refuse;
use crate::{Database, Principal};

/// Maximum number of jobs that are counted.
const MOST_COUNTED: i64 = 100_000;

/// Counts jobs by kind: the jobs of the admin's tenant, or all jobs for an operator without a tenant. Counts at most
/// 100,000 jobs.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn list_queues(db: &Database, admin: &Principal) -> Result<Vec<JobQueue>> {
    let mut jobs = JobAdmin::open(db, admin).await?;
    // The index finds a tenant's jobs; an operator's jobs need a full scan. The branch that does not apply is
    // skipped.
    let rows = sqlx::query(
        "-- queues.list
        select t.identifier as task, count(*) filter (where j.state = 'waiting') as waiting,
               count(*) filter (where j.state = 'running') as running,
               count(*) filter (where j.state = 'failed') as failed, count(*) filter (where j.state = 'dead') as dead,
               min(j.created_at) filter (where j.state <> 'dead') as oldest_at,
               coalesce(extract(epoch from now() - min(j.run_at)
                   filter (where j.state in ('waiting', 'failed') and j.run_at <= now())), 0)::bigint as late_s
        from (select p.task_id, p.run_at, p.created_at,
                     case when p.locked_at is not null then 'running' when p.attempts >= p.max_attempts then 'dead'
                          when p.attempts > 0 then 'failed' else 'waiting' end as state
              from (select o.task_id, o.run_at, o.created_at, o.locked_at, o.attempts, o.max_attempts, o.key
                    from graphile_worker._private_jobs o
                    where $1 <> '' and coalesce(o.payload ->> 'tenant_id', '') = $1
                    union all
                    select a.task_id, a.run_at, a.created_at, a.locked_at, a.attempts, a.max_attempts, a.key
                    from graphile_worker._private_jobs a
                    where $1 = '') p
              where p.key is not null or p.locked_at is not null
              limit $2) j
        join graphile_worker._private_tasks t on t.id = j.task_id
        group by t.identifier
        order by t.identifier",
    )
    .bind(jobs.tenant.clone())
    .bind(MOST_COUNTED)
    .fetch_all(jobs.conn())
    .await
    .map_err(refuse)?;
    jobs.commit().await?;
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
