//! Opens connections with both drivers: tries the hosts of the URL one after the other, with or without TLS depending
//! on `sslmode`, until a server fits `target_session_attrs`.

mod checked;
mod failure;
mod pipelined;
mod tls;

use std::collections::hash_map::RandomState;
use std::error::Error as StdError;
use std::hash::BuildHasher;
use std::time::Duration;

use knowhow_domain::Result;
use tokio::time::timeout;

pub(crate) use self::checked::{CheckedConnector, CheckedPool};
use self::failure::Reason;
pub(crate) use self::failure::words;
pub use self::failure::{Cause, Unreachable};
pub(crate) use self::pipelined::{Pipelined, PipelinedPool};
pub(crate) use self::tls::check_files;
use crate::vault::database_url::{DatabaseUrl, Host, ServerAddress, Session, SslMode, Verification};

/// Requested encryption of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Plain,
    /// The connection is encrypted if the server offers it.
    Offered,
    Required,
}

/// A client library for Postgres.
trait Driver: Sync {
    type Connection: Send;
    type Error: StdError + Send + 'static;

    /// Connects to one server.
    fn open(
        &self,
        to: &ServerAddress,
        encryption: Encryption,
    ) -> impl Future<Output = Result<Self::Connection, Self::Error>> + Send;

    /// Returns the answer to [`SESSION_STATE`].
    fn session_state(&self, on: &mut Self::Connection) -> impl Future<Output = Result<String, Self::Error>> + Send;
}

/// Statement that returns the state of the session as `<is a standby> <is read-only>`, e.g. `false off`.
const SESSION_STATE: &str = "-- connect.session_state
    select pg_is_in_recovery()::text || ' ' || current_setting('transaction_read_only')";

/// Time limit for connecting with each driver in `explain`. A person waits for the result.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tries to connect with both drivers. Returns the reason if one of them fails, otherwise `None`.
///
/// # Errors
/// `Malformed` if the URL cannot be used.
pub async fn explain(url: &str) -> Result<Option<Unreachable>> {
    let url = DatabaseUrl::parse(url)?;
    tls::check_files(&url.tls)?;
    let url = url.within(PATIENCE);
    let (checked, pipelined) = (CheckedConnector(url.clone()), Pipelined(url));
    let failed = match checked.connect().await {
        Ok(connection) => {
            drop(sqlx::Connection::close(connection).await);
            pipelined.connect().await.err()
        }
        Err(error) => Some(error),
    };
    Ok(failed)
}

/// Connects to the first server that matches `target_session_attrs`.
async fn connect<D: Driver>(driver: &D, url: &DatabaseUrl) -> Result<D::Connection, Unreachable> {
    let wanted = match url.session {
        Session::PreferStandby => vec![Session::Standby, Session::Any],
        session => vec![session],
    };
    let mut endpoints: Vec<&ServerAddress> = url.endpoints.iter().collect();
    if url.shuffles {
        endpoints.sort_by_cached_key(|endpoint| RandomState::new().hash_one(endpoint.port));
    }
    let mut reasons = Vec::new();
    for session in wanted {
        for endpoint in &endpoints {
            let reason = match connect_to(driver, url, endpoint).await {
                Ok(mut connection) => match misfit(driver, session, &mut connection).await {
                    Ok(None) => return Ok(connection),
                    Ok(Some(why)) => Reason::new(Cause::Misfit, why),
                    Err(error) => Reason::of(&error, &url.tls),
                },
                Err(reason) => reason,
            };
            // Like libpq, stops here: the other servers would reject the role too.
            let is_final = reason.is_of_the_role();
            reasons.push((*endpoint, reason));
            if is_final {
                return Err(Unreachable::new(url, &reasons));
            }
        }
    }
    Err(Unreachable::new(url, &reasons))
}

/// Connects to one server. Retries with or without TLS if `sslmode` allows it.
async fn connect_to<D: Driver>(driver: &D, url: &DatabaseUrl, to: &ServerAddress) -> Result<D::Connection, Reason> {
    let (first, second) = match (url.tls.mode, &to.host) {
        // Like libpq, does not encrypt on a Unix socket.
        (SslMode::Disable, _) | (_, Host::Folder(_)) => (Encryption::Plain, None),
        (SslMode::Allow, _) => (Encryption::Plain, Some(Encryption::Required)),
        (SslMode::Prefer, _) => (Encryption::Offered, Some(Encryption::Plain)),
        _ => (Encryption::Required, None),
    };
    let reason = match open(driver, url, to, first).await {
        Ok(connection) => return Ok(connection),
        Err(reason) => reason,
    };
    // If the certificate must be verified, a failed verification does not fall back to a connection without TLS.
    let second = second.filter(|_| match reason.cause {
        Cause::NoTls | Cause::Rules => true,
        Cause::Certificate | Cause::Tls => url.tls.verification == Verification::Nothing,
        _ => false,
    });
    match second {
        // The first reason is more useful, unless the server's rules rejected the plain connection.
        Some(second) => open(driver, url, to, second).await.map_err(|other| match (reason.cause, other.cause) {
            (Cause::Rules, Cause::Certificate | Cause::Tls) => other,
            _ => reason,
        }),
        None => Err(reason),
    }
}

async fn open<D: Driver>(
    driver: &D,
    url: &DatabaseUrl,
    to: &ServerAddress,
    encryption: Encryption,
) -> Result<D::Connection, Reason> {
    let opened = driver.open(to, encryption);
    let opened = match url.connect_timeout {
        Some(wait) => match timeout(wait, opened).await {
            Ok(opened) => opened,
            Err(_) => return Err(Reason::new(Cause::Silent, &format!("no answer within {} s", wait.as_secs_f32()))),
        },
        None => opened.await,
    };
    opened.map_err(|error| Reason::of(&error, &url.tls))
}

/// Returns why a server does not match `target_session_attrs`; `None` if it matches.
async fn misfit<D: Driver>(
    driver: &D,
    session: Session,
    connection: &mut D::Connection,
) -> Result<Option<&'static str>, D::Error> {
    if session == Session::Any {
        return Ok(None);
    }
    let state = driver.session_state(connection).await?;
    let (is_standby, is_read_only) = (state.starts_with("true"), state.ends_with("on"));
    Ok(match session {
        Session::ReadWrite if is_read_only => {
            Some("the session is read-only, and target_session_attrs wants read-write")
        }
        Session::ReadOnly if !is_read_only => {
            Some("the session is read-write, and target_session_attrs wants read-only")
        }
        Session::Primary if is_standby => Some("the server is a standby, and target_session_attrs wants the primary"),
        Session::Standby if !is_standby => Some("the server is the primary, and target_session_attrs wants a standby"),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
