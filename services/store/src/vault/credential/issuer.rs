//! Issuers trusted by a tenant, and their keys.

use std::fmt;

use knowhow_domain::{Algorithm, IssuerId};
use url::Url;

/// An issuer that a tenant trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// The id of its row; the nil id for an issuer without one.
    pub id: IssuerId,
    /// The exact `iss` claim of the issuer's tokens (RFC 7519, 4.1.1).
    pub iss: String,
    /// Required member of the token's `aud` (RFC 7519, 4.1.3).
    pub audience: String,
    /// Source of the keys that verify tokens.
    pub keys: IssuerKeys,
}

/// The deployment's own issuer. Its tokens may have the role `operator`.
#[derive(Clone)]
pub struct OperatorIssuer {
    /// The `iss` claim of the issuer's tokens.
    pub iss: String,
    /// HS256 secret, at least 32 bytes.
    pub secret: Vec<u8>,
}

/// An issuer's verification keys and their algorithm.
#[derive(Clone, PartialEq, Eq)]
pub enum IssuerKeys {
    /// A shared secret of at least 32 bytes: HMAC with SHA-256.
    Hs256 {
        /// The secret, not encrypted.
        secret: Vec<u8>,
    },
    /// A published JWK Set (RFC 7517).
    Jwks {
        /// URL of the set; see [`check_url`](super::check_url).
        url: Url,
        /// The only accepted algorithm, regardless of a token's header (RFC 8725, 3.1).
        algorithm: Algorithm,
        /// Whether the URL is from the deployment's configuration, not from a tenant. If so, plain HTTP and private
        /// addresses are allowed.
        private_network: bool,
    },
}

impl fmt::Debug for IssuerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hs256 { .. } => f.write_str("Hs256 { secret: [redacted] }"),
            Self::Jwks { url, algorithm, .. } => write!(f, "Jwks {{ url: {url}, algorithm: {algorithm} }}"),
        }
    }
}
