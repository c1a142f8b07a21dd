//! Statements of the pipeline. Each is declared once with its text and the types of its parameters and columns.
//! Macros generate the code that binds parameters and reads columns. A test prepares every declared statement and
//! compares the types with those that Postgres reports.
//!
//! `$1` and `$2` of every statement are the caller's tenant and user, bound by the pipeline. The members of the
//! declaration are bound from `$3` on.

mod reader;

use knowhow_domain::Result;
use tokio_postgres::types::{ToSql, Type};

pub(crate) use reader::{Reader, read_rows};

/// Returns whether a Rust type can be bound to, or read from, this Postgres type.
pub(crate) type Accepts = fn(&Type) -> bool;

/// Guarantee that a write gives about its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The commit is flushed to disk before the answer.
    Full,
    /// The commit is flushed within a second, so a crash of Postgres may lose it. Only for counters.
    Counts,
}

/// A statement with the values of its parameters.
pub(crate) trait Statement: Sync {
    /// SQL text, beginning with a line `-- module.function`.
    const SQL: &'static str;
    /// Type of each returned row.
    type Row: Columns + Send;

    /// Returns the types of the parameters from `$3` on.
    fn accepts() -> Vec<Accepts>;

    /// Returns the values of the parameters from `$3` on.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;
}

/// Consecutive parameters shared by several statements.
pub(crate) trait SharedParameters: Sync {
    /// Returns the types of the parameters.
    fn accepts() -> Vec<Accepts>;

    /// Returns the values of the parameters.
    fn values(&self) -> Vec<&(dyn ToSql + Sync)>;
}

/// A statement that only reads.
pub(crate) trait Read: Statement {}

/// A statement that writes.
pub(crate) trait Write: Statement {
    /// Durability of its commit.
    const DURABILITY: Durability;
}

/// A read across tenants, used to authenticate callers. Its parameters begin at `$1`.
pub(crate) trait LookUp: Statement {}

/// Returns the name of a statement from its first line.
pub(crate) fn name_of(sql: &'static str) -> &'static str {
    sql.split_whitespace().nth(1).unwrap_or_default()
}

/// A value read from columns, which are found by name.
pub(crate) trait Columns: Sized {
    /// Appends the names and types of the columns, in the order of [`Columns::read`].
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>);

    /// Reads the value from a row.
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

/// Columns of an outer join. The value is `None` if the first column is null.
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

/// Declares the columns that a value is read from.
///
/// - `row! { struct HeadRow { memory_id: Uuid, kind: String } }` declares a new type.
/// - `row! { Stamp { memories: i64 = memories_stamp } }` uses an existing type. It gives, for each member, the type of
///   the column and, if it differs, its name. If the type of the member differs from the column's, it is converted by
///   `From`.
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

/// Declares a statement: its kind, its type with the parameters, the type of each row, and its text.
///
/// Kinds are `read`, `write`, `count` (a write that may be committed asynchronously) and `look_up` (a read across
/// tenants). Parameters begin at `$3`, for `look_up` at `$1`.
///
/// ```text
/// statement! {
///     read ListMemories<'a> { before: Uuid, kind: Option<&'a str>, limit: i64 } -> Memory,
///     "-- memories.list
///     select ..."
/// }
/// ```
///
/// `..columns: SkillColumns` among the parameters includes all parameters that `parameters!` declares under that name.
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
                    let shared = <$shared_type as $crate::vault::statement::SharedParameters>::accepts();
                    let first = [first, shared, last].concat();
                )?
                first
            }

            fn values(&self) -> Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> {
                let first: Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> = vec![$(&self.$member),*];
                $(
                    let last: Vec<&(dyn ::tokio_postgres::types::ToSql + Sync)> = vec![$(&self.$last),*];
                    let first = [first, $crate::vault::statement::SharedParameters::values(&self.$shared), last].concat();
                )?
                first
            }
        }

        $crate::vault::statement::run_by!($kind $name $(<$life>)?);
    };
}

/// Declares parameters shared by several statements.
macro_rules! parameters {
    ($(#[doc = $doc:literal])* struct $name:ident { $($member:ident: $type:ty),* $(,)? }) => {
        $(#[doc = $doc])*
        pub(crate) struct $name { $(pub(crate) $member: $type),* }

        impl $crate::vault::statement::SharedParameters for $name {
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
    (look_up $name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::vault::statement::LookUp for $name $(<$life>)? {}
    };
    (count $name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::vault::statement::Write for $name $(<$life>)? {
            const DURABILITY: $crate::vault::statement::Durability = $crate::vault::statement::Durability::Counts;
        }
    };
}

pub(crate) use {column_name, parameters, row, run_by, statement};
