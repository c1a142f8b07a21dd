//! Verifying a JSON Web Token: the issuer decides algorithm, key, audience and name; the token's header decides
//! nothing.

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
    verify_for(token, issuer, None, jwks).await
}

/// The same for a face of the service that tokens may name as their audience by its own URI (RFC 8707, 2).
///
/// # Errors
/// As [`verify`].
pub async fn verify_for(
    token: &str,
    issuer: &Issuer,
    resource: Option<&str>,
    jwks: &JwksCache,
) -> Result<Claims, TokenError> {
    let (header, _) = split(token)?;
    let header = part::<Header>(header)?.check()?;
    let claims = match &issuer.keys {
        IssuerKeys::Hs256 { secret } => {
            header.signed_with("HS256")?;
            if secret.len() < MIN_SECRET {
                return Err(TokenError::WeakSecret);
            }
            decode(token, &DecodingKey::from_secret(secret), &rules(issuer, resource, Algorithm::HS256))?
        }
        IssuerKeys::Jwks { url, algorithm, private_network } => {
            header.signed_with(algorithm.as_str())?;
            let source = Source { url: url.clone(), algorithm: *algorithm, private_network: *private_network };
            let key = jwks.key(source, header.kid.as_deref()).await?;
            decode(token, &key, &rules(issuer, resource, *algorithm))?
        }
    };
    if claims.iss == issuer.iss { Ok(claims) } else { Err(TokenError::Issuer) }
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

fn rules(issuer: &Issuer, resource: Option<&str>, algorithm: Algorithm) -> Validation {
    let mut rules = Validation::new(of_library(algorithm));
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    rules.set_issuer(&[&issuer.iss]);
    let audiences: Vec<&str> = [issuer.audience.as_str()].into_iter().chain(resource).collect();
    rules.set_audience(&audiences);
    rules.validate_nbf = true;
    rules.leeway = LEEWAY;
    rules
}

fn decode(token: &str, key: &DecodingKey, rules: &Validation) -> Result<Claims, TokenError> {
    jsonwebtoken::decode::<RawClaims>(token, key, rules)?.claims.check()
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
