//! The wall against requests that a tenant's URL would make into our own network. A URL is checked as text, a name
//! where it is resolved: what is connected to is what was checked, whatever DNS says a moment later.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

const PORTS: [u16; 2] = [443, 8443];
const MAX_URL: usize = 2048;
const LOCAL_SUFFIXES: [&str; 5] = [".localhost", ".local", ".internal", ".localdomain", ".home.arpa"];

/// Reads the URL that somebody registers, and takes it only as it is meant: what the parser would have to mend (a backslash,
/// a blank, a line end) another program may read as another host. Callers fetch the URL that is returned, never the
/// text.
///
/// # Errors
/// What is wrong with it, in words for the person who registered it.
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
        Some(violation) => Err(format!("must be a URL as it is sent, without anything to mend: {violation}")),
        None => Ok(url),
    }
}

/// Whether a URL may be fetched: HTTPS on port 443 or 8443 of a public host, no user name, no password. With
/// `private_network` (the deployment gave the URL, not a tenant), HTTP, any port and private hosts too.
///
/// # Errors
/// What is wrong with it, in words for the person who registered it.
pub fn check_url(url: &Url, private_network: bool) -> Result<(), String> {
    if url.as_str().len() > MAX_URL {
        return Err(format!("must have at most {MAX_URL} characters"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not carry a user name or password".to_owned());
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

/// Whether an address is reachable through the public internet and nothing else. Everything of the IANA
/// special-purpose registries (RFC 6890 and its updates) is not, including the forms of IPv6 that carry an IPv4
/// address within: mapped, compatible, 6to4, Teredo, NAT64.
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
        // Global unicast is 2000::/3 and nothing else: loopback, mapped, NAT64, unique local, link-local and
        // multicast all lie outside.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// A resolver that yields public addresses only. Addresses written as numbers never reach a resolver: [`check_url`]
/// refuses those.
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
mod tests {
    use super::*;

    fn checked(url: &str, private_network: bool) -> bool {
        Url::parse(url).is_ok_and(|url| check_url(&url, private_network).is_ok())
    }

    #[test]
    fn public_addresses_pass() {
        for ip in ["1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "192.1.0.1", "2606:4700::1111", "2a00::1"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn special_addresses_are_refused() {
        for ip in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn tenant_urls_are_https_on_public_hosts() {
        assert!(checked("https://id.example.com/jwks", false));
        assert!(checked("https://id.example.com:8443/jwks?x=1", false));
        assert!(checked("https://8.8.8.8/jwks", false));
        for url in [
            "http://id.example.com/jwks",
            "ftp://id.example.com/",
            "file:///etc/passwd",
            "data:text/plain,x",
            "https://u@id.example.com/",
            "https://u:p@id.example.com/",
            "https://:p@id.example.com/",
            "https://id.example.com:22/",
            "https://id.example.com:80/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://metadata.google.internal/",
            "https://printer.local/",
            "https://db/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://169.254.169.254/latest",
            "https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
        ] {
            assert!(!checked(url, false), "{url}");
        }
        assert!(!checked(&format!("https://id.example.com/{}", "a".repeat(2048)), false));
    }

    #[test]
    fn a_url_that_the_parser_would_mend_is_refused() {
        for url in [
            r"https://idp.example\@127.0.0.1/",
            r"https:\\idp.example.com/keys",
            r"https://idp.example.com\keys",
            " https://idp.example.com/keys",
            "https://idp.example.com/ke\nys",
            "https:/idp.example.com/keys",
            "https://idp.example.com/{keys}",
        ] {
            let refused = read_url(url, false).unwrap_err();
            assert!(refused.starts_with("must be"), "{url}: {refused}");
        }
        let url = read_url("https://ID.example.com:443/keys?x=%20", false).unwrap();
        assert_eq!(url.as_str(), "https://id.example.com/keys?x=%20");
    }

    #[test]
    fn deployment_urls_may_be_private() {
        assert!(checked("http://keycloak:8080/certs", true));
        assert!(checked("http://127.0.0.1:1/certs", true));
        assert!(!checked("http://u:p@keycloak/certs", true));
        assert!(!checked("file:///etc/passwd", true));
    }

    #[tokio::test]
    async fn names_that_resolve_to_private_addresses_are_refused() {
        assert!(PublicOnly.resolve("localhost".parse().unwrap()).await.is_err());
    }
}
