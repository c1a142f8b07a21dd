//! Turns errors of the database into errors of the domain. Nothing that Postgres says reaches a caller; what an operator is
//! told is put together here too.

use deadpool::managed::PoolError;
use knowhow_domain::Error;
use sqlx::postgres::PgDatabaseError;

use crate::connect::{Unreachable, words};

/// What an error and its causes say, each thing once.
pub fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut sentences: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        // The server's own words; the driver adds at which line of the server's source they were said.
        let by_server = match error.downcast_ref::<sqlx::Error>() {
            Some(sqlx::Error::Database(told)) => Some(told.message().to_owned()),
            _ => None,
        };
        next = if by_server.is_some() { None } else { error.source() };
        let sentence = by_server.unwrap_or_else(|| error.to_string());
        if !sentences.iter().any(|told| told.contains(&sentence)) {
            sentences.push(sentence);
        }
    }
    sentences.join(": ")
}

/// What `app.require_here` says where the transaction's tenant lives at another place by now.
const IS_ELSEWHERE: &str = "KH003";

const MOVED: &str = "the tenant is being moved to another database; try again in a second";

/// The tenant is on its way to another place, or has just come there.
pub(crate) fn is_being_moved() -> Error {
    Error::Unavailable(MOVED.into())
}

/// Whether that is why.
pub(crate) fn says_moved(error: &Error) -> bool {
    matches!(error, Error::Unavailable(why) if why == MOVED)
}

/// Turns a failure of sqlx into a refusal: out of reach becomes `unavailable`, the rest is a defect.
pub(crate) fn refuse(error: sqlx::Error) -> Error {
    if error.as_database_error().is_some_and(|said| said.code().as_deref() == Some(IS_ELSEWHERE)) {
        return is_being_moved();
    }
    let transient = match &error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(e) => e.try_downcast_ref::<PgDatabaseError>().is_some_and(|e| is_transient(e.code())),
        _ => false,
    };
    unavailable_if(transient, error)
}

/// Whether a row of that key is there already.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// The same for the pipeline.
pub(crate) fn refuse_read(error: tokio_postgres::Error) -> Error {
    if error.code().is_some_and(|code| code.code() == "KH002") {
        return Error::MustBeReviewed(Vec::new());
    }
    if error.code().is_some_and(|code| code.code() == IS_ELSEWHERE) {
        return is_being_moved();
    }
    let transient = error.is_closed() || error.code().is_none_or(|c| is_transient(c.code()));
    // The library prints "db error"; what the database said is its source.
    match error.as_db_error() {
        Some(said) => unavailable_if(transient, said.clone()),
        None => unavailable_if(transient, error),
    }
}

/// Turns the reason why a pool has no connection into a refusal.
pub(crate) fn refuse_pool(error: PoolError<Unreachable>) -> Error {
    match error {
        PoolError::Backend(error) => unavailable_if(error.is_passing(), error),
        other => unavailable_if(true, other),
    }
}

fn unavailable_if(transient: bool, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    if transient {
        tracing::warn!(error = words(&error), "the database is out of reach");
        Error::Unavailable("the database is out of reach; try again in a moment".into())
    } else {
        Error::internal(error)
    }
}

/// Connection, resource, operator and timeout classes, and conflicts that a retry resolves
/// (PostgreSQL, appendix A: 08, 53, 57, 40001, 40P01, 55P03, 25P03).
fn is_transient(code: &str) -> bool {
    matches!(code.get(..2), Some("08" | "53" | "57")) || matches!(code, "40001" | "40P01" | "55P03" | "25P03" | "25P04")
}
