//! Splits the URL as libpq does, and reads its parameters.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use knowhow_domain::skills::uri::percent_decode;
use knowhow_domain::{Error, Result};

use super::{Host, ServerAddress};

/// Supported parameters, each with libpq's environment variable for it.
const KNOWN: [(&str, Option<&str>); 29] = [
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("port", Some("PGPORT")),
    ("dbname", Some("PGDATABASE")),
    ("user", Some("PGUSER")),
    ("password", Some("PGPASSWORD")),
    // `PGOPTIONS` is added to `options`.
    ("options", None),
    ("application_name", Some("PGAPPNAME")),
    ("fallback_application_name", None),
    ("client_encoding", Some("PGCLIENTENCODING")),
    ("sslmode", Some("PGSSLMODE")),
    ("ssl", None),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslcert", Some("PGSSLCERT")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslnegotiation", Some("PGSSLNEGOTIATION")),
    ("sslcompression", Some("PGSSLCOMPRESSION")),
    ("sslsni", Some("PGSSLSNI")),
    ("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION")),
    ("gssencmode", Some("PGGSSENCMODE")),
    ("channel_binding", Some("PGCHANNELBINDING")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("load_balance_hosts", Some("PGLOADBALANCEHOSTS")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("keepalives", None),
    ("keepalives_idle", None),
    ("keepalives_interval", None),
    ("keepalives_count", None),
    ("tcp_user_timeout", None),
];

/// Rejected parameters of libpq, and what to do instead of each.
const REFUSED: [(&str, &str); 12] = [
    ("sslpassword", "keys with a passphrase cannot be read: remove it with openssl pkey -in KEY -out NEW_KEY"),
    ("passfile", "set the environment variable PGPASSFILE instead"),
    ("service", "write the parameters of the service into the URL"),
    ("servicefile", "write the parameters of the service into the URL"),
    ("sslcrl", "revocation lists are not supported: remove it"),
    ("sslcrldir", "revocation lists are not supported: remove it"),
    ("sslcertmode", "set sslcert and sslkey to send a certificate, or remove both"),
    ("ssl_max_protocol_version", "the newest version supported by both sides is used: remove it"),
    ("require_auth", "restrict the methods in pg_hba.conf instead"),
    ("requirepeer", "use sslmode=verify-full, or a Unix socket in a folder of the server's own"),
    ("replication", "the service opens no replication connections: remove it"),
    ("krbsrvname", "logging in by GSSAPI is not supported: use a password or a client certificate"),
];

/// Parameters with fixed values: name, accepted values, and the reason.
const FIXED: [(&str, &[&str], &str); 7] = [
    ("client_encoding", &["utf8", "UTF8", "utf-8", "UTF-8", "auto"], "texts are sent as UTF-8"),
    ("sslnegotiation", &["postgres"], "TLS begins after Postgres has agreed to it"),
    ("sslcompression", &["0", "1"], "TLS compression is not supported"),
    ("sslsni", &["1"], "the host's name is always sent"),
    ("ssl_min_protocol_version", &["TLSv1", "TLSv1.1", "TLSv1.2"], "TLS 1.2 is the minimum version"),
    ("gssencmode", &["disable", "prefer"], "encryption by GSSAPI is not supported"),
    (
        "channel_binding",
        &["disable", "prefer"],
        "the driver of migrations, administration and jobs cannot bind channels: use sslmode=verify-full, which also keeps \
         attackers from impersonating the server; all other connections use channel binding automatically",
    ),
];

/// The parameters of a URL by name, decoded.
pub(super) struct UrlParameters(HashMap<&'static str, String>);

/// Returns the error for an unusable URL.
pub(crate) fn unusable(why: impl std::fmt::Display) -> Error {
    Error::Malformed(format!("the database URL is not usable: {why}"))
}

impl UrlParameters {
    pub(super) fn parse(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let schemes = ["postgres://", "postgresql://"];
        let rest = schemes.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or_else(|| {
            unusable(
                "it must begin with postgres://, e.g. postgres://role:password@host:5432/database?sslmode=verify-full",
            )
        })?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (hosts, ports) = split_hosts(hosts)?;
        let mut parameters = Self(HashMap::new());
        for (name, value) in [("user", user), ("password", password), ("dbname", database), ("host", &hosts)] {
            parameters.set(name, decode(name, value)?);
        }
        parameters.set("port", ports);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| unusable("a parameter lacks '=' and a value"))?;
            let name = known(&decode("a parameter's name", name)?)?;
            // Some programs write a blank as '+'. In options, blanks are common and plus signs are rare.
            let value = if name == "options" { value.replace('+', " ") } else { value.to_owned() };
            parameters.set(name, decode(name, &value)?);
        }
        for (name, variable) in KNOWN {
            if !parameters.0.contains_key(name)
                && let Some(value) = variable.and_then(&environment)
            {
                parameters.set(name, value);
            }
        }
        Ok(parameters)
    }

    /// Sets a parameter, or removes it if the value is empty, as libpq does.
    fn set(&mut self, name: &'static str, value: String) {
        // An empty entry in a list of hosts or ports means the default.
        match value.trim_matches(',').is_empty() {
            true => self.0.remove(name),
            false => self.0.insert(name, value),
        };
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        match words.iter().find(|(word, _)| word == value) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(unusable(format!("{name}={value} is unknown; use one of: {}", all.join(", "))))
            }
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u32>> {
        let number = |value: &String| {
            value.trim().parse().map_err(|_| unusable(format!("{name}={value} must be a whole number, 0 or more")))
        };
        self.0.get(name).map(number).transpose()
    }

    pub(super) fn seconds(&self, name: &str) -> Result<Option<Duration>> {
        Ok(self.number(name)?.map(|seconds| Duration::from_secs(seconds.into())))
    }

    pub(super) fn refuse_unsupported(&self) -> Result<()> {
        for (name, accepted, reason) in FIXED {
            if let Some(value) = self.0.get(name).filter(|value| !accepted.contains(&value.as_str())) {
                return Err(unusable(format!("{name}={value} is not supported: {reason}")));
            }
        }
        Ok(())
    }

    /// Pairs hosts with addresses and ports. There is one port for all hosts or one for each.
    pub(super) fn endpoints(&self) -> Result<Vec<ServerAddress>> {
        let list = |name| self.0.get(name).map(|value| value.split(',').map(str::trim).collect::<Vec<_>>());
        let (hosts, addresses) = (list("host"), list("hostaddr"));
        let ports = list("port").unwrap_or_else(|| vec![""]);
        let count = addresses.as_ref().or(hosts.as_ref()).map_or(1, Vec::len);
        if hosts.as_ref().is_some_and(|hosts| hosts.len() != count) {
            return Err(unusable("host and hostaddr must have the same number of entries"));
        }
        if ports.len() != 1 && ports.len() != count {
            return Err(unusable(format!(
                "{} ports do not match {count} hosts: give one port, or one per host",
                ports.len()
            )));
        }
        let endpoint = |n: usize| {
            let port = parse_port(ports.get(n).or_else(|| ports.first()).copied().unwrap_or_default())?;
            let address =
                addresses.as_ref().and_then(|addresses| addresses.get(n)).filter(|address| !address.is_empty());
            let address = address.map(|text| {
                text.parse::<IpAddr>().map_err(|_| unusable(format!("hostaddr={text} is not an IP address")))
            });
            let address = address.transpose()?;
            let host = match hosts.as_ref().and_then(|hosts| hosts.get(n)).copied().unwrap_or_default() {
                "" => address.map_or_else(|| default_host(port), |address| Host::Name(address.to_string())),
                path if path.starts_with('/') => Host::Folder(path.into()),
                name => Host::Name(name.to_owned()),
            };
            Ok(ServerAddress { host, address, port })
        };
        (0..count).map(endpoint).collect()
    }
}

fn known(name: &str) -> Result<&'static str> {
    // This is the name of the parameter in tokio-postgres.
    let name = if name == "keepalives_retries" { "keepalives_count" } else { name };
    if let Some((known, _)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Ok(known);
    }
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(unusable(format!("the parameter {name} is not supported: {instead}")));
    }
    let all: Vec<&str> = KNOWN.iter().map(|(known, _)| *known).collect();
    Err(unusable(format!("the parameter '{}' is unknown; known are: {}", name.escape_debug(), all.join(", "))))
}

fn decode(name: &str, value: &str) -> Result<String> {
    let decoded = percent_decode(value).filter(|decoded| !decoded.contains('\0'));
    decoded.ok_or_else(|| unusable(format!("write a % in {name} as %25; the value must be UTF-8 without zero bytes")))
}

/// Splits `host:port,[address]:port` into comma-separated hosts and ports.
fn split_hosts(text: &str) -> Result<(String, String)> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for entry in text.split(',') {
        let (host, port) = match entry.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']').ok_or_else(|| unusable("an address lacks its ']'"))?;
                (address, rest.strip_prefix(':').unwrap_or(rest))
            }
            None => entry.split_once(':').unwrap_or((entry, "")),
        };
        hosts.push(host);
        ports.push(port);
    }
    Ok((hosts.join(","), ports.join(",")))
}

fn parse_port(text: &str) -> Result<u16> {
    match text {
        "" => Ok(5432),
        // The text may be part of a password with an unescaped '@', ':' or '/'.
        text => text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            unusable("a port must be 1 to 65535 (write a '/', '?' or '@' in a password as %2F, %3F or %40)")
        }),
    }
}

/// Returns the folder of a local server's Unix socket, or `localhost` if there is no socket.
fn default_host(port: u16) -> Host {
    let socket = format!(".s.PGSQL.{port}");
    let folders = ["/var/run/postgresql", "/private/tmp", "/tmp"].into_iter().map(Path::new);
    let folder = folders.into_iter().find(|folder| folder.join(&socket).exists());
    folder.map_or_else(|| Host::Name("localhost".into()), |folder| Host::Folder(folder.into()))
}
