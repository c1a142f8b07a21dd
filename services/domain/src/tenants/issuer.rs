//! Issuers that sign tokens for a tenant's users.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::IssuerId;

/// Signature algorithm of an issuer, by its registered `alg` name (RFC 7518, 3.1; RFC 8037).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr, Display,
)]
pub enum Algorithm {
    /// A shared secret: HMAC with SHA-256.
    HS256,
    /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 to 8192 bits.
    RS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

impl Algorithm {
    /// Returns the registered `alg` name, as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An issuer, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Issuer {
    /// Id of the issuer, for removing it.
    #[schema(value_type = uuid::Uuid)]
    pub id: IssuerId,
    /// Slug of the tenant.
    #[schema(example = "acme")]
    pub tenant: String,
    /// `iss` of its tokens.
    #[schema(example = "https://login.acme.example")]
    pub iss: String,
    /// `aud` of its tokens.
    #[schema(example = "knowhow")]
    pub audience: String,
    /// Signature algorithm of its tokens.
    pub algorithm: Algorithm,
    /// URL of its public keys.
    pub jwks_url: Option<String>,
    /// Registration time.
    pub created_at: DateTime<Utc>,
}
