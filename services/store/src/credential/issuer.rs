//! Who may sign tokens for a tenant, and with what.

use std::fmt;

use knowhow_domain::Algorithm;
use url::Url;

/// An issuer that a tenant trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// The exact `iss` claim of its tokens (RFC 7519, 4.1.1).
    pub iss: String,
    /// What must be among the token's `aud` (RFC 7519, 4.1.3).
    pub audience: String,
    /// Where its verification keys come from.
    pub keys: IssuerKeys,
}

/// An issuer's verification keys, with the one algorithm they are for.
#[derive(Clone, PartialEq, Eq)]
pub enum IssuerKeys {
    /// A shared secret of at least 32 bytes: HMAC with SHA-256.
    Hs256 {
        /// The raw secret.
        secret: Vec<u8>,
    },
    /// A published JWK Set (RFC 7517).
    Jwks {
        /// Where it is published; see [`check_url`](super::check_url).
        url: Url,
        /// The one algorithm accepted, whatever a token's header says (RFC 8725, 3.1).
        algorithm: Algorithm,
        /// The deployment, not a tenant, gave this URL: plain HTTP and private addresses are fine.
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
