//! Has a new connection prepare and plan what most requests run, before one of them waits for that. For its first statement a
//! connection reads the catalogue of Postgres, which takes 5 to 10 ms, and it parses and plans each statement once, in 2 to 4.
//! What a function of the database runs is planned when it is first called nevertheless.
//! Without this, one caller who keeps many connections busy for a moment leaves a slow request to the next caller on each.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::BytesMut;
use deadpool::managed::Object;
use futures_util::future::try_join_all;
use knowhow_domain::{TenantId, UserId};
use knowhow_telemetry::metrics;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::Statement;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::tx::{DatabaseRole, PLAN_ONCE, context_statement};
use crate::connect::{Pipelined, PipelinedPool};
use crate::error::said;

/// Statements that most requests run; by default none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Often {
    /// In one round trip.
    pub(crate) reads: &'static [&'static str],
    /// In a transaction of several.
    pub(crate) changes: &'static [&'static str],
}

/// A pool, and what each of its connections prepares ahead.
#[derive(Clone)]
pub(crate) struct Connections {
    pub(crate) pool: PipelinedPool,
    pub(crate) often: &'static [&'static str],
    /// Its name among the metrics.
    pub(crate) label: metrics::Pool,
}

/// Connections of the process that prepare at once: Postgres has other things to do.
static AT_ONCE: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(1));

/// A connection that takes longer is closed, as Postgres does not answer.
const LONGEST: Duration = Duration::from_secs(10);

/// Longest wait for a lock on a table: shorter than Postgres takes to look for deadlocks, so that none of them ends a migration.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = 100";

/// Classes of errors that pass (PostgreSQL, appendix A): a lock was held, or the server goes down.
const PASSING: [&str; 2] = ["55", "57"];

/// Gives a connection back to its pool. Where it is new, it prepares `often` before.
pub(super) fn give_back(object: Object<Pipelined>, often: &'static [&'static str]) {
    // One that has run as many others by itself has read the catalogue, too.
    if object.statement_cache.size() >= often.len() {
        return;
    }
    let (Ok(turn), Ok(runtime)) = (AT_ONCE.try_acquire(), Handle::try_current()) else { return };
    runtime.spawn(async move {
        let mut object = object;
        let passes = |code: &SqlState| PASSING.iter().any(|class| code.code().starts_with(class));
        match timeout(LONGEST, prepare_all(&mut object, often)).await {
            Ok(Ok(())) => {}
            // A table is not as this release knows it, as while another one is rolled out. All else goes on without.
            Ok(Err(error)) if error.code().is_some_and(|code| !passes(code)) => {
                let error = said(&error);
                tracing::warn!(%error, "connections prepare no statements ahead from now on");
                AT_ONCE.close();
            }
            _ => drop(Object::take(object)),
        }
        drop(turn);
    });
}

/// Binds each statement, for which Postgres makes the plan that it keeps, and runs none.
async fn prepare_all(object: &mut Object<Pipelined>, often: &[&'static str]) -> Result<(), tokio_postgres::Error> {
    let transaction = object.transaction().await?;
    // A plan holds for one role, as its policies are part of it; for whose rows is asked when it runs.
    let nobody = context_statement(DatabaseRole::Tenant, TenantId(Uuid::nil()), UserId(Uuid::nil()));
    transaction.batch_execute(&format!("{nobody}{PLAN_ONCE}; {LOCK_TIMEOUT}")).await?;
    // Sent together: one after the other they would take two round trips each, seconds where Postgres is far away.
    let statements = try_join_all(often.iter().map(|sql| transaction.prepare_cached(sql))).await?;
    let plan = async |statement: &Statement| {
        let nulls: Vec<&(dyn ToSql + Sync)> = statement.params().iter().map(|_| &Null as _).collect();
        transaction.bind(statement, &nulls).await
    };
    try_join_all(statements.iter().map(plan)).await?;
    transaction.rollback().await
}

/// Null, of whatever type.
#[derive(Debug)]
struct Null;

impl ToSql for Null {
    fn to_sql(&self, _: &Type, _: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        Ok(IsNull::Yes)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
