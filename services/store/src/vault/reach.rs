//! Explains to the people who run the service why the database is out of reach: the driver's own sentence with host,
//! port, database and role, and never the password. Callers of the service are told none of it.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use knowhow_domain::{Result, Secret};
use sqlx::postgres::{PgConnectOptions, PgDatabaseError};
use sqlx::{ConnectOptions, Connection};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::Database;
use crate::error::said;
use crate::vault::pools::unusable;

/// Longest wait for one attempt to connect.
const PATIENCE: Duration = Duration::from_secs(5);

/// The same for finding out whether anybody listens.
const PROBE: Duration = Duration::from_millis(300);

/// The kinds of failure that have a cure of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The server has no such role, or it has another password.
    Login,
    /// The server has no such database.
    NoDatabase,
    /// The URL wants TLS and the server has none.
    NoTls,
    /// Nobody listens at that address, or it leads nowhere.
    Silent,
    Other,
}

/// A failed attempt to connect. `Display` is one sentence, without the end stop.
#[derive(Debug, Clone)]
pub struct Unreachable {
    /// What is known of the reason.
    pub cause: Cause,
    sentence: String,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl StdError for Unreachable {}

/// Connects once as `url` says, and says why where that fails.
///
/// # Errors
/// `Malformed` where the URL is not one.
pub async fn explain(url: &str) -> Result<Option<Unreachable>> {
    let options: PgConnectOptions = url.parse().map_err(unusable)?;
    let connecting = async { options.connect().await?.close().await };
    let error = match timeout(PATIENCE, connecting).await {
        Ok(Ok(())) => return Ok(None),
        Ok(Err(error)) => error,
        Err(_) => {
            let sentence = format!("cannot connect to {}: no answer within {} s", place(&options), PATIENCE.as_secs());
            return Ok(Some(Unreachable { cause: Cause::Silent, sentence }));
        }
    };
    let sentence = format!("cannot connect to {}: {}", place(&options), said(&error));
    Ok(Some(Unreachable { cause: cause(&error), sentence }))
}

/// The same for the other driver, by which hot reads go: it reads the URL's TLS settings in its own way.
///
/// # Errors
/// `Malformed` where the URL is not one.
pub async fn explain_reads(db: &Database, url: &Secret) -> Result<Option<Unreachable>> {
    let options: PgConnectOptions = url.parse().map_err(unusable)?;
    #[expect(clippy::disallowed_methods, reason = "runs no statement")]
    let error = match db.reads.pool.get().await {
        Ok(_) => return Ok(None),
        Err(error) => error,
    };
    let sentence = format!("cannot connect to {} for reads: {}", place(&options), said(&error));
    Ok(Some(Unreachable { cause: Cause::Other, sentence }))
}

/// When each address was last asked whether anybody listens, and the answer.
static ASKED: LazyLock<Mutex<HashMap<String, (Instant, bool)>>> = LazyLock::new(Mutex::default);

/// How long the answer holds: under load many wait for connections, and one of them asks for all.
const ANSWER_HOLDS: Duration = Duration::from_secs(1);

/// Whether nobody listens where the database should be. A connection that is refused costs a moment; one that is taken is
/// closed again, and costs Postgres a process.
pub(crate) async fn is_refused(options: &PgConnectOptions) -> bool {
    let address = address(options);
    let mut asked = ASKED.lock().await;
    if let Some((at, refused)) = asked.get(&address)
        && at.elapsed() < ANSWER_HOLDS
    {
        return *refused;
    }
    let refused = matches!(timeout(PROBE, try_once(options)).await, Ok(Err(error)) if is_refusal(&error));
    asked.insert(address, (Instant::now(), refused));
    refused
}

async fn try_once(options: &PgConnectOptions) -> std::io::Result<()> {
    match socket(options) {
        Some(path) => UnixStream::connect(path).await.map(drop),
        None => TcpStream::connect((options.get_host(), options.get_port())).await.map(drop),
    }
}

/// Nobody listens at the port, or there is no such socket.
fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound)
}

fn socket(options: &PgConnectOptions) -> Option<PathBuf> {
    let folder = options.get_socket().cloned().or_else(|| {
        let host = options.get_host();
        host.starts_with('/').then(|| PathBuf::from(host))
    });
    folder.map(|folder| folder.join(format!(".s.PGSQL.{}", options.get_port())))
}

fn place(options: &PgConnectOptions) -> String {
    let role = options.get_username();
    // Without a name Postgres takes the role's.
    let database = options.get_database().unwrap_or(role);
    format!("the database '{database}' at {} as '{role}'", address(options))
}

fn address(options: &PgConnectOptions) -> String {
    match socket(options) {
        Some(path) => path.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

fn cause(error: &sqlx::Error) -> Cause {
    match error {
        // PostgreSQL, appendix A: 28P01 is a wrong password, 3D000 an unknown database. 28000 says that pg_hba.conf admits
        // nobody from here, which no password cures.
        sqlx::Error::Database(told) => match told.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::code) {
            Some("28P01") => Cause::Login,
            Some("3D000") => Cause::NoDatabase,
            _ => Cause::Other,
        },
        sqlx::Error::Tls(_) => Cause::NoTls,
        sqlx::Error::Io(_) => Cause::Silent,
        _ => Cause::Other,
    }
}
