//! Who may sign tokens for a tenant, and with what.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Url;

/// An issuer that a tenant trusts.
#[derive(Debug, Clone)]
pub struct Issuer {
    /// The exact `iss` claim of its tokens (RFC 7519, 4.1.1).
    pub iss: String,
    /// What must be among the token's `aud` (RFC 7519, 4.1.3).
    pub audience: String,
    /// Where its verification keys come from.
    pub keys: IssuerKeys,
}

/// An issuer's verification keys, with the one algorithm they are for.
#[derive(Clone)]
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

/// An asymmetric signature algorithm (RFC 7518, 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 to 8192 bits.
    #[serde(rename = "RS256")]
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl Algorithm {
    /// Its registered `alg` name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no [`Algorithm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be RS256, ES256 or EdDSA")]
pub struct UnknownAlgorithm;

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [Self::Rs256, Self::Es256, Self::EdDsa].into_iter().find(|a| a.as_str() == name).ok_or(UnknownAlgorithm)
    }
}
