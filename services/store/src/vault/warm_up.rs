//! Prepares and plans the most frequent statements on new connections, so that no request waits for it.
//!
//! The first statement of a connection makes Postgres read its system catalogue (5 to 10 ms). Parsing and planning a
//! statement for the first time takes 2 to 4 ms. Without preparation, a client that briefly uses many connections
//! makes the next request on each of them slow. Statements inside database functions are still planned at their first
//! call.

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
use crate::vault::connect::{Pipelined, PipelinedPool};
use crate::vault::error::join_messages;

/// Frequently run statements; empty by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrequentStatements {
    /// Statements that run in one round trip.
    pub(crate) reads: &'static [&'static str],
    /// Statements that run inside a [`crate::WriteTx`].
    pub(crate) changes: &'static [&'static str],
}

/// A pool with connections that prepare frequent statements in advance.
#[derive(Clone)]
pub(crate) struct WarmPool {
    pub(crate) pool: PipelinedPool,
    pub(crate) frequent: &'static [&'static str],
    /// Label of the pool in metrics.
    pub(crate) label: metrics::Pool,
}

/// Limits the process to one connection that prepares at a time, to reduce the load on Postgres.
static AT_ONCE: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(1));

/// Time limit for preparing. A connection that exceeds it is closed because Postgres does not answer.
const LONGEST: Duration = Duration::from_secs(10);

/// Time limit for a table lock. It is shorter than Postgres's deadlock timeout, so that preparing never causes a
/// migration to be aborted.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = 100";

/// SQLSTATE classes of temporary errors (PostgreSQL, appendix A): a lock was not available, or the server is shutting
/// down.
const PASSING: [&str; 2] = ["55", "57"];

/// Returns a connection to its pool. A new connection first prepares `frequent`.
pub(super) fn give_back(object: Object<Pipelined>, frequent: &'static [&'static str]) {
    // A connection that has already run this many statements is warm.
    if object.statement_cache.size() >= frequent.len() {
        return;
    }
    let (Ok(turn), Ok(runtime)) = (AT_ONCE.try_acquire(), Handle::try_current()) else { return };
    runtime.spawn(async move {
        let mut object = object;
        let passes = |code: &SqlState| PASSING.iter().any(|class| code.code().starts_with(class));
        match timeout(LONGEST, prepare_all(&mut object, frequent)).await {
            Ok(Ok(())) => {}
            // The schema differs from the one this release expects, for example during a rollout. This process stops
            // preparing statements.
            Ok(Err(error)) if error.code().is_some_and(|code| !passes(code)) => {
                let error = join_messages(&error);
                tracing::warn!(%error, "connections no longer prepare statements in advance");
                AT_ONCE.close();
            }
            _ => drop(Object::take(object)),
        }
        drop(turn);
    });
}

/// Binds each statement without running it. Binding makes Postgres create and cache the plan.
async fn prepare_all(object: &mut Object<Pipelined>, frequent: &[&'static str]) -> Result<(), tokio_postgres::Error> {
    let transaction = object.transaction().await?;
    // A plan depends on the role, because row policies are part of it. It does not depend on the user, because the
    // user is only evaluated when the statement runs.
    let nobody = context_statement(DatabaseRole::Tenant, TenantId(Uuid::nil()), UserId(Uuid::nil()));
    transaction.batch_execute(&format!("{nobody}{PLAN_ONCE}; {LOCK_TIMEOUT}")).await?;
    // The statements are sent together. One at a time they would take two round trips each, which is seconds if
    // Postgres is far away.
    let statements = try_join_all(frequent.iter().map(|sql| transaction.prepare_cached(sql))).await?;
    let plan = async |statement: &Statement| {
        let nulls: Vec<&(dyn ToSql + Sync)> = statement.params().iter().map(|_| &Null as _).collect();
        transaction.bind(statement, &nulls).await
    };
    try_join_all(statements.iter().map(plan)).await?;
    transaction.rollback().await
}

/// A null value of any type.
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
