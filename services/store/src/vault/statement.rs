//! A statement of the pipeline, declared once: its text, its parameters and its columns, each with a type. What the code
//! binds and reads follows from the declaration, and a test prepares every declared statement and compares both with
//! what Postgres says.
//!
//! `$1` and `$2` of every statement are the caller's tenant and user. The pipeline binds them itself; the members of the
//! declaration follow from `$3` on.

use knowhow_domain::{Error, Result};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use uuid::Uuid;

/// Whether a Rust type can be bound to, or read from, this type of Postgres.
pub(crate) type Accepts = fn(&Type) -> bool;

/// How soon the commit of a write reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before the answer.
    Full,
    /// Within the second. A crash of Postgres may lose it: for counts alone.
    Counts,
}

/// A statement with the values that it is run with.
pub(crate) trait Statement: Sync {
    /// Begins with a line `-- module.function`.
    const SQL: &'static str;
    /// What it answers with, for each row.
    type Row: Columns + Send;

    /// The types of the parameters from `$3` on.
    fn accepts() -> Vec<Accepts>;

    /// The values of the parameters from `$3` on.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;
}

/// Parameters that several statements have in common, one behind the other.
pub(crate) trait Parameters: Sync {
    /// Their types.
    fn accepts() -> Vec<Accepts>;

    /// Their values.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;
}

/// A statement that changes nothing.
pub(crate) trait Read: Statement {}

/// A statement that changes something.
pub(crate) trait Write: Statement {
    /// How soon that is safe.
    const DURABILITY: Durability;
}

/// The first line of a statement says what it is called.
pub(crate) fn name_of(sql: &'static str) -> &'static str {
    sql.split_whitespace().nth(1).unwrap_or_default()
}

/// Something that is read from columns, which are found by their names.
pub(crate) trait Columns: Sized {
    /// Adds the names and types of its columns, in the order in which [`Columns::read`] takes them.
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>);

    /// Takes its columns from a row.
    fn read(reader: &mut Reader<'_>) -> Result<Self>;
}

impl Columns for () {
    fn add_to(_: &mut Vec<(&'static str, Accepts)>) {}

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(())
    }
}

impl<A: Columns, B: Columns> Columns for (A, B) {
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>) {
        A::add_to(columns);
        B::add_to(columns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok((A::read(reader)?, B::read(reader)?))
    }
}

/// Columns of something that an outer join may not have found: its first one is null then, and `None` is read.
impl<A: Columns> Columns for Option<A> {
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>) {
        A::add_to(columns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        if !reader.is_null()? {
            return A::read(reader).map(Some);
        }
        let mut skipped = Vec::new();
        A::add_to(&mut skipped);
        reader.next += skipped.len();
        Ok(None)
    }
}

/// Reads the rows that a statement answered with.
pub(crate) fn read_rows<S: Statement>(rows: &[Row]) -> Result<Vec<S::Row>> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let mut columns = Vec::new();
    S::Row::add_to(&mut columns);
    // A column is looked for once and not in each row. Most stand where the declaration has them.
    let find = |(at, (name, _)): (usize, &(&'static str, Accepts))| {
        let is_it = |at: &usize| first.columns().get(*at).is_some_and(|column| column.name() == *name);
        let found = Some(at).filter(is_it).or_else(|| (0..first.len()).find(is_it));
        found.ok_or_else(|| Error::internal(format!("{} has no column '{name}'", name_of(S::SQL))))
    };
    let places: Vec<usize> = columns.iter().enumerate().map(find).collect::<Result<_>>()?;
    rows.iter().map(|row| S::Row::read(&mut Reader { sql: S::SQL, row, places: &places, next: 0 })).collect()
}

/// A row whose columns are taken one after the other, each where its name stands.
pub(crate) struct Reader<'r> {
    sql: &'static str,
    row: &'r Row,
    places: &'r [usize],
    next: usize,
}

impl Reader<'_> {
    /// The value of the next declared column.
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

    /// Whether the next declared column is null.
    fn is_null(&mut self) -> Result<bool> {
        let at = self.next;
        let value = self.take::<Option<Anything>>()?;
        self.next = at;
        Ok(value.is_none())
    }

    /// Which row it is, by its first columns that are ids or numbers; what a user wrote does not go into the log.
    fn which(&self) -> String {
        let told = self.row.columns().iter().enumerate().filter_map(|(at, column)| {
            let value = match *column.type_() {
                Type::UUID => self.row.try_get::<_, Uuid>(at).map(|id| id.to_string()),
                Type::INT4 => self.row.try_get::<_, i32>(at).map(|number| number.to_string()),
                Type::INT8 => self.row.try_get::<_, i64>(at).map(|number| number.to_string()),
                _ => return None,
            };
            Some(format!(" {}={}", column.name(), value.ok()?))
        });
        told.take(3).collect()
    }
}

/// A value that is there, whatever it is.
struct Anything;

impl FromSql<'_> for Anything {
    fn from_sql(_: &Type, _: &[u8]) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Declares what is read from the columns of a row, each by its name.
///
/// `row! { struct HeadRow { memory_id: Uuid, kind: String } }` makes a type of its own.
/// `row! { Stamp { memories: i64 = memories_stamp } }` reads one that there is: the member, the type of the column and,
/// where it differs from the member's, the column's name. A member whose type differs from its column's is made by `From`.
macro_rules! row {
    (struct $name:ident { $($column:ident: $type:ty),* $(,)? }) => {
        pub(crate) struct $name { $(pub(crate) $column: $type),* }

        $crate::vault::row! { $name { $($column: $type),* } }
    };
    ($name:ident { $($member:ident: $type:ty $(= $column:ident)?),* $(,)? }) => {
        impl $crate::vault::statement::Columns for $name {
            fn add_to(columns: &mut Vec<(&'static str, $crate::vault::statement::Accepts)>) {
                columns.extend([$((
                    $crate::vault::statement::column_name!($member $($column)?),
                    <$type as ::tokio_postgres::types::FromSql<'static>>::accepts as $crate::vault::statement::Accepts,
                )),*]);
            }

            fn read(reader: &mut $crate::vault::statement::Reader<'_>) -> ::knowhow_domain::Result<Self> {
                Ok(Self { $($member: reader.take::<$type>()?.into()),* })
            }
        }
    };
}

macro_rules! column_name {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $column:ident) => {
        stringify!($column)
    };
}

/// Declares a statement: how it is run (`read`, `write`, or `count` for a write whose commit need not reach the disk
/// before the answer), its type with the parameters from `$3` on, what each row is read into, and its text.
///
/// ```text
/// statement! {
///     read ListMemories<'a> { before: Uuid, kind: Option<&'a str>, limit: i64 } -> Memory,
///     "-- memories.list
///     select ..."
/// }
/// ```
///
/// `..columns: SkillColumns` among the parameters stands for all those that `parameters!` declares under that name.
macro_rules! statement {
    (
        $kind:ident $name:ident $(<$life:lifetime>)? {
            $($member:ident: $type:ty),*
            $(, ..$shared:ident: $shared_type:ty $(, $last:ident: $last_type:ty)*)? $(,)?
        } -> $row:ty, $sql:literal
    ) => {
        pub(crate) struct $name $(<$life>)? {
            $(pub(crate) $member: $type,)*
            $(pub(crate) $shared: $shared_type, $(pub(crate) $last: $last_type,)*)?
        }

        impl $(<$life>)? $crate::vault::statement::Statement for $name $(<$life>)? {
            const SQL: &'static str = $sql;
            type Row = $row;

            fn accepts() -> Vec<$crate::vault::statement::Accepts> {
                let first: Vec<$crate::vault::statement::Accepts> =
                    vec![$(<$type as ::tokio_postgres::types::ToSql>::accepts),*];
                $(
                    let last: Vec<$crate::vault::statement::Accepts> =
                        vec![$(<$last_type as ::tokio_postgres::types::ToSql>::accepts),*];
                    let shared = <$shared_type as $crate::vault::statement::Parameters>::accepts();
                    let first = [first, shared, last].concat();
                )?
                first
            }

            fn values(&self) -> Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> {
                let first: Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> = vec![$(&self.$member),*];
                $(
                    let last: Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> = vec![$(&self.$last),*];
                    let first = [first, $crate::vault::statement::Parameters::values(&self.$shared), last].concat();
                )?
                first
            }
        }

        $crate::vault::statement::run_by!($kind $name $(<$life>)?);
    };
}

/// Declares parameters that several statements have in common.
macro_rules! parameters {
    ($(#[doc = $doc:literal])* struct $name:ident { $($member:ident: $type:ty),* $(,)? }) => {
        $(#[doc = $doc])*
        pub(crate) struct $name { $(pub(crate) $member: $type),* }

        impl $crate::vault::statement::Parameters for $name {
            fn accepts() -> Vec<$crate::vault::statement::Accepts> {
                vec![$(<$type as ::tokio_postgres::types::ToSql>::accepts),*]
            }

            fn values(&self) -> Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> {
                vec![$(&self.$member),*]
            }
        }
    };
}

macro_rules! run_by {
    (read $name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::vault::statement::Read for $name $(<$life>)? {}
    };
    (write $name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::vault::statement::Write for $name $(<$life>)? {
            const DURABILITY: $crate::vault::statement::Durability = $crate::vault::statement::Durability::Full;
        }
    };
    (count $name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::vault::statement::Write for $name $(<$life>)? {
            const DURABILITY: $crate::vault::statement::Durability = $crate::vault::statement::Durability::Counts;
        }
    };
}

pub(crate) use {column_name, parameters, row, run_by, statement};
