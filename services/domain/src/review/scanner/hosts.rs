//! Finds addresses in a text and classifies their hosts, without network access.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde::Deserialize;

/// Category of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HostKind {
    /// The machine itself, a private network, or a placeholder.
    Local,
    /// A well-known service.
    Known,
    /// Any other host.
    Unknown,
    /// A bare public IP address, in any notation.
    Address,
    /// A host that imitates another: the address has a user name that looks like a host, or the host name is punycode
    /// or not ASCII.
    Deceptive,
    /// A service for anonymous uploads or downloads.
    Drop,
    /// The host of a mail address, except example hosts.
    Mail,
}

/// The host lists of `rules.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hosts {
    drop: Vec<String>,
    known: Vec<String>,
    #[serde(skip)]
    known_names: HashSet<String>,
    #[serde(skip)]
    drop_names: HashSet<String>,
}

/// An address with a scheme, a bare IP address, a name with a path, or a mail address.
#[expect(clippy::expect_used, reason = "a constant, which every test compiles")]
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)[a-z][a-z0-9+.-]{1,14}://[^\t\n\r "'`<>|)\]}]+|[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,18}|(?-u:\b)(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?-u:\b)|/dev/(?:tcp|udp)/[a-z0-9.-]+|(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,18}/[^\t\n\r "'`<>|)\]}]*"#,
    )
    .expect("the pattern of addresses")
});

/// Example hosts; their mail addresses are placeholders.
const OWN_NAMES: [&str; 6] =
    ["example.com", "example.org", "example.net", "www.example.com", "api.example.com", "your-domain.com"];

impl Hosts {
    /// Builds the look-up tables of known hosts and drop services.
    pub(super) fn indexed(mut self) -> Self {
        self.known_names = self.known.drain(..).collect();
        self.drop_names = self.drop.iter().cloned().collect();
        self
    }

    /// Returns the categories of the hosts in a text, in order.
    pub(super) fn kinds_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = HostKind> + 'a {
        ADDRESS.find_iter(text).map(|address| self.kind_of(address.as_str()))
    }

    /// Checks whether a bare host name, or an IP address, is neither well known nor local.
    pub(super) fn is_foreign(&self, host: &str) -> bool {
        !matches!(self.kind_of_host(host, host), HostKind::Local | HostKind::Known)
    }

    fn kind_of(&self, address: &str) -> HostKind {
        if let Some(host) = address.strip_prefix("/dev/tcp/").or(address.strip_prefix("/dev/udp/")) {
            return self.kind_of_host(host, address);
        }
        let Some((_, rest)) = address.split_once("://") else {
            return match address.split_once('@') {
                Some((_, host)) if !address.contains('/') => self.kind_of_mail(host),
                _ => self.kind_of_host(address.split('/').next().unwrap_or_default(), address),
            };
        };
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        // `user:password@host` is ordinary; a user name with a dot imitates a host.
        if user.is_some_and(|user| {
            user.split(':').next().is_some_and(|name| name.contains('.') && !name.contains(['$', '{']))
        }) {
            return HostKind::Deceptive;
        }
        self.kind_of_host(host, rest)
    }

    fn kind_of_mail(&self, host: &str) -> HostKind {
        if OWN_NAMES.contains(&host.to_ascii_lowercase().as_str()) { HostKind::Local } else { HostKind::Mail }
    }

    fn kind_of_host(&self, host: &str, address: &str) -> HostKind {
        let decoded = percent_decode_str(host).decode_utf8_lossy().to_ascii_lowercase();
        let name =
            if decoded.starts_with('[') { decoded.as_str() } else { decoded.split(':').next().unwrap_or_default() };
        let name = name.trim_end_matches(['.', ',', ';', '*', '_']);
        if name.is_empty() || name.contains(['$', '{', '<', '%', '*']) || name.starts_with("your") {
            return HostKind::Local;
        }
        if let Some(ip) = ip_of(name) {
            return if is_public(&ip) { HostKind::Address } else { HostKind::Local };
        }
        if is_local(name) {
            return HostKind::Local;
        }
        if self.is_drop(name, address) {
            return HostKind::Drop;
        }
        if name.split('.').any(|label| label.starts_with("xn--")) || !name.is_ascii() {
            return HostKind::Deceptive;
        }
        if suffixes(name).any(|suffix| self.known_names.contains(suffix)) && !is_stand_in(name) {
            return HostKind::Known;
        }
        HostKind::Unknown
    }

    /// Checks whether a host is a drop service. Some hosts are drop services only at certain paths, e.g. the webhooks
    /// of a chat.
    fn is_drop(&self, name: &str, address: &str) -> bool {
        suffixes(name).any(|suffix| self.drop_names.contains(suffix))
            || self.drop.iter().any(|drop| drop.contains('/') && address.to_ascii_lowercase().contains(drop.as_str()))
    }
}

/// Returns a name and its suffix after each dot.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.split_once('.').map(|(_, rest)| rest))
}

/// Checks whether a name below `example.com`, such as `collect.example.com`, stands for a particular host. Common
/// placeholders such as `api.example.com` stand for no host.
fn is_stand_in(name: &str) -> bool {
    let is_example = ["example.com", "example.org", "example.net"].iter().any(|own| name.ends_with(own));
    let label = name.split('.').next().unwrap_or_default();
    is_example && !["example", "www", "api", "app", "docs", "blog", "shop", "my", "your"].contains(&label)
}

fn is_local(name: &str) -> bool {
    const ENDS: [&str; 6] = [".local", ".localhost", ".internal", ".lan", ".home.arpa", ".svc"];
    name == "localhost" || !name.contains('.') || ENDS.iter().any(|end| name.ends_with(end))
}

/// Parses an IP address as browsers and tools do: dotted, a single number, hexadecimal or octal.
fn ip_of(name: &str) -> Option<IpAddr> {
    if let Some(inner) = name.strip_prefix('[') {
        return inner.split(']').next()?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    if let Ok(ip) = name.parse::<Ipv4Addr>() {
        return Some(IpAddr::V4(ip));
    }
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8).ok(),
        None => part.parse::<u32>().ok(),
    };
    let parts: Vec<u32> = name.split('.').map(number).collect::<Option<_>>()?;
    match parts[..] {
        [whole] if whole > 0x00ff_ffff => Some(IpAddr::V4(Ipv4Addr::from(whole))),
        [a, b, c, d] if [a, b, c, d].iter().all(|part| *part < 256) => {
            Some(IpAddr::V4(Ipv4Addr::from((a << 24) | (b << 16) | (c << 8) | d)))
        }
        _ => None,
    }
}

fn is_public(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let is_local =
                ip.is_private() || ip.is_loopback() || ip.is_unspecified() || ip.is_link_local() || ip.is_broadcast();
            !is_local && !WELL_KNOWN.contains(&ip.octets()) && ip.octets()[0] != 0
        }
        IpAddr::V6(ip) => !(ip.is_loopback() || ip.is_unspecified() || (ip.segments()[0] & 0xfe00) == 0xfc00),
    }
}

/// Addresses of public DNS servers. They are not reported as public addresses, because scripts often use them to test
/// network access.
const WELL_KNOWN: [[u8; 4]; 5] = [[1, 1, 1, 1], [1, 0, 0, 1], [8, 8, 8, 8], [8, 8, 4, 4], [9, 9, 9, 9]];

#[cfg(test)]
mod tests;
