//! Connections through sqlx, with statements checked at compile time, for migrations, administration, jobs and lookups.

use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleResult};
use knowhow_domain::skills::uri::percent_decode;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, Executor, PgConnection, Row};
use tokio::time::sleep;
use url::Url;

use super::{Cause, Driver, Encryption, SESSION_STATE, Unreachable, connect, tls};
use crate::vault::database_url::{DatabaseUrl, Host, Roots, ServerAddress, Verification};

/// Pause between two attempts to connect to a server that is starting or has too many connections.
const PAUSE: Duration = Duration::from_millis(50);

/// Opens connections through sqlx.
#[derive(Debug)]
pub(crate) struct CheckedConnector(pub(crate) DatabaseUrl);

pub(crate) type CheckedPool = managed::Pool<CheckedConnector>;

impl CheckedConnector {
    /// Connects without the pool's retries.
    pub(crate) async fn connect(&self) -> Result<PgConnection, Unreachable> {
        connect(self, &self.0).await
    }

    /// Returns the password from `~/.pgpass` or the file named by `PGPASSFILE`. Only sqlx can read these files.
    pub(super) fn password_of_file(&self, to: &ServerAddress) -> Option<String> {
        // sqlx only returns the password inside a URL. Names that could break that URL are replaced.
        let options = self.options(to, Encryption::Plain).ok()?.username("any").host("localhost").database("any");
        percent_decode(options.to_url_lossy().password()?)
    }

    fn options(&self, to: &ServerAddress, encryption: Encryption) -> Result<PgConnectOptions, sqlx::Error> {
        let of = &self.0;
        let mut url = Url::parse("postgres://localhost").map_err(sqlx::Error::config)?;
        let host = match (&to.host, to.address) {
            (Host::Folder(folder), _) => folder.to_string_lossy().into_owned(),
            (Host::Name(_), Some(address)) => address.to_string(),
            (Host::Name(name), None) => name.clone(),
        };
        let mut parameters: Vec<(&str, &str)> = vec![("host", &host), ("user", &of.user), ("dbname", &of.database)];
        let port = to.port.to_string();
        parameters.push(("port", &port));
        parameters.extend(of.password.as_deref().map(|password| ("password", password)));
        parameters.extend(of.options.as_deref().map(|options| ("options", options)));
        parameters.extend(of.application_name.as_deref().map(|name| ("application_name", name)));
        url.query_pairs_mut().extend_pairs(parameters);
        // Sets no other session parameters, because a pooler rejects connections with unknown parameters.
        let options = PgConnectOptions::from_url(&url)?.extra_float_digits(None).ssl_mode(self.mode(encryption));
        self.with_certificates(options)
    }

    fn mode(&self, encryption: Encryption) -> PgSslMode {
        match (encryption, self.0.tls.verification) {
            (Encryption::Plain, _) => PgSslMode::Disable,
            (Encryption::Offered, Verification::Nothing) => PgSslMode::Prefer,
            (Encryption::Required, Verification::Nothing) => PgSslMode::Require,
            // The driver only verifies certificates if encryption is required. If the server has no TLS, the next
            // attempt is unencrypted.
            (_, Verification::Authority) => PgSslMode::VerifyCa,
            (_, Verification::HostName) => PgSslMode::VerifyFull,
        }
    }

    fn with_certificates(&self, options: PgConnectOptions) -> Result<PgConnectOptions, sqlx::Error> {
        let tls = &self.0.tls;
        let options = match (&tls.roots, tls.verification) {
            (_, Verification::Nothing) => options,
            (Roots::File(file), _) => options.ssl_root_cert(file),
            (Roots::System, _) => options.ssl_root_cert_from_pem(tls::system_roots_as_pem()),
        };
        Ok(match &tls.client {
            Some(client) => options.ssl_client_cert(&client.certificate).ssl_client_key(&client.key),
            None => options,
        })
    }
}

impl Driver for CheckedConnector {
    type Connection = PgConnection;
    type Error = sqlx::Error;

    async fn open(&self, to: &ServerAddress, encryption: Encryption) -> Result<PgConnection, sqlx::Error> {
        self.options(to, encryption)?.connect().await
    }

    async fn session_state(&self, on: &mut PgConnection) -> Result<String, sqlx::Error> {
        on.fetch_one(SESSION_STATE).await?.try_get(0)
    }
}

impl managed::Manager for CheckedConnector {
    type Type = PgConnection;
    type Error = Unreachable;

    async fn create(&self) -> Result<PgConnection, Unreachable> {
        loop {
            // The future is boxed to keep the futures of waiting callers small.
            match Box::pin(self.connect()).await {
                // The pool's timeout ends this loop.
                Err(error) if error.cause == Cause::Busy => sleep(PAUSE).await,
                outcome => return outcome,
            }
        }
    }

    async fn recycle(&self, _: &mut PgConnection, _: &Metrics) -> RecycleResult<Unreachable> {
        Ok(())
    }
}
