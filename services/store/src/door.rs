//! The door for hot reads: BEGIN with the context, one prepared statement and COMMIT, pipelined in one round trip.

use deadpool_postgres::Object;
use futures_util::future::join3;
use knowhow_domain::Result;
use tokio_postgres::{Row, types::ToSql};

use crate::error::{refuse_pool, refuse_read};
use crate::tx::{DatabaseRole, begin_statement};
use crate::{Database, Principal};

/// How soon a read's side effect (a usage count) reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing is written, or it is flushed before the answer.
    Full,
    /// The commit does not wait for the disk. A crash of Postgres may lose the last second: for counts alone.
    Counts,
}

/// Parameters as tokio-postgres takes them.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs one statement as the principal's user and returns its rows.
pub(crate) async fn read(
    db: &Database,
    principal: &Principal,
    durability: Durability,
    sql: &'static str,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let mut begin =
        begin_statement(DatabaseRole::Tenant, principal.tenant(), principal.user()?, db.statement_timeout_ms);
    if durability == Durability::Counts {
        begin.push_str("; SET LOCAL synchronous_commit = off");
    }
    let lease = Lease::take(db).await?;
    let client = lease.client();
    let statement = client.prepare_cached(sql).await.map_err(refuse_read)?;
    let (began, rows, committed) =
        join3(client.batch_execute(&begin), client.query(&statement, params), client.batch_execute("COMMIT")).await;
    // Where BEGIN fails the later messages still ran, without context: the policies refused them, so no row came.
    if began.is_ok() && committed.is_ok() {
        lease.give_back();
    }
    began.map_err(refuse_read)?;
    let rows = rows.map_err(refuse_read)?;
    committed.map_err(refuse_read)?;
    Ok(rows)
}

/// Reads every row alike.
pub(crate) fn rows_as<T>(
    rows: &[Row],
    mut read: impl FnMut(&Row) -> Result<T, tokio_postgres::Error>,
) -> Result<Vec<T>> {
    rows.iter().map(|row| read(row).map_err(refuse_read)).collect()
}

/// A connection that goes back to its pool only when its pipeline has run to the end: a request that was dropped half
/// way leaves answers on the wire that belong to nobody.
struct Lease(Option<Object>);

impl Lease {
    async fn take(db: &Database) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the room where context is set")]
        let object = db.reads.get().await.map_err(refuse_pool)?;
        Ok(Self(Some(object)))
    }

    #[expect(clippy::expect_used, reason = "filled until give_back or drop, which consume self")]
    fn client(&self) -> &Object {
        self.0.as_ref().expect("a lease holds its connection")
    }

    fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            drop(Object::take(object));
        }
    }
}
