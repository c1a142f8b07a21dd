//! Bearer credentials: tokens of a tenant's issuers, API keys, and secrets sealed at rest. No database in this room:
//! issuers come in as values, verified claims go out.

pub mod api_key;
mod claims;
mod fetch;
mod guard;
mod issuer;
mod jwks;
mod jwt;
mod kept;
mod keyset;
mod mint;
mod refusal;
mod seal;
#[cfg(test)]
mod tests;
mod webhook;

pub use claims::Claims;
pub use fetch::guarded_client;
pub use guard::{PublicOnly, check_url, is_public, read_url};
pub use issuer::{Issuer, IssuerKeys};
pub use jwks::JwksCache;
pub(crate) use jwt::verify_at;
pub use jwt::{MAX_TOKEN, MIN_SECRET, Peeked, peek, verify};
pub(crate) use kept::{KeptTokens, TokenId};
pub use mint::{NewToken, mint_hs256};
pub use refusal::TokenError;
pub use seal::{SealError, Sealer, Under};
pub use webhook::{new_webhook_secret, sign_webhook};
