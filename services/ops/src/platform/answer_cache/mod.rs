//! Caches answers for users: loaded and saved skills, rendered items of the index, and sessions. Each request still
//! sends one statement. The statement checks that the cached data is current, and returns the counts, which change
//! more often. The answer therefore equals an answer read from the database, even after changes by other processes.

mod index;
mod page;
mod remembered;
mod rendered;
mod session;
mod skill;

use std::hash::Hash;
use std::time::Duration;

use knowhow_domain::{SessionId, TenantId, UserId};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use self::remembered::Remembered;
use crate::Ctx;
pub(crate) use index::{CachedItem, CachedPage, IndexCache};
pub(crate) use page::ShownItem;
pub use page::SkillPage;
pub(crate) use rendered::Rendered;
pub(crate) use session::CachedSession;
pub(crate) use skill::CachedSkill;

/// Entries are evicted after this time without access.
const IDLE: Duration = Duration::from_secs(3600);

/// The owner of an entry. It is part of every key, so that data never reaches another user.
type CacheOwner = (TenantId, UserId);

/// The caches of all users, with a limit in bytes.
pub(crate) struct AnswerCaches {
    /// Whole skills, by name.
    pub(crate) skills: Remembered<String, CachedSkill>,
    /// Items of the index.
    pub(crate) indexes: IndexCache,
    /// Sessions after their last turns.
    pub(crate) sessions: Remembered<SessionId, CachedSession>,
}

impl AnswerCaches {
    /// Creates empty caches with a total limit in bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            skills: Remembered::new(bytes / 2),
            indexes: IndexCache::new(bytes / 8 * 3),
            sessions: Remembered::new(bytes / 8),
        }
    }
}

/// Creates a cache for all users with a limit in bytes. It evicts the least recently used entries, like
/// [`crate::recall`]'s cache: a policy by frequency would reject the entries of new users.
fn cache<K, V>(bytes: u64, weight: fn(&V) -> usize) -> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let weigh = move |_: &K, value: &V| u32::try_from(weight(value)).unwrap_or(u32::MAX);
    let cache = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE);
    cache.eviction_policy(EvictionPolicy::lru()).build()
}

fn owner_of(ctx: &Ctx) -> Option<CacheOwner> {
    Some((ctx.principal.tenant(), ctx.principal.user().ok()?))
}

#[cfg(test)]
mod tests;
