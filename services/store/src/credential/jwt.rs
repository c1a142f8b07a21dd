//! Verifying a JSON Web Token: the issuer decides algorithm, key, audience and name; the token's header decides
//! nothing.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::claims::RawClaims;
use super::jwks::Source;
use super::{Claims, Issuer, IssuerKeys, JwksCache, TokenError};
use knowhow_domain::Algorithm;

/// The longest token that is looked at, in bytes.
pub const MAX_TOKEN: usize = 8 * 1024;
/// The shortest HS256 secret that is used, in bytes (RFC 7518, 3.2).
pub const MIN_SECRET: usize = 32;
/// How far clocks may disagree, in seconds.
const LEEWAY: u64 = 30;
const MAX_KID: usize = 256;

/// What a token claims about its origin. **Nothing here is verified**: it only finds the issuer to verify with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peeked {
    /// The issuer it names.
    pub iss: String,
    /// The tenant slug it names.
    pub tid: String,
}

/// Reads the origin of a token without verifying anything.
///
/// # Errors
/// `Malformed` or `Claim` where there is no origin to read.
pub fn peek(token: &str) -> Result<Peeked, TokenError> {
    let (_, payload) = split(token)?;
    let (iss, tid) = part::<RawClaims>(payload)?.origin()?;
    Ok(Peeked { iss, tid })
}

/// Verifies a token of `issuer` (RFC 7519, 7.2, with the rules of RFC 8725).
///
/// # Errors
/// Why it does not count; `Unavailable` where the issuer's keys cannot be had within five seconds.
pub async fn verify(token: &str, issuer: &Issuer, jwks: &JwksCache) -> Result<Claims, TokenError> {
    verify_at(None, token, issuer, jwks).await.map(|verified| verified.claims)
}

/// A token that verified: what it says, and what verified it.
pub(crate) struct Verified {
    pub(crate) claims: Claims,
    /// The published key, by the id that the token has for it; `None` where the issuer has a shared secret.
    key: Option<(Option<String>, Arc<DecodingKey>)>,
}

impl Verified {
    /// Whether the key that verified it is still the issuer's, if that was a published one.
    pub(super) async fn has_key_of(&self, issuer: &Issuer, jwks: &JwksCache) -> bool {
        match (&self.key, source(issuer)) {
            (None, None) => true,
            (Some((kid, verified)), Some(source)) => {
                jwks.key(source, kid.as_deref()).await.is_ok_and(|key| Arc::ptr_eq(&key, verified))
            }
            _ => false,
        }
    }
}

/// The same at a face of the service that tokens may name as their audience by its own URI (RFC 8707, 2), and with what
/// verified it.
///
/// # Errors
/// As [`verify`].
pub(crate) async fn verify_at(
    resource: Option<&str>,
    token: &str,
    issuer: &Issuer,
    jwks: &JwksCache,
) -> Result<Verified, TokenError> {
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
            Ok(Verified { claims, key: None })
        }
        IssuerKeys::Jwks { url, algorithm, private_network } => {
            header.signed_with(algorithm.as_str())?;
            let source = Source { url: url.clone(), algorithm: *algorithm, private_network: *private_network };
            let key = jwks.key(source, header.kid.as_deref()).await?;
            let claims = accepted.decode(token, &key, of_library(*algorithm))?;
            Ok(Verified { claims, key: Some((header.kid, key)) })
        }
    }
}

/// Whether a token with these claims has ended by then, in seconds since 1970-01-01 UTC.
pub(super) fn has_ended(claims: &Claims, now: u64) -> bool {
    claims.exp < now.saturating_sub(LEEWAY)
}

fn source(issuer: &Issuer) -> Option<Source> {
    match &issuer.keys {
        IssuerKeys::Hs256 { .. } => None,
        IssuerKeys::Jwks { url, algorithm, private_network } => {
            Some(Source { url: url.clone(), algorithm: *algorithm, private_network: *private_network })
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

/// What counts of a JOSE header (RFC 7515, 4.1). `jku`, `jwk`, `x5u` and `x5c` would let a token bring its own key:
/// they are not even read.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<IgnoredAny>,
}

impl Header {
    fn check(self) -> Result<Self, TokenError> {
        // RFC 7515, 4.1.11: an extension that is critical and not understood refuses the token.
        if self.crit.is_some() || self.kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return Err(TokenError::Malformed);
        }
        Ok(self)
    }

    fn signed_with(&self, algorithm: &str) -> Result<(), TokenError> {
        if self.alg == algorithm { Ok(()) } else { Err(TokenError::Algorithm) }
    }
}

/// Whose tokens are accepted, and for which audience besides the issuer's own.
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

/// Header and payload, still encoded, of a compact JWS within the size limit (RFC 7515, 7.1).
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
