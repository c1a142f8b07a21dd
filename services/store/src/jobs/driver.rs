//! Database driver for the queue library. As everywhere in this crate, each statement runs in a transaction that sets
//! its role with `SET LOCAL`. So the login role has no rights of its own, connections keep no state, and any pooler
//! works.

use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use futures_util::{StreamExt, stream};
use graphile_worker::{
    BoxFuture, DatabaseDriver, DbError, DbExecutor, DbExecutorArg, DbParams, DbRow, DbTransaction, Notification,
    NotificationStream, TransactionDriver,
};
use knowhow_telemetry::metrics;
use tokio::sync::{Mutex, Notify};

use crate::vault::connect::CheckedPool;
use crate::vault::rollback_guard::{GuardedConnection, LabelledPool, Patience, within};
use crate::vault::tx::DatabaseRole;

/// Planner settings. A queue is usually empty, and a plan cached for an empty queue would scan a long queue
/// completely for each claimed job. So each statement is planned for the current number of jobs, which takes about
/// 0.3 ms. Postgres underestimates the number of matching jobs, and would sort them instead of using the order of the
/// index.
const PLAN_FOR_A_QUEUE: &str = "; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_sort = off";

/// A pool with one role, which every transaction sets.
#[derive(Debug, Clone)]
pub(super) struct RoleDriver {
    pool: CheckedPool,
    role: DatabaseRole,
    patience: Patience,
    /// Id of the worker, after it has started. The worker may only delete jobs that it has claimed.
    worker: Arc<OnceLock<String>>,
    /// Signal that there may be more work. Without a signal, the worker polls at intervals.
    bell: Arc<Notify>,
    /// Jobs with a larger priority number are hidden from this worker (migrations/0010_jobs.sql). `None` hides
    /// no jobs.
    last_priority: Option<i16>,
}

impl RoleDriver {
    pub(super) fn new(pool: CheckedPool, role: DatabaseRole, patience: Patience, bell: Arc<Notify>) -> Self {
        Self { pool, role, patience, worker: Arc::default(), bell, last_priority: None }
    }

    /// Restricts the worker to jobs up to this priority number.
    pub(super) fn up_to(self, last_priority: i16) -> Self {
        Self { last_priority: Some(last_priority), ..self }
    }

    /// Returns the cell that the worker's id is stored in.
    pub(super) fn worker(&self) -> Arc<OnceLock<String>> {
        self.worker.clone()
    }

    async fn open(&self) -> Result<GuardedConnection, DbError> {
        let since = Instant::now();
        let mut context = PLAN_FOR_A_QUEUE.to_owned();
        if let Some(id) = self.worker.get() {
            context.push_str(&format!("; SET LOCAL app.worker = '{id}'"));
        }
        if let Some(priority) = self.last_priority {
            context.push_str(&format!("; SET LOCAL app.last_priority = '{priority}'"));
        }
        let begin = || format!("BEGIN; SET LOCAL ROLE {}; {}{context}", self.role.name(), self.patience.limits(since));
        let from = LabelledPool { pool: &self.pool, label: metrics::Pool::Rare };
        Ok(GuardedConnection::begin(from, self.patience, since, begin).await?)
    }
}

impl DbExecutor for RoleDriver {
    fn execute<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<u64, DbError>> {
        Box::pin(async move {
            let mut tx = self.open().await?;
            let changed = execute(&mut tx, sql, params).await?;
            tx.commit().await?;
            Ok(changed)
        })
    }

    fn fetch_all<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<Vec<DbRow>, DbError>> {
        Box::pin(async move {
            let mut tx = self.open().await?;
            let rows = fetch_all(&mut tx, sql, params).await?;
            tx.commit().await?;
            Ok(rows)
        })
    }
}

async fn execute(tx: &mut GuardedConnection, sql: &str, params: DbParams) -> Result<u64, DbError> {
    within(tx.answer(), DbExecutorArg::execute(&mut tx.unbounded(), sql, params)).await
}

async fn fetch_all(tx: &mut GuardedConnection, sql: &str, params: DbParams) -> Result<Vec<DbRow>, DbError> {
    within(tx.answer(), DbExecutorArg::fetch_all(&mut tx.unbounded(), sql, params)).await
}

impl DatabaseDriver for RoleDriver {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn begin<'a>(&'a self) -> BoxFuture<'a, Result<DbTransaction, DbError>> {
        Box::pin(async move { Ok(DbTransaction::new(Box::new(RoleTransaction(Mutex::new(self.open().await?))))) })
    }

    /// Uses in-process notifications instead of LISTEN, because enqueuing does not NOTIFY (see
    /// migrations/0010_jobs.sql).
    fn listen<'a>(&'a self, channel: &'a str) -> BoxFuture<'a, Result<Option<NotificationStream>, DbError>> {
        let rings = stream::unfold((self.bell.clone(), channel.to_owned()), async |(bell, channel)| {
            bell.notified().await;
            Some((Ok(Notification { channel: channel.clone(), payload: String::new() }), (bell, channel)))
        });
        Box::pin(async move { Ok(Some(rings.boxed())) })
    }
}

/// An open transaction of the library. It rolls back if it is dropped without commit.
struct RoleTransaction(Mutex<GuardedConnection>);

impl DbExecutor for RoleTransaction {
    fn execute<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<u64, DbError>> {
        Box::pin(async move { execute(&mut *self.0.lock().await, sql, params).await })
    }

    fn fetch_all<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<Vec<DbRow>, DbError>> {
        Box::pin(async move { fetch_all(&mut *self.0.lock().await, sql, params).await })
    }
}

impl TransactionDriver for RoleTransaction {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DbError>> {
        Box::pin(async move { Ok(self.0.into_inner().commit().await?) })
    }
}
