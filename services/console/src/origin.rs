//! Origin of a request: sent to the service's own address over TLS or on loopback, and by a page of the console itself.

use actix_web::HttpRequest;
use actix_web::http::header::HOST;
use knowhow_domain::{Error, Result};
use url::{Host, Url};

/// The address of the service in a browser.
#[derive(Debug, Clone)]
pub struct Address {
    /// True if browsers connect over TLS, to the service itself or to a proxy in front of it.
    pub is_over_tls: bool,
    /// The public URL, if it is an https URL.
    public_url: Option<Url>,
}

/// Reason why a session must not be used at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnsafeAddress {
    /// The browser would send the cookie without TLS.
    Unencrypted,
    /// The request names another host than the public URL, which is included.
    OtherHost(String),
}

impl Address {
    /// Reads the address from the public URL and from whether the service itself has a certificate.
    pub fn of(public_url: &str, has_certificate: bool) -> Self {
        let public_url = Url::parse(public_url).ok().filter(|url| url.scheme() == "https");
        Self { is_over_tls: has_certificate || public_url.is_some(), public_url }
    }

    /// Checks that a session may be used: at the https public URL, over TLS if there is no such URL, or on loopback.
    pub(crate) fn check(&self, request: &HttpRequest) -> std::result::Result<(), UnsafeAddress> {
        let named = host(request).and_then(parse_host);
        if named.as_ref().and_then(Url::host).is_some_and(is_loopback) {
            return Ok(());
        }
        match &self.public_url {
            Some(public) if named.is_some_and(|named| named.origin() == public.origin()) => Ok(()),
            Some(public) => Err(UnsafeAddress::OtherHost(public.origin().ascii_serialization())),
            None if self.is_over_tls => Ok(()),
            None => Err(UnsafeAddress::Unencrypted),
        }
    }
}

/// Returns the host and port that a request names. HTTP/2 has them in the URI.
fn host(request: &HttpRequest) -> Option<&str> {
    match request.headers().get(HOST) {
        Some(host) => host.to_str().ok(),
        None => request.uri().authority().map(|authority| authority.as_str()),
    }
}

/// Parses a host and port, as the address of an https page.
fn parse_host(host: &str) -> Option<Url> {
    // A user name or a path before an address would make it look like the host.
    if host.contains(['@', '/', '?', '#', '\\']) {
        return None;
    }
    Url::parse(&format!("https://{host}")).ok()
}

fn is_loopback(host: Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Rejects a form that a page of another origin sent. All supported browsers send `Sec-Fetch-Site`. `Origin` is `null`,
/// because the pages send no referrer.
///
/// # Errors
/// `Denied` for another origin, and for a request without an origin.
pub fn check(request: &HttpRequest) -> Result<()> {
    if request.headers().get("sec-fetch-site").is_some_and(|site| site == "same-origin") {
        Ok(())
    } else {
        Err(Error::Denied("this form was not sent by a page of the console; open the page again"))
    }
}

#[cfg(test)]
mod tests;
