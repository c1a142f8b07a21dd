//! Mints tokens with a shared secret, for development and small installations.

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use knowhow_domain::{Error, Result};
use serde_json::json;

use super::MIN_SECRET;

/// Claims of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub iss: String,
    /// The user's external id.
    pub sub: String,
    pub tid: String,
    pub aud: String,
    pub scope: Vec<String>,
    pub roles: Vec<String>,
    /// Lifetime of the token.
    pub ttl: TimeDelta,
    /// Time at which the lifetime starts.
    pub now: DateTime<Utc>,
}

/// Signs a token with HS256.
///
/// # Errors
/// `Invalid` for a secret under 32 bytes, `Internal` if signing fails.
pub fn mint_hs256(secret: &[u8], token: &NewToken) -> Result<String> {
    if secret.len() < MIN_SECRET {
        return Err(Error::invalid("/secret", format!("must have at least {MIN_SECRET} bytes, has {}", secret.len())));
    }
    let claims = json!({
        "iss": token.iss,
        "sub": token.sub,
        "tid": token.tid,
        "aud": token.aud,
        "scope": token.scope.join(" "),
        "roles": token.roles,
        "iat": token.now.timestamp(),
        "nbf": token.now.timestamp(),
        "exp": (token.now + token.ttl).timestamp(),
    });
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(secret))
        .map_err(Error::internal)
}
