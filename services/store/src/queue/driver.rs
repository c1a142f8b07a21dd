//! The library's way to the database, kept to the house's rule: each statement in a transaction that takes its role with
//! `SET LOCAL`. So the login role stays powerless, nothing of a session survives, and any pooler will do.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use futures_util::{StreamExt, stream};
use graphile_worker::{
    BoxFuture, DatabaseDriver, DbError, DbExecutor, DbExecutorArg, DbParams, DbRow, DbTransaction, Notification,
    NotificationStream, TransactionDriver,
};
use sqlx::{PgPool, Postgres, Transaction};
use tokio::sync::{Mutex, Notify};

use crate::tx::{DatabaseRole, begin_on_live};

/// Connections on which every transaction takes one role.
#[derive(Debug, Clone)]
pub(super) struct RoleDriver {
    pool: PgPool,
    begin: String,
    /// Who works, once that is known: only the jobs it has are its own to remove.
    worker: Arc<OnceLock<String>>,
    /// Rung where there may be more to do at once. Between two rings the worker looks at each interval.
    bell: Arc<Notify>,
}

impl RoleDriver {
    pub(super) fn new(pool: PgPool, role: DatabaseRole, timeout_ms: u128, bell: Arc<Notify>) -> Self {
        let begin = format!("BEGIN; SET LOCAL ROLE {}; SET LOCAL statement_timeout = {timeout_ms}", role.name());
        Self { pool, begin, worker: Arc::default(), bell }
    }

    /// Where the worker's id goes.
    pub(super) fn worker(&self) -> Arc<OnceLock<String>> {
        self.worker.clone()
    }

    async fn open(&self) -> Result<Transaction<'static, Postgres>, DbError> {
        let begin = match self.worker.get() {
            Some(worker) => format!("{}; SET LOCAL app.worker = '{worker}'", self.begin),
            None => self.begin.clone(),
        };
        Ok(begin_on_live(&self.pool, &begin).await?)
    }
}

impl DbExecutor for RoleDriver {
    fn execute<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<u64, DbError>> {
        Box::pin(async move {
            let mut tx = self.open().await?;
            let changed = DbExecutorArg::execute(&mut &mut tx, sql, params).await?;
            tx.commit().await?;
            Ok(changed)
        })
    }

    fn fetch_all<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<Vec<DbRow>, DbError>> {
        Box::pin(async move {
            let mut tx = self.open().await?;
            let rows = DbExecutorArg::fetch_all(&mut &mut tx, sql, params).await?;
            tx.commit().await?;
            Ok(rows)
        })
    }
}

impl DatabaseDriver for RoleDriver {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn begin<'a>(&'a self) -> BoxFuture<'a, Result<DbTransaction, DbError>> {
        Box::pin(async move { Ok(DbTransaction::new(Box::new(RoleTransaction(Mutex::new(self.open().await?))))) })
    }

    /// The bell instead of LISTEN: whoever enqueues does not NOTIFY (migrations/0006_jobs.sql says why).
    fn listen<'a>(&'a self, channel: &'a str) -> BoxFuture<'a, Result<Option<NotificationStream>, DbError>> {
        let rings = stream::unfold((self.bell.clone(), channel.to_owned()), async |(bell, channel)| {
            bell.notified().await;
            Some((Ok(Notification { channel: channel.clone(), payload: String::new() }), (bell, channel)))
        });
        Box::pin(async move { Ok(Some(rings.boxed())) })
    }
}

/// An open transaction of the library. Dropped without commit, it rolls back.
struct RoleTransaction(Mutex<Transaction<'static, Postgres>>);

impl DbExecutor for RoleTransaction {
    fn execute<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<u64, DbError>> {
        Box::pin(async move { DbExecutorArg::execute(&mut &mut *self.0.lock().await, sql, params).await })
    }

    fn fetch_all<'a>(&'a self, sql: &'a str, params: DbParams) -> BoxFuture<'a, Result<Vec<DbRow>, DbError>> {
        Box::pin(async move { DbExecutorArg::fetch_all(&mut &mut *self.0.lock().await, sql, params).await })
    }
}

impl TransactionDriver for RoleTransaction {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DbError>> {
        Box::pin(async move { Ok(self.0.into_inner().commit().await?) })
    }
}
