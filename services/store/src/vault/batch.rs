//! Statements queued for the next round trip, and their answers.

use std::sync::{Arc, Mutex, PoisonError};

use knowhow_domain::{Error, Result};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::statement::{Statement, name_of, read_rows};

/// A queued statement of any type.
pub(crate) trait QueuedStatement: Send + Sync {
    fn sql(&self) -> &'static str;

    /// Returns the values of the parameters from `$3` on.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;

    /// Decodes and stores the rows in the answer.
    fn answer(&self, rows: &[Row]) -> Result<()>;
}

/// The rows that a queued statement will return. They are available after the round trip.
pub(crate) struct PendingRows<R> {
    sql: &'static str,
    rows: Arc<Mutex<Option<Vec<R>>>>,
}

impl<R> PendingRows<R> {
    /// Returns the rows.
    ///
    /// # Errors
    /// `Internal` if the statement was not sent.
    pub(crate) fn take(self) -> Result<Vec<R>> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.ok_or_else(|| Error::internal(format!("{} was not sent", name_of(self.sql))))
    }

    /// Returns whether the answer has no rows; `None` before it arrives.
    pub(crate) fn is_empty(&self) -> Option<bool> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Vec::is_empty)
    }
}

struct InQueue<S: Statement> {
    statement: S,
    answer: Arc<Mutex<Option<Vec<S::Row>>>>,
}

/// Returns the queued statement and its future answer.
pub(crate) fn in_queue<S: Statement + Send + 'static>(statement: S) -> (Box<dyn QueuedStatement>, PendingRows<S::Row>) {
    let rows = Arc::default();
    (Box::new(InQueue { statement, answer: Arc::clone(&rows) }), PendingRows { sql: S::SQL, rows })
}

impl<S: Statement + Send> QueuedStatement for InQueue<S> {
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
