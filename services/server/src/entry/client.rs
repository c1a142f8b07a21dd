//! Determines the client address of a request. Behind a proxy, the address is in `X-Forwarded-For`. Clients can forge
//! this header, so only addresses that trusted proxies have added are used.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use anyhow::{Context, Result, bail};
use ipnet::IpNet;

use super::SharedState;

/// Networks of the trusted proxies.
#[derive(Debug, Default)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Parses networks such as `10.0.0.0/8` and single addresses, separated by commas.
    ///
    /// # Errors
    /// Fails for an invalid entry. Also fails for a network that matches every address: any client could then forge
    /// its address.
    pub fn parse(setting: &str) -> Result<Self> {
        let networks = setting.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| {
            let network = match part.parse::<IpAddr>() {
                Ok(address) => IpNet::from(address.to_canonical()),
                Err(_) => part.parse().with_context(|| {
                    format!("KNOWHOW_TRUSTED_PROXIES: '{part}' is neither a network such as 10.0.0.0/8 nor an address")
                })?,
            };
            if network.prefix_len() == 0 {
                bail!("KNOWHOW_TRUSTED_PROXIES: '{part}' matches every address, so any client could forge its IP");
            }
            Ok(network)
        });
        networks.collect::<Result<_>>().map(Self)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the last address in the header that is not a trusted proxy. Without the header, returns the address of
    /// the connection.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.trusts(client) {
            return client;
        }
        let all: Vec<&str> = headers.get_all("x-forwarded-for").filter_map(|value| value.to_str().ok()).collect();
        for hop in all.iter().rev().flat_map(|value| value.rsplit(',')) {
            // An entry that is not an address, and all entries before it, may come from the client and are ignored.
            let Some(address) = read_address(hop.trim()) else { break };
            client = address;
            if !self.trusts(client) {
                break;
            }
        }
        client
    }
}

/// Parses an address, with or without a port, which some proxies append.
fn read_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

/// Determines the client address of a request, and stores it in the request.
pub fn client_of(request: &ServiceRequest) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip();
    let client = match request.app_data::<Data<SharedState>>() {
        Some(shared) => shared.proxies.client(peer, request.headers()),
        None => peer,
    };
    request.extensions_mut().insert(Client(client));
    Some(client)
}

/// The client address that [`client_of`] stored in the request.
struct Client(IpAddr);

/// Returns the address that rate limits count. An IPv6 address is reduced to its /64 network, which usually belongs
/// to one client.
pub(super) fn counted_address(request: &HttpRequest) -> Option<IpAddr> {
    match request.extensions().get::<Client>()?.0 {
        IpAddr::V6(v6) => Some(Ipv6Addr::from(u128::from(v6) & !u128::from(u64::MAX)).into()),
        v4 => Some(v4),
    }
}

#[cfg(test)]
mod tests;
