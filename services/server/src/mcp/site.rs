//! The URI of the endpoint, the allowed hosts and origins, and the authentication metadata for clients (RFC 9728).

use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use anyhow::{Context, Result, bail};
use http::uri::Authority;
use knowhow_domain::Scope;
use serde::Serialize;
use url::Url;
use utoipa::ToSchema;

use crate::config::Config;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Path of the endpoint below the public URL.
pub const PATH: &str = "/mcp";
/// Path of the endpoint's metadata below the public URL (RFC 9728, 3.1).
pub const METADATA_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// The scopes that tools, prompts and resources require.
pub const SCOPES: [Scope; 4] = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Memories, Scope::Sessions];

/// The addresses of the endpoint, and the allowed hosts and origins.
pub struct Site {
    metadata: ResourceMetadata,
    metadata_url: String,
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

/// OAuth 2.0 protected resource metadata (RFC 9728, 2).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResourceMetadata {
    /// URI of the resource, which a token's `aud` may name.
    #[schema(example = "https://api.example.com/mcp")]
    resource: String,
    /// Issuers that clients can log in at; empty if credentials are issued in another way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    authorization_servers: Vec<String>,
    /// Scopes that MCP clients need.
    scopes_supported: [&'static str; 4],
    /// Ways to send the token.
    bearer_methods_supported: [&'static str; 1],
    /// Display name of the service.
    resource_name: &'static str,
}

impl Site {
    /// Reads the addresses from the settings.
    ///
    /// # Errors
    /// Fails for an invalid URL, host or origin. The error names the setting.
    pub fn of(config: &Config) -> Result<Self> {
        let public = public_url(config)?;
        let base = public.as_str().trim_end_matches('/');
        let metadata = ResourceMetadata {
            resource: format!("{base}{PATH}"),
            authorization_servers: list(&config.authorization_servers).map(str::to_owned).collect(),
            scopes_supported: SCOPES.map(Scope::as_str),
            bearer_methods_supported: ["header"],
            resource_name: "Knowhow",
        };
        for server in &metadata.authorization_servers {
            Url::parse(server).with_context(|| format!("KNOWHOW_AUTHORIZATION_SERVERS: '{server}' is not a URL"))?;
        }
        let own = public.host_str().unwrap_or_default();
        let hosts = LOOPBACK.into_iter().chain([own]).chain(list(&config.allowed_hosts));
        let mut origins = vec![public.origin().ascii_serialization()];
        if LOOPBACK.contains(&own) {
            let port = public.port().map(|p| format!(":{p}")).unwrap_or_default();
            origins.extend(LOOPBACK.map(|host| format!("{}://{host}{port}", public.scheme())));
        }
        for origin in list(&config.allowed_origins) {
            origins.push(read_origin(origin).with_context(|| {
                format!("KNOWHOW_ALLOWED_ORIGINS: '{origin}' is not an origin such as https://app.example.com")
            })?);
        }
        Ok(Self {
            metadata_url: format!("{base}{METADATA_PATH}"),
            metadata,
            hosts: hosts
                .map(|host| {
                    read_host(host)
                        .with_context(|| format!("KNOWHOW_ALLOWED_HOSTS: '{host}' is not a host or host:port"))
                })
                .collect::<Result<_>>()?,
            origins,
        })
    }

    /// Returns the URI of the endpoint. Tokens may name it as their audience (RFC 8707, 2).
    pub fn resource(&self) -> &str {
        &self.metadata.resource
    }

    /// Returns the authentication metadata for clients.
    pub fn metadata(&self) -> &ResourceMetadata {
        &self.metadata
    }

    /// Returns the reason why a request's host or origin is not allowed; `None` if both are allowed. The check
    /// prevents DNS rebinding.
    pub fn refusal(&self, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(HOST);
        let host = hosts.next().and_then(|host| read_host(host.to_str().ok()?));
        let known = |(name, port): &(String, Option<u16>)| {
            self.hosts.iter().any(|(allowed, only)| allowed == name && (only.is_none() || only == port))
        };
        if hosts.next().is_some() || !host.as_ref().is_some_and(known) {
            return Some("this Host is not one of KNOWHOW_ALLOWED_HOSTS");
        }
        let mut origins = headers.get_all(ORIGIN);
        let origin = origins.next()?;
        let origin = origin.to_str().ok().and_then(read_origin);
        let known = origin.is_some_and(|origin| self.origins.contains(&origin)) && origins.next().is_none();
        (!known).then_some("this Origin is not one of KNOWHOW_ALLOWED_ORIGINS")
    }

    /// Returns the `WWW-Authenticate` challenge (RFC 6750, 3) with the URL of the metadata (RFC 9728, 5.1).
    pub fn challenge(&self, error: Option<&str>, scope: &str) -> String {
        let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
        format!("Bearer realm=\"knowhow\", {error}scope=\"{scope}\", resource_metadata=\"{}\"", self.metadata_url)
    }
}

fn public_url(config: &Config) -> Result<Url> {
    let named = match config.public_url.trim() {
        "" => {
            let host = match config.bind.as_str() {
                "0.0.0.0" | "::" => "127.0.0.1".to_owned(),
                v6 if v6.contains(':') => format!("[{v6}]"),
                other => other.to_owned(),
            };
            format!("http://{host}:{}", config.port)
        }
        named => named.to_owned(),
    };
    let url = Url::parse(&named).with_context(|| format!("KNOWHOW_PUBLIC_URL: '{named}' is no URL"))?;
    let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() || !plain {
        bail!("KNOWHOW_PUBLIC_URL must be http(s)://host[:port][/path], is '{named}'");
    }
    Ok(url)
}

fn list(setting: &str) -> impl Iterator<Item = &str> {
    setting.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn read_host(text: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = text.parse().ok()?;
    let bare = !text.contains('@') && !authority.host().is_empty();
    // The text after the colon must be a valid port.
    let port_reads = authority.port_u16().is_some() || authority.as_str() == authority.host();
    (bare && port_reads).then(|| (authority.host().to_ascii_lowercase(), authority.port_u16()))
}

/// Parses an origin in the form that browsers send (RFC 6454, 6.2). The opaque origin `null` cannot be allowed.
fn read_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| url.has_host() && matches!(url.path(), "" | "/"))?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests;
