//! Reads the rows of a statement, finding each declared column by name.

use knowhow_domain::{Error, Result};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use super::{Accepts, Columns, Statement, name_of};

/// Reads all rows of a statement.
pub(crate) fn read_rows<S: Statement>(rows: &[Row]) -> Result<Vec<S::Row>> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let mut columns = Vec::new();
    <S::Row as Columns>::add_to(&mut columns);
    // Columns are located once per statement, not per row. Most columns are at their declared position.
    let find = |(at, (name, _)): (usize, &(&'static str, Accepts))| {
        let is_it = |at: &usize| first.columns().get(*at).is_some_and(|column| column.name() == *name);
        let found = Some(at).filter(is_it).or_else(|| (0..first.len()).find(is_it));
        found.ok_or_else(|| Error::internal(format!("{} has no column '{name}'", name_of(S::SQL))))
    };
    let places: Vec<usize> = columns.iter().enumerate().map(find).collect::<Result<_>>()?;
    rows.iter().map(|row| S::Row::read(&mut Reader { sql: S::SQL, row, places: &places, next: 0 })).collect()
}

/// Takes the declared columns of a row one after the other.
pub(crate) struct Reader<'r> {
    sql: &'static str,
    row: &'r Row,
    places: &'r [usize],
    pub(super) next: usize,
}

impl Reader<'_> {
    /// Returns the value of the next declared column.
    pub(crate) fn take<T: for<'v> FromSql<'v>>(&mut self) -> Result<T> {
        let place = self.places.get(self.next).copied().unwrap_or(usize::MAX);
        self.next += 1;
        self.row.try_get(place).map_err(|error| {
            let column = self.row.columns().get(place).map_or("?", |column| column.name());
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            let statement = name_of(self.sql);
            Error::internal(format!("inconsistent row of {statement}{}: '{column}': {why}", self.which()))
        })
    }

    /// Returns whether the next declared column is null.
    pub(super) fn is_null(&mut self) -> Result<bool> {
        let at = self.next;
        let value = self.take::<Option<Anything>>()?;
        self.next = at;
        Ok(value.is_none())
    }

    /// Returns the row's first ids or numbers, to identify it in the log without user content.
    fn which(&self) -> String {
        let columns = self.row.columns().iter().enumerate().filter_map(|(at, column)| {
            let value = match *column.type_() {
                Type::UUID => self.row.try_get::<_, Uuid>(at).map(|id| id.to_string()),
                Type::INT4 => self.row.try_get::<_, i32>(at).map(|number| number.to_string()),
                Type::INT8 => self.row.try_get::<_, i64>(at).map(|number| number.to_string()),
                _ => return None,
            };
            Some(format!(" {}={}", column.name(), value.ok()?))
        });
        columns.take(3).collect()
    }
}

/// A non-null value of any type.
struct Anything;

impl FromSql<'_> for Anything {
    fn from_sql(_: &Type, _: &[u8]) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
