//! Converts database errors to domain errors, so that callers never see messages from Postgres. Also formats errors for
//! operators.

use deadpool::managed::PoolError;
use knowhow_domain::Error;
use sqlx::postgres::PgDatabaseError;

use crate::vault::connect::{Unreachable, words};

/// Joins the messages of an error and its causes, without repetitions.
pub fn join_messages(error: &(dyn std::error::Error + 'static)) -> String {
    let mut sentences: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        // Uses only the server's message. The driver would append the line in the server's source code.
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

/// SQLSTATE of `app.require_here` if the transaction's tenant now lives in another place.
const IS_ELSEWHERE: &str = "KH003";

const MOVED: &str = "the tenant is being moved to another database; try again in a second";

/// Returns the error for a tenant that is being moved to another place or was just moved.
pub(crate) fn is_being_moved() -> Error {
    Error::Unavailable(MOVED.into())
}

/// Returns whether this is the error for a moved tenant.
pub(crate) fn says_moved(error: &Error) -> bool {
    matches!(error, Error::Unavailable(why) if why == MOVED)
}

/// Converts an error from sqlx. Temporary failures, such as a lost connection, become `Unavailable`; all other errors
/// become `Internal`.
pub(crate) fn refuse(error: sqlx::Error) -> Error {
    if error.as_database_error().is_some_and(|error| error.code().as_deref() == Some(IS_ELSEWHERE)) {
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

/// Returns whether a row with this key already exists.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// Converts an error from the pipeline.
pub(crate) fn refuse_read(error: tokio_postgres::Error) -> Error {
    if error.code().is_some_and(|code| code.code() == "KH002") {
        return Error::MustBeReviewed(Vec::new());
    }
    if error.code().is_some_and(|code| code.code() == IS_ELSEWHERE) {
        return is_being_moved();
    }
    let transient = error.is_closed() || error.code().is_none_or(|c| is_transient(c.code()));
    // The driver itself prints only "db error". Its source has the message from the database.
    match error.as_db_error() {
        Some(message) => unavailable_if(transient, message.clone()),
        None => unavailable_if(transient, error),
    }
}

/// Converts an error from a pool.
pub(crate) fn refuse_pool(error: PoolError<Unreachable>) -> Error {
    match error {
        PoolError::Backend(error) => unavailable_if(error.is_passing(), error),
        other => unavailable_if(true, other),
    }
}

fn unavailable_if(transient: bool, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    if transient {
        tracing::warn!(error = words(&error), "the database is unreachable");
        Error::Unavailable("the database is unreachable; try again in a moment".into())
    } else {
        Error::internal(error)
    }
}

/// Returns whether a retry may help, by SQLSTATE: classes for connection, resources, operator and timeouts, and
/// serialization conflicts (PostgreSQL, appendix A: 08, 53, 57, 40001, 40P01, 55P03, 25P03).
fn is_transient(code: &str) -> bool {
    matches!(code.get(..2), Some("08" | "53" | "57")) || matches!(code, "40001" | "40P01" | "55P03" | "25P03" | "25P04")
}
