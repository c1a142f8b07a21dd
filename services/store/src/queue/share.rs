//! The order of jobs. Jobs that persons cause go before bulk, for which nobody waits. A worker that has done several of
//! them in a row does one of bulk, so that bulk moves on however much persons save.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use graphile_worker::{DbExecutor, DbValue, WorkerContext};

use super::task::Task;

/// The last priority of jobs that persons cause.
pub(super) const LAST_OF_PERSONS: i16 = BULK - 1;

/// Bulk has this priority or a larger number: its place in a line where tenants take turns (migrations/0008_fair_jobs.sql).
const BULK: i16 = 100;
/// That of bulk whose turn has come although persons' jobs wait.
const ITS_TURN: i16 = -1;
/// So many jobs of persons in a row, and one of bulk is next.
const IN_A_ROW: u32 = 8;

/// Whether a job is bulk.
pub(super) fn is_bulk(priority: i16) -> bool {
    priority >= BULK || priority == ITS_TURN
}

/// Counts the jobs of persons that a worker has done in a row.
#[derive(Debug, Clone)]
pub(super) struct Share {
    in_a_row: Arc<AtomicU32>,
    /// What the worker can do: the turn is lost on anything else.
    tasks: Vec<String>,
}

impl Share {
    pub(super) fn of(tasks: &[Task]) -> Self {
        Self { in_a_row: Arc::default(), tasks: tasks.iter().map(|task| task.name.to_owned()).collect() }
    }

    /// Counts a job that has begun, and puts the next of bulk in front where it is its turn.
    pub(super) async fn count(&self, ctx: &WorkerContext) {
        if is_bulk(*ctx.job().priority()) {
            self.in_a_row.store(0, Ordering::Relaxed);
        } else if self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= IN_A_ROW {
            self.in_a_row.store(0, Ordering::Relaxed);
            if let Err(error) = self.call_bulk(ctx).await {
                tracing::warn!(%error, "bulk jobs wait for the ones that persons caused");
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
