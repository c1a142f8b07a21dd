//! Verifies JSON Web Tokens. Algorithm, key, audience and name follow from the issuer, never from the token's header.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::claims::RawClaims;
use super::jwks::KeySource;
use super::{Claims, Issuer, IssuerKeys, JwksCache, TokenError};
use knowhow_domain::Algorithm;

/// Maximum length of a token in bytes.
pub const MAX_TOKEN: usize = 8 * 1024;
/// Minimum length of an HS256 secret in bytes (RFC 7518, 3.2).
pub const MIN_SECRET: usize = 32;
/// Tolerated clock difference in seconds.
const LEEWAY: u64 = 30;
/// Maximum length of a key id (`kid`) in bytes.
const MAX_KID: usize = 256;

/// Claims about a token's origin. **They are not verified** and only used to find the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedClaims {
    /// Issuer that the token claims.
    pub iss: String,
    /// Slug of the tenant that the token claims.
    pub tid: String,
}

/// Reads the origin of a token without verification.
///
/// # Errors
/// `Malformed` or `Claim` if the origin cannot be read.
pub fn peek(token: &str) -> Result<UnverifiedClaims, TokenError> {
    let (_, payload) = split(token)?;
    let (iss, tid) = part::<RawClaims>(payload)?.origin()?;
    Ok(UnverifiedClaims { iss, tid })
}

/// Verifies a token from `issuer` (RFC 7519, 7.2, with the rules of RFC 8725).
///
/// # Errors
/// The reason for the rejection; `Unavailable` if the issuer's keys cannot be fetched within five seconds.
pub async fn verify(token: &str, issuer: &Issuer, jwks: &JwksCache) -> Result<Claims, TokenError> {
    verify_at(None, token, issuer, jwks).await.map(|verified_token| verified_token.claims)
}

/// A verified token, with the key that verified it.
pub(crate) struct VerifiedToken {
    pub(crate) claims: Claims,
    /// Key id and published key that verified the token; `None` if the issuer has a shared secret.
    key: Option<(Option<String>, Arc<DecodingKey>)>,
}

impl VerifiedToken {
    /// Returns whether the issuer still publishes the key that verified the token.
    pub(super) async fn has_key_of(&self, issuer: &Issuer, jwks: &JwksCache) -> bool {
        match (&self.key, source(issuer)) {
            (None, None) => true,
            (Some((kid, verified_token)), Some(source)) => {
                jwks.key(source, kid.as_deref()).await.is_ok_and(|key| Arc::ptr_eq(&key, verified_token))
            }
            _ => false,
        }
    }
}

/// Verifies a token for an interface of the service. `resource` is the URI of the interface, which tokens may have as
/// audience (RFC 8707, 2).
///
/// # Errors
/// As [`verify`].
pub(crate) async fn verify_at(
    resource: Option<&str>,
    token: &str,
    issuer: &Issuer,
    jwks: &JwksCache,
) -> Result<VerifiedToken, TokenError> {
    let (header, _) = split(token)?;
    let header = part::<Header>(header)?.check()?;
    let accepted = Accepted { issuer, resource };
    match &issuer.keys {
        IssuerKeys::Hs256 { secret } => {
            header.signed_with("HS256")?;
            if secret.len() < MIN_SECRET {
                return Err(TokenError::WeakSecret);
            }
            let key = DecodingKey::from_secret(secret);
            let claims = accepted.decode(token, &key, jsonwebtoken::Algorithm::HS256)?;
            Ok(VerifiedToken { claims, key: None })
        }
        IssuerKeys::Jwks { url, algorithm, private_network } => {
            header.signed_with(algorithm.as_str())?;
            let source = KeySource { url: url.clone(), algorithm: *algorithm, private_network: *private_network };
            let key = jwks.key(source, header.kid.as_deref()).await?;
            let claims = accepted.decode(token, &key, of_library(*algorithm))?;
            Ok(VerifiedToken { claims, key: Some((header.kid, key)) })
        }
    }
}

/// Returns whether a token with these claims has expired at `now`, in seconds since 1970-01-01 UTC.
pub(super) fn has_ended(claims: &Claims, now: u64) -> bool {
    claims.exp < now.saturating_sub(LEEWAY)
}

fn source(issuer: &Issuer) -> Option<KeySource> {
    match &issuer.keys {
        IssuerKeys::Hs256 { .. } => None,
        IssuerKeys::Jwks { url, algorithm, private_network } => {
            Some(KeySource { url: url.clone(), algorithm: *algorithm, private_network: *private_network })
        }
    }
}

fn of_library(algorithm: Algorithm) -> jsonwebtoken::Algorithm {
    match algorithm {
        Algorithm::HS256 => jsonwebtoken::Algorithm::HS256,
        Algorithm::RS256 => jsonwebtoken::Algorithm::RS256,
        Algorithm::ES256 => jsonwebtoken::Algorithm::ES256,
        Algorithm::EdDSA => jsonwebtoken::Algorithm::EdDSA,
    }
}

/// Relevant members of a JOSE header (RFC 7515, 4.1). `jku`, `jwk`, `x5u` and `x5c` are not read. With them, a token
/// could name the key that verifies it.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<IgnoredAny>,
}

impl Header {
    fn check(self) -> Result<Self, TokenError> {
        // RFC 7515, 4.1.11: an unknown critical extension rejects the token.
        if self.crit.is_some() || self.kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return Err(TokenError::Malformed);
        }
        Ok(self)
    }

    fn signed_with(&self, algorithm: &str) -> Result<(), TokenError> {
        if self.alg == algorithm { Ok(()) } else { Err(TokenError::Algorithm) }
    }
}

/// Accepted issuer, and an accepted audience in addition to the issuer's own.
struct Accepted<'a> {
    issuer: &'a Issuer,
    resource: Option<&'a str>,
}

impl Accepted<'_> {
    fn decode(&self, token: &str, key: &DecodingKey, algorithm: jsonwebtoken::Algorithm) -> Result<Claims, TokenError> {
        let mut rules = Validation::new(algorithm);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        rules.set_issuer(&[&self.issuer.iss]);
        let audiences: Vec<&str> = [self.issuer.audience.as_str()].into_iter().chain(self.resource).collect();
        rules.set_audience(&audiences);
        rules.validate_nbf = true;
        rules.leeway = LEEWAY;
        let claims = jsonwebtoken::decode::<RawClaims>(token, key, &rules)?.claims.check()?;
        if claims.iss == self.issuer.iss { Ok(claims) } else { Err(TokenError::Issuer) }
    }
}

/// Splits a compact JWS within the size limit (RFC 7515, 7.1). Returns header and payload, still encoded.
fn split(token: &str) -> Result<(&str, &str), TokenError> {
    if token.len() > MAX_TOKEN {
        return Err(TokenError::Malformed);
    }
    let mut parts = token.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(header), Some(payload), Some(_), None) => Ok((header, payload)),
        _ => Err(TokenError::Malformed),
    }
}

fn part<T: DeserializeOwned>(encoded: &str) -> Result<T, TokenError> {
    let json = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| TokenError::Malformed)?;
    serde_json::from_slice(&json).map_err(|_| TokenError::Malformed)
}
