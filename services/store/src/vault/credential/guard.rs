//! Protects the internal network against requests to tenants' URLs (SSRF). A URL is checked when it is parsed, and
//! its addresses are checked when its name is resolved. So every address connected to has been checked, even if DNS
//! changes.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

const PORTS: [u16; 2] = [443, 8443];
const MAX_URL: usize = 2048;
const LOCAL_SUFFIXES: [&str; 5] = [".localhost", ".local", ".internal", ".localdomain", ".home.arpa"];

/// Parses a URL for registration. Rejects URLs that the parser would have to correct (a backslash, a blank, a line
/// end), because another program may read another host in them. Callers must fetch the returned URL, never the text.
///
/// # Errors
/// A message about the error, for the person who registers the URL.
pub fn read_url(text: &str, private_network: bool) -> Result<Url, String> {
    if text.len() > MAX_URL {
        return Err(format!("must have at most {MAX_URL} characters"));
    }
    let mended = Cell::new(None);
    let note = |violation| mended.set(Some(violation));
    let parsed = Url::options().syntax_violation_callback(Some(&note)).parse(text);
    let url = parsed.map_err(|error| format!("must be a URL: {error}"))?;
    check_url(&url, private_network)?;
    match mended.get() {
        Some(violation) => Err(format!("must be a valid URL that needs no correction: {violation}")),
        None => Ok(url),
    }
}

/// Checks that a URL may be fetched: HTTPS on port 443 or 8443 of a public host, without user name and password. With
/// `private_network` (a URL of the deployment, not of a tenant), HTTP, any port and private hosts are allowed too.
///
/// # Errors
/// A message about the error, for the person who registers the URL.
pub fn check_url(url: &Url, private_network: bool) -> Result<(), String> {
    if url.as_str().len() > MAX_URL {
        return Err(format!("must have at most {MAX_URL} characters"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or password".to_owned());
    }
    let Some(host) = url.host() else { return Err("must name a host".to_owned()) };
    match (url.scheme(), private_network) {
        ("https", _) | ("http", true) => {}
        (_, true) => return Err("must be an http or https URL".to_owned()),
        (_, false) => return Err("must be an https URL".to_owned()),
    }
    if private_network {
        return Ok(());
    }
    if !url.port_or_known_default().is_some_and(|port| PORTS.contains(&port)) {
        return Err("must be on port 443 or 8443".to_owned());
    }
    let public = match host {
        Host::Domain(name) => names_public_host(name),
        Host::Ipv4(ip) => is_public(ip.into()),
        Host::Ipv6(ip) => is_public(ip.into()),
    };
    if public { Ok(()) } else { Err("must be on a public host".to_owned()) }
}

fn names_public_host(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name.contains('.') && !LOCAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Returns whether an address belongs to the public internet. Addresses in the IANA special-purpose registries (RFC
/// 6890 and its updates) do not belong to it. Neither do IPv6 addresses that embed such an IPv4 address: mapped,
/// compatible, 6to4, Teredo, NAT64.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !matches!(
        ip.octets(),
        [0 | 10 | 127, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [192, 168, ..]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            | [224..=255, ..]
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        [0x2001, 0..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x2002, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Global unicast is exactly 2000::/3: loopback, mapped, NAT64, unique local, link-local and multicast are
        // outside.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// A DNS resolver that returns only public addresses. Numeric addresses never reach a resolver; [`check_url`] rejects
/// private ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "no public address").into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
