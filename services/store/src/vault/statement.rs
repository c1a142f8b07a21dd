//! A statement of the pipeline, declared once: its text, its parameters and its columns, each with a type. What the code
//! binds and reads follows from the declaration, and a test prepares every declared statement and compares both with
//! what Postgres says.
//!
//! `$1` and `$2` of every statement are the caller's tenant and user. The pipeline binds them itself; the members of the
//! declaration follow from `$3` on.

mod reader;

use knowhow_domain::Result;
use tokio_postgres::types::{ToSql, Type};

pub(crate) use reader::{Reader, read_rows};

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

/// A statement across tenants that changes nothing: it finds out who calls. Its parameters begin at `$1`.
pub(crate) trait LookUp: Statement {}

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

/// Declares a statement: how it is run (`read`, `write`, `count` for a write whose commit need not reach the disk
/// before the answer, or `look_up` for a read across tenants), its type with the parameters from `$3` on (from `$1` on for
/// `look_up`), what each row is read into, and its text.
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
