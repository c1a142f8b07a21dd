//! Reasons for rejecting a token. The messages are safe to show to the client.

use jsonwebtoken::errors::ErrorKind;
use knowhow_domain::Error;

/// Reason for rejecting a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is not a signed JWT within the size limit.
    #[error("the token is malformed")]
    Malformed,
    /// A claim is absent, has another type, or is out of bounds.
    #[error("the token's '{0}' claim is missing or invalid")]
    Claim(&'static str),
    /// The algorithm in the header is not the issuer's.
    #[error("the token's algorithm is not the one its issuer signs with")]
    Algorithm,
    /// The signature does not match the issuer's key.
    #[error("the token's signature is invalid")]
    Signature,
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// The token is from another issuer.
    #[error("the token was issued by another issuer")]
    Issuer,
    /// The token is for another audience.
    #[error("the token is for another audience")]
    Audience,
    /// The issuer does not publish this key.
    #[error("the token's key is unknown to its issuer")]
    UnknownKey,
    /// The issuer's secret is too short to verify any token.
    #[error("the issuer's secret is too short")]
    WeakSecret,
    /// The issuer's keys could not be fetched. This is the only error that the token does not cause.
    #[error("the issuer's keys are unreachable")]
    Unavailable,
}

impl From<TokenError> for Error {
    fn from(refusal: TokenError) -> Self {
        match refusal {
            TokenError::Unavailable => Self::Unavailable(refusal.to_string()),
            _ => Self::Unauthenticated(refusal.to_string()),
        }
    }
}

impl From<jsonwebtoken::errors::Error> for TokenError {
    fn from(error: jsonwebtoken::errors::Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::NotYetValid,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::InvalidAlgorithm => Self::Algorithm,
            ErrorKind::MissingRequiredClaim(name) | ErrorKind::InvalidClaimFormat(name) => {
                Self::Claim(registered(name))
            }
            _ => Self::Malformed,
        }
    }
}

fn registered(name: &str) -> &'static str {
    ["exp", "nbf", "aud", "iss", "sub"].into_iter().find(|known| *known == name).unwrap_or("registered")
}
