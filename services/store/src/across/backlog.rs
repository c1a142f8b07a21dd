//! Counts the jobs of all tenants, so that operators see whether the workers keep up. Reads the state of jobs, no
//! tenant data.

use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;
use knowhow_telemetry::metrics::JobsOfTask;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Label for jobs with a task that this release does not know.
const OTHER: &str = "other";

/// Counts the jobs of each kind, including kinds without jobs. Stops at 100,000 jobs (about 20 ms), because every
/// process calls this every few seconds.
pub async fn count_backlog(db: &Database) -> Result<Vec<JobsOfTask>> {
    let mut tx = SystemTx::begin(db, "backlog.count").await?;
    let rows = sqlx::query(
        "-- backlog.count
        select t.identifier as task,
               count(*) filter (where j.state = 'waiting') as waiting,
               count(*) filter (where j.state = 'running') as running,
               count(*) filter (where j.state = 'dead') as dead,
               coalesce(extract(epoch from now() - min(j.run_at)
                   filter (where j.state = 'waiting' and j.run_at <= now())), 0)::float8 as oldest
        from (select task_id, run_at,
                     case when locked_at is not null then 'running' when attempts >= max_attempts then 'dead'
                          else 'waiting' end as state
              from graphile_worker._private_jobs
              where key is not null or locked_at is not null
              limit 100000) j
        join graphile_worker._private_tasks t on t.id = j.task_id
        group by t.identifier",
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let names = task::ALL.into_iter().chain([OTHER]);
    let mut all: Vec<JobsOfTask> =
        names.map(|task| JobsOfTask { task, waiting: 0, running: 0, dead: 0, oldest: 0.0 }).collect();
    for row in &rows {
        add(&mut all, row).map_err(refuse)?;
    }
    Ok(all)
}

fn add(all: &mut [JobsOfTask], row: &PgRow) -> sqlx::Result<()> {
    let task: &str = row.try_get("task")?;
    let known = all.iter().position(|jobs| jobs.task == task).or(all.len().checked_sub(1));
    let Some(jobs) = known.and_then(|place| all.get_mut(place)) else { return Ok(()) };
    let count = |column| row.try_get::<i64, _>(column).map(|count| u64::try_from(count).unwrap_or_default());
    jobs.waiting += count("waiting")?;
    jobs.running += count("running")?;
    jobs.dead += count("dead")?;
    jobs.oldest = jobs.oldest.max(row.try_get("oldest")?);
    Ok(())
}
