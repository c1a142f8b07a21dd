//! Tokens that were verified a moment ago: the same bytes are not verified again with each request.
//!
//! A kept token is good for as long as it would verify: until it ends, and while its issuer has the very key that verified
//! it. Both are looked at with each request, so what is revoked ends no later than without this.

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::get_current_timestamp;
use knowhow_domain::manifest;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::jwt::{MAX_TOKEN, Verified, has_ended};
use super::{Claims, Issuer, JwksCache};

/// Bytes of memory that they take at most, roughly: enough for some 10,000 of the usual ones. A tenant may sign tokens that
/// say a hundred times as much.
const MOST: u64 = 12 * 1024 * 1024;
/// A token that was not sent for this long is let go.
const IDLE: Duration = Duration::from_secs(600);

/// Which token, and at which face it was sent. A digest, so that no credential lies in memory for longer than its request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenId([u8; 32]);

impl TokenId {
    /// `None` for a token that is too long to be one.
    pub(crate) fn of(token: &str, resource: Option<&str>) -> Option<Self> {
        // No part of a token holds a NUL, so no face and token are taken for others.
        (token.len() <= MAX_TOKEN)
            .then(|| Self(manifest::digest(&[resource.unwrap_or_default(), token].join("\0").into_bytes())))
    }
}

/// A token that was verified.
pub(crate) struct KeptToken {
    verified: Verified,
    issuer: Arc<Issuer>,
}

impl KeptToken {
    pub(crate) fn claims(&self) -> &Claims {
        &self.verified.claims
    }

    /// Whether `issuer`, as its tenant has it now, would verify it with the same key.
    pub(crate) async fn is_good_for(&self, issuer: &Issuer, jwks: &JwksCache) -> bool {
        *self.issuer == *issuer && self.verified.has_key_of(issuer, jwks).await
    }

    /// Bytes that it takes with its place among the others, roughly.
    fn weight(&self) -> u32 {
        let Claims { iss, sub, tid, scope, roles, exp: _ } = self.claims();
        // An allocation takes some bytes however short the word.
        let of_words = |words: &[String]| words.iter().map(|word| size_of::<String>() + 16 + word.len()).sum::<usize>();
        // Its place, its issuer, and the key's id.
        let bytes = 1_000 + iss.len() + sub.len() + tid.len() + of_words(scope) + of_words(roles);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The tokens of all threads.
pub(crate) struct KeptTokens(pub(super) Cache<TokenId, Arc<KeptToken>>);

impl Default for KeptTokens {
    fn default() -> Self {
        let weigh = |_: &TokenId, token: &Arc<KeptToken>| token.weight();
        // By how often tokens came, moka would not keep a newcomer's beside those that came more often.
        let lru = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(MOST).weigher(weigh).eviction_policy(lru).time_to_idle(IDLE).build())
    }
}

impl KeptTokens {
    /// The token, unless it has ended or was never verified.
    pub(crate) fn get(&self, id: TokenId) -> Option<Arc<KeptToken>> {
        let kept = self.0.get(&id)?;
        if has_ended(kept.claims(), get_current_timestamp()) {
            self.0.invalidate(&id);
            return None;
        }
        Some(kept)
    }

    /// Keeps a token that `issuer` has verified.
    pub(crate) fn keep(&self, id: TokenId, verified: Verified, issuer: &Arc<Issuer>) {
        self.0.insert(id, Arc::new(KeptToken { verified, issuer: issuer.clone() }));
    }
}
