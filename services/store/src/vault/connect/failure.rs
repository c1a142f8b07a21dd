//! Describes failed connections for operators, with host, port, database and role, and never with the password.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};
use sqlx::postgres::PgDatabaseError;
use tokio_postgres::error::DbError;

use crate::vault::database_url::{DatabaseUrl, Host, Roots, ServerAddress, TlsSettings};
use crate::vault::error::join_messages;

/// Kinds of failures with different remedies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The server has no such role, or the role has another password.
    Login,
    /// `pg_hba.conf` has no rule for the connection, or rejects it.
    Rules,
    /// The server has no such database.
    NoDatabase,
    /// The URL requires TLS and the server does not offer it.
    NoTls,
    /// The server's certificate is not accepted.
    Certificate,
    /// The TLS handshake failed in another way.
    Tls,
    /// No server listens at the address, the host is unreachable, or the connection broke during the login.
    Silent,
    /// The server is starting or stopping, or has no free connection.
    Busy,
    /// The server does not match `target_session_attrs`.
    Misfit,
    Other,
}

/// A failed attempt to connect. `Display` prints one sentence without the full stop.
#[derive(Debug, Clone)]
pub struct Unreachable {
    pub cause: Cause,
    sentence: String,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl StdError for Unreachable {}

impl Unreachable {
    pub(super) fn new(url: &DatabaseUrl, reasons: &[(&ServerAddress, Reason)]) -> Self {
        let whole = format!("the database '{}' as '{}'", url.database, url.user);
        let one = |(endpoint, reason): &(&ServerAddress, Reason)| format!("at {}: {}", address(endpoint), reason.words);
        let sentence = match reasons {
            [(endpoint, reason)] => format!(
                "cannot connect to the database '{}' at {} as '{}': {}",
                url.database,
                address(endpoint),
                url.user,
                reason.words
            ),
            all => format!("cannot connect to {whole} {}", all.iter().map(one).collect::<Vec<_>>().join("; ")),
        };
        Self { cause: reasons.last().map_or(Cause::Other, |(_, reason)| reason.cause), sentence }
    }

    /// Returns whether a retry may succeed without any change to the configuration.
    pub(crate) fn is_passing(&self) -> bool {
        !matches!(self.cause, Cause::Login | Cause::Rules | Cause::NoDatabase | Cause::Other)
    }
}

/// The reason why one server cannot be used.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) cause: Cause,
    words: String,
}

impl Reason {
    pub(super) fn new(cause: Cause, words: &str) -> Self {
        Self { cause, words: words.to_owned() }
    }

    pub(super) fn of(error: &(dyn StdError + 'static), tls: &TlsSettings) -> Self {
        if let Some(error) = find_tls(error) {
            return Self { cause: tls_cause(error), words: tls_words(error, Some(tls)) };
        }
        let words = join_messages(error);
        if words.contains("server does not support TLS") {
            return Self::new(Cause::NoTls, "the server does not offer TLS");
        }
        let cause = match (find_code(error), find::<io::Error>(error)) {
            (Some(code), _) => cause_of(&code),
            (None, Some(_)) => Cause::Silent,
            (None, None) if is_broken_off(error) => Cause::Silent,
            (None, None) => Cause::Other,
        };
        Self { cause, words }
    }

    /// Returns whether the server rejected the role, its password or database.
    pub(super) fn is_of_the_role(&self) -> bool {
        matches!(self.cause, Cause::Login | Cause::Rules | Cause::NoDatabase | Cause::Other)
    }
}

/// Maps SQLSTATEs (PostgreSQL, appendix A).
fn cause_of(code: &str) -> Cause {
    match code {
        "28P01" => Cause::Login,
        "28000" => Cause::Rules,
        "3D000" => Cause::NoDatabase,
        code if code.starts_with("57P") || code.starts_with("53") || code.starts_with("08") => Cause::Busy,
        _ => Cause::Other,
    }
}

/// Describes a connection error: the reason for a TLS failure, or the driver's message.
pub(crate) fn words(error: &(dyn StdError + 'static)) -> String {
    find_tls(error).map_or_else(|| join_messages(error), |error| tls_words(error, None))
}

/// Finds a cause of type `E`. Also looks inside I/O errors, which do not return their inner error as `source`.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| find::<E>(inner)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn find_tls<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a TlsError> {
    find::<TlsError>(error)
}

fn find_code(error: &(dyn StdError + 'static)) -> Option<String> {
    let by_pipelined = find::<DbError>(error).map(|told| told.code().code().to_owned());
    by_pipelined.or_else(|| match find::<sqlx::Error>(error) {
        Some(sqlx::Error::Database(told)) => {
            told.try_downcast_ref::<PgDatabaseError>().map(|told| told.code().to_owned())
        }
        _ => None,
    })
}

/// Returns whether the server closed the connection before the login was complete.
fn is_broken_off(error: &(dyn StdError + 'static)) -> bool {
    find::<tokio_postgres::Error>(error).is_some_and(tokio_postgres::Error::is_closed)
        || matches!(find::<sqlx::Error>(error), Some(sqlx::Error::Protocol(_)))
}

fn tls_cause(error: &TlsError) -> Cause {
    match error {
        TlsError::InvalidCertificate(_) => Cause::Certificate,
        _ => Cause::Tls,
    }
}

fn tls_words(error: &TlsError, tls: Option<&TlsSettings>) -> String {
    match error {
        TlsError::InvalidCertificate(error) => certificate_words(error, tls),
        TlsError::AlertReceived(alert) if is_about_our_certificate(*alert) => {
            match tls.and_then(|tls| tls.client.as_ref()) {
                Some(client) => format!(
                    "the server rejects the client certificate {} ({alert:?}): it must be valid, for the role, and signed by an \
                     authority of the server's ssl_ca_file",
                    client.certificate.display()
                ),
                None => format!("the server requires a client certificate ({alert:?}): add sslcert and sslkey"),
            }
        }
        TlsError::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure)
        | TlsError::PeerIncompatible(_) => {
            format!(
                "the server and this program have no TLS version or cipher in common ({error}): it must offer TLS 1.2 or 1.3"
            )
        }
        other => format!("TLS failed: {other}"),
    }
}

fn is_about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
    )
}

fn certificate_words(error: &CertificateError, tls: Option<&TlsSettings>) -> String {
    let file = tls.and_then(|tls| match &tls.roots {
        Roots::File(file) => Some(file.display().to_string()),
        Roots::System => None,
    });
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match file {
            Some(file) => format!(
                "the server's certificate is signed by an authority that is not trusted: put that authority's certificate into \
                 {file} (sslrootcert), or remove sslrootcert and use sslmode=require to encrypt without verifying the server"
            ),
            None => "the server's certificate is signed by an authority that is not trusted: add sslrootcert=/path/to/ca.crt with \
                     that authority's certificate, or use sslmode=require to encrypt without verifying the server"
                .to_owned(),
        },
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired: renew it on the server".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet: check the clocks of both machines".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, expected } => {
            // The library formats names as DnsName("db.example").
            let bare = |name: &String| name.split(['(', ')']).nth(1).unwrap_or(name).trim_matches('"').to_owned();
            let named: Vec<String> = presented.iter().map(bare).collect();
            let named = if named.is_empty() { "no name (subjectAltName)".to_owned() } else { named.join(", ") };
            format!(
                "the server's certificate is for {named}, not for {}: connect by a name in it, or use sslmode=verify-ca to \
                 verify the authority alone",
                expected.to_str()
            )
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not for servers (extendedKeyUsage lacks serverAuth): issue another one".to_owned()
        }
        CertificateError::Other(other) => match other.to_string().as_str() {
            "CaUsedAsEndEntity" => "the server's certificate is one of an authority (CA:TRUE): sign a server certificate with \
                                    it, or make one with basicConstraints=CA:FALSE"
                .to_owned(),
            "UnsupportedCertVersion" => "the server's certificate is of X.509 version 1: issue one of version 3, e.g. with a \
                                         subjectAltName"
                .to_owned(),
            other => format!("the server's certificate cannot be used: {other}"),
        },
        other => format!("the server's certificate cannot be used: {other:?}"),
    }
}

/// Returns the host and port, or the path of the socket.
fn address(endpoint: &ServerAddress) -> String {
    match (&endpoint.host, endpoint.address) {
        (Host::Folder(folder), _) => folder.join(format!(".s.PGSQL.{}", endpoint.port)).display().to_string(),
        (Host::Name(name), Some(address)) if *name != address.to_string() => {
            format!("{name}:{} ({address})", endpoint.port)
        }
        (Host::Name(name), _) if name.contains(':') => format!("[{name}]:{}", endpoint.port),
        (Host::Name(name), _) => format!("{name}:{}", endpoint.port),
    }
}
