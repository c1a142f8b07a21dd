//! The address that a request comes from. Behind a proxy the peer is the proxy: it says in `X-Forwarded-For` for whom it asks.
//! Anybody can write that header, so it counts only as far as proxies have written it that the deployment trusts.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use anyhow::{Context, Result, bail};
use ipnet::IpNet;

use super::Shared;

/// The networks of the proxies that are believed.
#[derive(Debug, Default)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Networks such as `10.0.0.0/8`, and single addresses, separated by commas.
    ///
    /// # Errors
    /// For what is neither, and for a network of all addresses: behind it everybody could write who they are.
    pub fn parse(setting: &str) -> Result<Self> {
        let networks = setting.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| {
            let network = match part.parse::<IpAddr>() {
                Ok(address) => IpNet::from(address.to_canonical()),
                Err(_) => part.parse().with_context(|| {
                    format!("KNOWHOW_TRUSTED_PROXIES: '{part}' is no network such as 10.0.0.0/8 and no address")
                })?,
            };
            if network.prefix_len() == 0 {
                bail!("KNOWHOW_TRUSTED_PROXIES: '{part}' holds all addresses, so anybody could say to be anybody");
            }
            Ok(network)
        });
        networks.collect::<Result<_>>().map(Self)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The last address on the way that no trusted proxy has. Where a trusted proxy names nobody, it is the proxy itself.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.trusts(client) {
            return client;
        }
        let all: Vec<&str> = headers.get_all("x-forwarded-for").filter_map(|value| value.to_str().ok()).collect();
        for said in all.iter().rev().flat_map(|value| value.rsplit(',')) {
            // What a client has written before the proxy may be anything.
            let Some(address) = read_address(said.trim()) else { break };
            client = address;
            if !self.trusts(client) {
                break;
            }
        }
        client
    }
}

/// An address, as some proxies write it with the port.
fn read_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

/// The address that a request comes from.
pub fn client_of(request: &ServiceRequest) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip();
    let client = match request.app_data::<Data<Shared>>() {
        Some(shared) => shared.proxies.client(peer, request.headers()),
        None => peer,
    };
    request.extensions_mut().insert(Client(client));
    Some(client)
}

/// What [`client_of`] has found, as the request carries it.
struct Client(IpAddr);

/// Whom the address of a request counts as. One who has an IPv6 address mostly has all 2^64 of its network.
pub(super) fn counted_address(request: &HttpRequest) -> Option<IpAddr> {
    match request.extensions().get::<Client>()?.0 {
        IpAddr::V6(v6) => Some(Ipv6Addr::from(u128::from(v6) & !u128::from(u64::MAX)).into()),
        v4 => Some(v4),
    }
}

#[cfg(test)]
mod tests;
