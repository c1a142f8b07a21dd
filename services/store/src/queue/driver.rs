//! The library's way to the database, kept to the house's rule: each statement in a transaction that takes its role with
//! `SET LOCAL`. So the login role stays powerless, nothing of a session survives, and any pooler will do.

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

use crate::connect::CheckedPool;
use crate::vault::held::{Held, Patience, Source, within};
use crate::vault::tx::DatabaseRole;

/// A queue is empty most of the time. Plans that are made then, and kept, read a long one from end to end for each job that is
/// claimed, so each statement is planned for as many jobs as there are; that takes some 0.3 ms. Postgres still believes that few of
/// them fit, and would rather sort them than take the first by the index that has them in order.
const PLAN_FOR_A_QUEUE: &str = "; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_sort = off";

/// Connections on which every transaction takes one role.
#[derive(Debug, Clone)]
pub(super) struct RoleDriver {
    pool: CheckedPool,
    role: DatabaseRole,
    patience: Patience,
    /// Who works, once that is known: only the jobs it has are its own to remove.
    worker: Arc<OnceLock<String>>,
    /// Rung where there may be more to do at once. Between two rings the worker looks at each interval.
    bell: Arc<Notify>,
    /// Jobs behind this priority it does not see (migrations/0015_sealed_jobs.sql).
    last_priority: Option<i16>,
}

impl RoleDriver {
    pub(super) fn new(pool: CheckedPool, role: DatabaseRole, patience: Patience, bell: Arc<Notify>) -> Self {
        Self { pool, role, patience, worker: Arc::default(), bell, last_priority: None }
    }

    /// The same for a worker that is to leave jobs behind that priority alone.
    pub(super) fn up_to(self, last_priority: i16) -> Self {
        Self { last_priority: Some(last_priority), ..self }
    }

    /// Where the worker's id goes.
    pub(super) fn worker(&self) -> Arc<OnceLock<String>> {
        self.worker.clone()
    }

    async fn open(&self) -> Result<Held, DbError> {
        let since = Instant::now();
        let mut context = PLAN_FOR_A_QUEUE.to_owned();
        if let Some(id) = self.worker.get() {
            context.push_str(&format!("; SET LOCAL app.worker = '{id}'"));
        }
        if let Some(priority) = self.last_priority {
            context.push_str(&format!("; SET LOCAL app.last_priority = '{priority}'"));
        }
        let begin = || format!("BEGIN; SET LOCAL ROLE {}; {}{context}", self.role.name(), self.patience.limits(since));
        let from = Source { pool: &self.pool, label: metrics::Pool::Rare };
        Ok(Held::begin(from, self.patience, since, begin).await?)
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

async fn execute(tx: &mut Held, sql: &str, params: DbParams) -> Result<u64, DbError> {
    within(tx.answer(), DbExecutorArg::execute(&mut tx.unbounded(), sql, params)).await
}

async fn fetch_all(tx: &mut Held, sql: &str, params: DbParams) -> Result<Vec<DbRow>, DbError> {
    within(tx.answer(), DbExecutorArg::fetch_all(&mut tx.unbounded(), sql, params)).await
}

impl DatabaseDriver for RoleDriver {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn begin<'a>(&'a self) -> BoxFuture<'a, Result<DbTransaction, DbError>> {
        Box::pin(async move { Ok(DbTransaction::new(Box::new(RoleTransaction(Mutex::new(self.open().await?))))) })
    }

    /// The bell instead of LISTEN: what enqueues does not NOTIFY (migrations/0006_jobs.sql says why).
    fn listen<'a>(&'a self, channel: &'a str) -> BoxFuture<'a, Result<Option<NotificationStream>, DbError>> {
        let rings = stream::unfold((self.bell.clone(), channel.to_owned()), async |(bell, channel)| {
            bell.notified().await;
            Some((Ok(Notification { channel: channel.clone(), payload: String::new() }), (bell, channel)))
        });
        Box::pin(async move { Ok(Some(rings.boxed())) })
    }
}

/// An open transaction of the library. Dropped without commit, it rolls back.
struct RoleTransaction(Mutex<Held>);

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
