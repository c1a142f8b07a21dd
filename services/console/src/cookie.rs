//! The session cookie. It carries the tenant's slug, so that the session is found at the tenant's database, and the
//! secret. It is only sent to the host that set it.

use actix_web::http::header::{self, HeaderMap};
use knowhow_store::ConsoleSecret;

/// Name over TLS. Browsers accept the prefix `__Host-` only for cookies without a domain that are sent over TLS.
const OVER_TLS: &str = "__Host-knowhow";
/// Name over plain HTTP on loopback.
const ON_LOOPBACK: &str = "knowhow";

/// The session that a cookie names.
pub struct SessionCookie {
    /// Slug of the tenant.
    pub tenant: String,
    pub secret: ConsoleSecret,
}

impl SessionCookie {
    /// Reads the cookie of a request.
    pub(crate) fn read(headers: &HeaderMap, is_over_tls: bool) -> Option<Self> {
        let lines = headers.get_all(header::COOKIE).filter_map(|value| value.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(name, _)| *name == name_of(is_over_tls))?;
        let (tenant, secret) = value.split_once('.')?;
        Some(Self { tenant: tenant.to_owned(), secret: ConsoleSecret::parse(secret)? })
    }

    /// Returns the header that stores the session in the browser, until it is closed.
    pub(crate) fn set(&self, is_over_tls: bool) -> String {
        let Self { tenant, secret } = self;
        format!("{}={tenant}.{}{}", name_of(is_over_tls), secret.encode(), attributes(is_over_tls))
    }

    /// Returns the header that removes the session from the browser.
    pub(crate) fn clear(is_over_tls: bool) -> String {
        format!("{}={}; Max-Age=0", name_of(is_over_tls), attributes(is_over_tls))
    }
}

fn name_of(is_over_tls: bool) -> &'static str {
    if is_over_tls { OVER_TLS } else { ON_LOOPBACK }
}

fn attributes(is_over_tls: bool) -> &'static str {
    // The prefix `__Host-` requires the path `/`.
    if is_over_tls { "; Path=/; Secure; HttpOnly; SameSite=Lax" } else { "; Path=/; HttpOnly; SameSite=Lax" }
}
