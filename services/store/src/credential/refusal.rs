//! Why a token is refused, in words that are safe to tell the one who sent it.

use jsonwebtoken::errors::ErrorKind;
use knowhow_domain::Error;

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not a signed JWT within the size limit.
    #[error("the token is malformed")]
    Malformed,
    /// A claim that is absent, of another type, or outside its bounds.
    #[error("the token's '{0}' claim is missing or not as it must be")]
    Claim(&'static str),
    /// The header names another algorithm than the issuer's.
    #[error("the token's algorithm is not the one its issuer signs with")]
    Algorithm,
    /// The signature does not fit the issuer's key.
    #[error("the token's signature does not verify")]
    Signature,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// Signed for another issuer name.
    #[error("the token is of another issuer")]
    Issuer,
    /// Meant for somebody else.
    #[error("the token is for another audience")]
    Audience,
    /// The issuer publishes no such key.
    #[error("the token's key is unknown to its issuer")]
    UnknownKey,
    /// The issuer is set up in a way that cannot verify anything.
    #[error("the issuer's secret is too short")]
    WeakSecret,
    /// The issuer's keys could not be fetched; the one refusal that is not the caller's doing.
    #[error("the issuer's keys are out of reach")]
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
