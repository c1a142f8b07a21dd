//! Statements that wait to be sent together, and their answers.

use std::sync::{Arc, Mutex, PoisonError};

use knowhow_domain::{Error, Result};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::statement::{Statement, name_of, read_rows};

/// A statement of any type that is to be sent.
pub(crate) trait Queued: Send + Sync {
    fn sql(&self) -> &'static str;

    /// The values from `$3` on.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;

    /// Takes what came back.
    fn answer(&self, rows: &[Row]) -> Result<()>;
}

/// The rows that a statement answers with, once it was sent.
pub(crate) struct Answer<R> {
    sql: &'static str,
    rows: Arc<Mutex<Option<Vec<R>>>>,
}

impl<R> Answer<R> {
    /// The rows.
    pub(crate) fn take(self) -> Result<Vec<R>> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.ok_or_else(|| Error::internal(format!("{} was not sent", name_of(self.sql))))
    }

    /// Whether no row came; `None` before that is known.
    pub(crate) fn is_empty(&self) -> Option<bool> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Vec::is_empty)
    }
}

struct InQueue<S: Statement> {
    statement: S,
    answer: Arc<Mutex<Option<Vec<S::Row>>>>,
}

/// A statement to send, and where its answer will be.
pub(crate) fn in_queue<S: Statement + Send + 'static>(statement: S) -> (Box<dyn Queued>, Answer<S::Row>) {
    let rows = Arc::default();
    (Box::new(InQueue { statement, answer: Arc::clone(&rows) }), Answer { sql: S::SQL, rows })
}

impl<S: Statement + Send> Queued for InQueue<S> {
    fn sql(&self) -> &'static str {
        S::SQL
    }

    fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.statement.values()
    }

    fn answer(&self, rows: &[Row]) -> Result<()> {
        let rows = read_rows::<S>(rows)?;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
        Ok(())
    }
}
