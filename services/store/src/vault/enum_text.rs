//! Text columns that store enum values. The error for an unknown value names the value.

use std::error::Error as StdError;
use std::str::FromStr;

use knowhow_domain::graph::{EntityKind, RelationSource, RelationType};
use knowhow_domain::{Algorithm, Channel, DirectiveName, MadeBy, MemoryKind, ProcessKind, Source, Speaker, Tools};
use sqlx::postgres::{PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres};
use tokio_postgres::types::{FromSql, Type, accepts};

/// A text column read as a `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<T>(pub(crate) T);

type Boxed = Box<dyn StdError + Sync + Send>;

fn parse<T: FromStr>(text: &str) -> Result<Word<T>, Boxed> {
    T::from_str(text).map(Word).map_err(|_| format!("'{text}' is not a {}", std::any::type_name::<T>()).into())
}

impl<'a, T: FromStr> FromSql<'a> for Word<T> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Boxed> {
        parse(<&str>::from_sql(ty, raw)?)
    }

    accepts!(TEXT, VARCHAR);
}

impl<'r, T: FromStr> Decode<'r, Postgres> for Word<T> {
    fn decode(value: PgValueRef<'r>) -> Result<Self, Boxed> {
        parse(<&str as Decode<Postgres>>::decode(value)?)
    }
}

impl<T> sqlx::Type<Postgres> for Word<T> {
    fn type_info() -> PgTypeInfo {
        <str as sqlx::Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <str as sqlx::Type<Postgres>>::compatible(ty)
    }
}

impl<T> PgHasArrayType for Word<T> {
    fn array_type_info() -> PgTypeInfo {
        <String as PgHasArrayType>::array_type_info()
    }
}

// Conversions for columns of `query_as!`.
macro_rules! read_as_word {
    ($($noun:ty),+) => {
        $(impl From<Word<$noun>> for $noun {
            fn from(word: Word<$noun>) -> Self {
                word.0
            }
        })+
    };
}

read_as_word!(
    Algorithm,
    Channel,
    DirectiveName,
    EntityKind,
    MadeBy,
    MemoryKind,
    ProcessKind,
    RelationSource,
    RelationType,
    Source,
    Speaker,
    Tools
);

#[cfg(test)]
mod tests;
