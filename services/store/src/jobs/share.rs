//! Order of jobs. Jobs caused by people run before bulk jobs. After several of people's jobs in a row, a worker runs
//! one bulk job, so that bulk work makes progress under any load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use graphile_worker::{DbExecutor, DbValue, WorkerContext};

/// Largest priority number of jobs caused by people.
pub(super) const LAST_OF_PERSONS: i16 = BULK - 1;

/// Smallest priority number of bulk jobs. The number is the job's position in a round-robin of tenants
/// (migrations/0010_jobs.sql).
const BULK: i16 = 100;
/// Priority number of a promoted bulk job, which runs next although people's jobs wait.
const ITS_TURN: i16 = -1;
/// Number of people's jobs in a row after which a bulk job runs.
const IN_A_ROW: u32 = 8;

/// Returns whether a job is bulk.
pub(super) fn is_bulk(priority: i16) -> bool {
    priority >= BULK || priority == ITS_TURN
}

/// Number of people's jobs that a worker has run in a row.
#[derive(Debug, Clone)]
pub(super) struct Share {
    in_a_row: Arc<AtomicU32>,
    /// Tasks that the worker can run. Only their jobs are promoted.
    tasks: Vec<String>,
}

impl Share {
    /// Starts a count for a worker that runs these tasks.
    pub(super) fn of<'a>(tasks: impl Iterator<Item = &'a str>) -> Self {
        Self { in_a_row: Arc::default(), tasks: tasks.map(str::to_owned).collect() }
    }

    /// Counts a started job. After enough of people's jobs, promotes the next bulk job.
    pub(super) async fn count(&self, ctx: &WorkerContext) {
        if is_bulk(*ctx.job().priority()) {
            self.in_a_row.store(0, Ordering::Relaxed);
        } else if self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= IN_A_ROW {
            self.in_a_row.store(0, Ordering::Relaxed);
            if let Err(error) = self.call_bulk(ctx).await {
                tracing::warn!(%error, "a bulk job could not be promoted; bulk jobs wait for jobs caused by people");
            }
        }
    }

    async fn call_bulk(&self, ctx: &WorkerContext) -> Result<u64, graphile_worker::DbError> {
        let sql = "-- share.call_bulk
            update graphile_worker._private_jobs set priority = $1
            where id = (select j.id from graphile_worker._private_jobs j
                        where j.priority >= 100 and j.is_available = true and j.run_at <= now()
                          and j.task_id = any (array(select t.id from graphile_worker._private_tasks t
                                                     where t.identifier = any ($2)))
                        order by j.priority, j.run_at
                        limit 1
                        for update skip locked)";
        let params = vec![DbValue::I16(ITS_TURN), DbValue::TextArray(self.tasks.clone())];
        ctx.database().execute(sql, params.into()).await
    }
}
