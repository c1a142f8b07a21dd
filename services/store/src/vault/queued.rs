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

/// What a statement answers with, once it was sent.
pub(crate) struct Answer<S: Statement>(Arc<Mutex<Option<Vec<S::Row>>>>);

impl<S: Statement> Answer<S> {
    pub(crate) fn take(self) -> Result<Vec<S::Row>> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.ok_or_else(|| Error::internal(format!("{} was not sent", name_of(S::SQL))))
    }

    /// Whether no row came; `None` before that is known.
    pub(crate) fn is_empty(&self) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Vec::is_empty)
    }
}

struct InQueue<S: Statement> {
    statement: S,
    answer: Arc<Mutex<Option<Vec<S::Row>>>>,
}

/// A statement to send, and where its answer will be.
pub(crate) fn in_queue<S: Statement + Send + 'static>(statement: S) -> (Box<dyn Queued>, Answer<S>) {
    let answer = Arc::default();
    (Box::new(InQueue { statement, answer: Arc::clone(&answer) }), Answer(answer))
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
