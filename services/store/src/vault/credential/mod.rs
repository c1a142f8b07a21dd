//! Bearer credentials: tokens from tenants' issuers, API keys, and encrypted secrets. This module does not use the
//! database.

pub mod api_key;
mod claims;
mod fetch;
mod guard;
mod issuer;
mod jwks;
mod jwt;
mod keyset;
mod mint;
mod refusal;
mod seal;
#[cfg(test)]
mod tests;
mod token_cache;
mod webhook;

pub use claims::Claims;
pub use fetch::guarded_client;
pub use guard::{PublicOnly, check_url, is_public, read_url};
pub use issuer::{Issuer, IssuerKeys, OperatorIssuer};
pub use jwks::JwksCache;
pub(crate) use jwt::verify_at;
pub use jwt::{MAX_TOKEN, MIN_SECRET, UnverifiedClaims, peek, verify};
pub use mint::{NewToken, mint_hs256};
pub use refusal::TokenError;
pub use seal::{MasterKeyUse, SealError, Sealer};
pub(crate) use token_cache::{TokenCache, TokenId};
pub use webhook::{new_webhook_secret, sign_webhook};
