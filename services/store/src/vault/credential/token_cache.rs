//! Cache of verified tokens, so that a token is not verified again with each request.
//!
//! An entry is valid while verification would succeed: until the token expires, and while its issuer has the same key.
//! Both are checked with each request, so the cache does not delay revocation.

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::get_current_timestamp;
use knowhow_domain::skills::manifest;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::jwt::{MAX_TOKEN, VerifiedToken, has_ended};
use super::{Claims, Issuer, JwksCache};

/// Approximate capacity in bytes, enough for about 10,000 tokens of average size. Some tenants' tokens are a hundred
/// times larger.
const MOST: u64 = 12 * 1024 * 1024;
/// Time after its last use until an entry is dropped.
const IDLE: Duration = Duration::from_secs(600);

/// Digest of a token and the interface it is used for. The cache stores no credential in plain text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenId([u8; 32]);

impl TokenId {
    /// Returns the id; `None` if the token is too long.
    pub(crate) fn of(token: &str, resource: Option<&str>) -> Option<Self> {
        // A token never contains a NUL, so different pairs have different digests.
        (token.len() <= MAX_TOKEN)
            .then(|| Self(manifest::digest(&[resource.unwrap_or_default(), token].join("\0").into_bytes())))
    }
}

/// A cached token.
pub(crate) struct CachedToken {
    verified_token: VerifiedToken,
    issuer: Arc<Issuer>,
}

impl CachedToken {
    pub(crate) fn claims(&self) -> &Claims {
        &self.verified_token.claims
    }

    /// Returns whether `issuer`, the tenant's current one, would verify the token with the same key.
    pub(crate) async fn is_good_for(&self, issuer: &Issuer, jwks: &JwksCache) -> bool {
        *self.issuer == *issuer && self.verified_token.has_key_of(issuer, jwks).await
    }

    /// Estimates the size of the cache entry in bytes.
    fn weight(&self) -> u32 {
        let Claims { iss, sub, tid, scope, roles, exp: _ } = self.claims();
        // Each allocation has an overhead, even for a short word.
        let of_words = |words: &[String]| words.iter().map(|word| size_of::<String>() + 16 + word.len()).sum::<usize>();
        // The 1,000 bytes are for the entry, the issuer and the key's id.
        let bytes = 1_000 + iss.len() + sub.len() + tid.len() + of_words(scope) + of_words(roles);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The cached tokens of all threads.
pub(crate) struct TokenCache(pub(super) Cache<TokenId, Arc<CachedToken>>);

impl Default for TokenCache {
    fn default() -> Self {
        let weigh = |_: &TokenId, token: &Arc<CachedToken>| token.weight();
        // moka's default policy admits entries by frequency, so tokens of new clients would not enter the cache.
        let lru = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(MOST).weigher(weigh).eviction_policy(lru).time_to_idle(IDLE).build())
    }
}

impl TokenCache {
    /// Returns a cached token unless it has expired.
    pub(crate) fn get(&self, id: TokenId) -> Option<Arc<CachedToken>> {
        let cached = self.0.get(&id)?;
        if has_ended(cached.claims(), get_current_timestamp()) {
            self.0.invalidate(&id);
            return None;
        }
        Some(cached)
    }

    /// Caches a token that `issuer` has verified.
    pub(crate) fn keep(&self, id: TokenId, verified_token: VerifiedToken, issuer: &Arc<Issuer>) {
        self.0.insert(id, Arc::new(CachedToken { verified_token, issuer: issuer.clone() }));
    }
}
