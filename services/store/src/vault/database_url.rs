//! The URL of a database. It is parsed once for both drivers, and each parameter means the same as in libpq.

mod parameters;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use knowhow_domain::{Error, Result, Secret};
use sqlx::postgres::PgConnectOptions;

use self::parameters::UrlParameters;
pub(crate) use self::parameters::unusable;

/// Maximum time that sent data may stay unacknowledged before the connection counts as lost. `tcp_user_timeout` in
/// the URL overrides it.
const SILENCE: Duration = Duration::from_secs(10);

/// The parsed URL of a database.
#[derive(Debug, Clone)]
pub struct DatabaseUrl {
    pub(crate) endpoints: Vec<ServerAddress>,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) database: String,
    /// The parameter `options` of the URL, if present.
    pub(crate) options: Option<String>,
    /// The environment variable `PGOPTIONS`, if it is set. sqlx sends it by itself, before `options`.
    pub(crate) options_of_environment: Option<String>,
    pub(crate) application_name: Option<String>,
    pub(crate) tls: TlsSettings,
    pub(crate) session: Session,
    pub(crate) shuffles: bool,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) keepalive: Keepalive,
    pub(crate) binds_channel: bool,
}

/// An address at which a server may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    pub(crate) host: Host,
    /// `hostaddr`: the address to connect to. If set, `host` is not looked up.
    pub(crate) address: Option<IpAddr>,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    /// The folder of a Unix socket.
    Folder(PathBuf),
}

/// `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The part of a server's certificate that is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    Nothing,
    /// The signature of a trusted authority.
    Authority,
    /// The signature and the host's name.
    HostName,
}

/// Trusted certificates, from the parameter `sslrootcert` of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    System,
    File(PathBuf),
}

/// Files named by the parameters `sslcert` and `sslkey` of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientCertificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsSettings {
    pub(crate) mode: SslMode,
    pub(crate) verification: Verification,
    pub(crate) roots: Roots,
    pub(crate) client: Option<ClientCertificate>,
}

/// Kind of server that the parameter `target_session_attrs` of the URL requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Session {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

/// TCP keepalives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keepalive {
    pub(crate) is_on: bool,
    pub(crate) idle: Duration,
    pub(crate) interval: Duration,
    pub(crate) count: u32,
    pub(crate) user_timeout: Duration,
}

impl DatabaseUrl {
    /// Parses `postgres://user:password@host1:port1,host2:port2/database?parameters`. Missing parameters are taken from
    /// libpq's environment variables.
    ///
    /// # Errors
    /// `Malformed` with the invalid part, never with the password.
    pub fn parse(url: &str) -> Result<Self> {
        Self::parse_in(url, environment)
    }

    fn parse_in(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let options_of_environment = environment("PGOPTIONS");
        let parameters = UrlParameters::parse(url, environment)?;
        parameters.refuse_unsupported()?;
        let user = parameters.text("user").unwrap_or_else(default_user);
        let parsed = Self {
            endpoints: parameters.endpoints()?,
            database: parameters.text("dbname").unwrap_or_else(|| user.clone()),
            user,
            password: parameters.text("password").map(Secret::from),
            options: parameters.text("options"),
            options_of_environment,
            application_name: parameters
                .text("application_name")
                .or_else(|| parameters.text("fallback_application_name")),
            tls: tls_settings(&parameters)?,
            session: parameters.word("target_session_attrs", &SESSIONS)?.unwrap_or(Session::Any),
            shuffles: parameters.word("load_balance_hosts", &[("disable", false), ("random", true)])?.unwrap_or(false),
            connect_timeout: parameters.seconds("connect_timeout")?.filter(|wait| !wait.is_zero()),
            keepalive: keepalive(&parameters)?,
            binds_channel: parameters.word("channel_binding", &[("disable", false), ("prefer", true)])?.unwrap_or(true),
        };
        parsed.checked()
    }

    fn checked(self) -> Result<Self> {
        let has_address = self.endpoints.iter().any(|endpoint| endpoint.address.is_some());
        if has_address && self.tls.verification == Verification::HostName {
            return Err(unusable(
                "hostaddr cannot be used with sslmode=verify-full: leave it out, or use sslmode=verify-ca",
            ));
        }
        Ok(self)
    }

    /// Returns the role and the password that are written in the URL itself.
    ///
    /// # Errors
    /// As [`DatabaseUrl::parse`].
    pub fn written_login(url: &str) -> Result<(Option<String>, Option<Secret>)> {
        let written = UrlParameters::parse(url, |_| None)?;
        Ok((written.text("user"), written.text("password").map(Secret::from)))
    }

    /// Sets the name that Postgres shows for the connections.
    #[must_use]
    pub(crate) fn named(self, application_name: String) -> Self {
        Self { application_name: Some(application_name), ..self }
    }

    /// Limits the connection attempts to all hosts together to `wait`. Each host gets an equal share, so that an
    /// unresponsive host leaves time for the next.
    #[must_use]
    pub(crate) fn within(self, wait: Duration) -> Self {
        let share = wait / u32::try_from(self.endpoints.len()).unwrap_or(u32::MAX).max(1);
        let connect_timeout = Some(self.connect_timeout.map_or(share, |own| own.min(share)));
        Self { connect_timeout, ..self }
    }

    /// Returns the command-line options of the session as Postgres receives them.
    pub(crate) fn all_options(&self) -> Option<String> {
        match (&self.options_of_environment, &self.options) {
            (Some(first), Some(second)) => Some(format!("{first} {second}")),
            (first, second) => first.clone().or_else(|| second.clone()),
        }
    }
}

const SESSIONS: [(&str, Session); 6] = [
    ("any", Session::Any),
    ("read-write", Session::ReadWrite),
    ("read-only", Session::ReadOnly),
    ("primary", Session::Primary),
    ("standby", Session::Standby),
    ("prefer-standby", Session::PreferStandby),
];

const MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

fn tls_settings(parameters: &UrlParameters) -> Result<TlsSettings> {
    let root = parameters.text("sslrootcert");
    let is_system = root.as_deref() == Some("system");
    // JDBC's spelling, which libpq accepts too.
    let of_jdbc = parameters.word("ssl", &[("true", SslMode::Require)])?;
    let mode = parameters.word("sslmode", &MODES)?.or(of_jdbc);
    let mode = mode.unwrap_or(if is_system { SslMode::VerifyFull } else { SslMode::Prefer });
    if is_system && mode != SslMode::VerifyFull {
        return Err(unusable("sslrootcert=system needs sslmode=verify-full, as any public authority is trusted then"));
    }
    let verification = match (mode, &root) {
        (SslMode::VerifyFull, _) => Verification::HostName,
        (SslMode::VerifyCa, _) | (_, Some(_)) => Verification::Authority,
        _ => Verification::Nothing,
    };
    let client = match (parameters.text("sslcert"), parameters.text("sslkey")) {
        (Some(certificate), Some(key)) => Some(ClientCertificate { certificate: certificate.into(), key: key.into() }),
        (None, None) => None,
        (Some(_), None) => return Err(unusable("sslcert needs sslkey, the file of its key")),
        (None, Some(_)) => return Err(unusable("sslkey needs sslcert, the file of its certificate")),
    };
    let roots = match root {
        Some(file) if !is_system => Roots::File(file.into()),
        _ => Roots::System,
    };
    Ok(TlsSettings { mode, verification, roots, client })
}

fn keepalive(parameters: &UrlParameters) -> Result<Keepalive> {
    let seconds = |name| Ok::<_, Error>(parameters.seconds(name)?.filter(|time| !time.is_zero()));
    // Unlike the other times, libpq measures this one in milliseconds.
    let user_timeout = parameters.number("tcp_user_timeout")?.filter(|time| *time > 0);
    Ok(Keepalive {
        is_on: parameters.word("keepalives", &[("0", false), ("1", true)])?.unwrap_or(true),
        idle: seconds("keepalives_idle")?.unwrap_or(SILENCE),
        interval: seconds("keepalives_interval")?.unwrap_or(SILENCE / 4),
        count: parameters.number("keepalives_count")?.filter(|count| *count > 0).unwrap_or(4),
        user_timeout: user_timeout.map_or(SILENCE, |time| Duration::from_millis(time.into())),
    })
}

/// Reads an environment variable of libpq. sqlx always reads some of these variables itself, so they apply to both
/// drivers.
#[expect(clippy::disallowed_methods, reason = "libpq's variables, not settings of the service")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the name of the operating system's user.
fn default_user() -> String {
    PgConnectOptions::new_without_pgpass().get_username().to_owned()
}

#[cfg(test)]
mod tests;
