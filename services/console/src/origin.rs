//! Origin of a request: over TLS or loopback, and sent by a page of the console itself.

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use knowhow_domain::{Error, Result};
use url::{Host, Url};

/// The address of the service in a browser.
#[derive(Debug, Clone)]
pub struct Address {
    /// True if browsers connect over TLS, to the service itself or to a proxy in front of it.
    pub is_over_tls: bool,
}

impl Address {
    /// Reads the address from the public URL and from whether the service itself has a certificate.
    pub fn of(public_url: &str, has_certificate: bool) -> Self {
        Self { is_over_tls: has_certificate || public_url.to_ascii_lowercase().starts_with("https://") }
    }

    /// Returns whether a session may be used: over TLS, or on loopback.
    pub(crate) fn is_safe(&self, request: &HttpRequest) -> bool {
        self.is_over_tls || host(request.headers()).is_some_and(is_loopback)
    }
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

fn is_loopback(host: &str) -> bool {
    // A user name or a path before an address would make it look like the host.
    if host.contains(['@', '/', '?', '#', '\\']) {
        return false;
    }
    let parsed = Url::parse(&format!("http://{host}"));
    match parsed.as_ref().ok().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Rejects a form that a page of another origin sent. Browsers name the origin in `Sec-Fetch-Site` or in `Origin`.
///
/// # Errors
/// `Denied` for another origin, and for a request without an origin.
pub fn check(request: &HttpRequest) -> Result<()> {
    let headers = request.headers();
    let is_own = match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => {
            let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
            let named = origin.and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
            named.is_some() && named == host(headers)
        }
    };
    if is_own {
        Ok(())
    } else {
        Err(Error::Denied("this form was not sent by a page of the console; open the page again"))
    }
}

#[cfg(test)]
mod tests;
