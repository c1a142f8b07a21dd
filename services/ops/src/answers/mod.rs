//! What this process keeps of users to answer them with: skills that were loaded or saved, lines of the index, rendered, and
//! sessions that take turns. The statement that each request sends tells whether what is kept is still current, and brings the
//! counts, which change without it. So the answer is the one that the database would have given, whichever process changed it last.

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
pub(crate) use index::{KeptIndexes, KeptItem, KeptPage};
pub(crate) use page::ShownItem;
pub use page::SkillPage;
pub(crate) use rendered::Rendered;
pub(crate) use session::KeptSession;
pub(crate) use skill::KeptSkill;

/// How long something is kept that nobody asks for.
const IDLE: Duration = Duration::from_secs(3600);

/// Whose something is. It is a part of every key, so that nothing is shown to anybody else.
type Owner = (TenantId, UserId);

/// What is kept of all users, within a weight. What was not asked for during an hour is let go.
pub(crate) struct KeptAnswers {
    /// Whole skills, by name.
    pub(crate) skills: Remembered<String, KeptSkill>,
    /// Lines of the index.
    pub(crate) indexes: KeptIndexes,
    /// Sessions after their last turns.
    pub(crate) sessions: Remembered<SessionId, KeptSession>,
}

impl KeptAnswers {
    /// Nothing yet, and at most so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            skills: Remembered::new(bytes / 2),
            indexes: KeptIndexes::new(bytes / 8 * 3),
            sessions: Remembered::new(bytes / 8),
        }
    }
}

/// Things of all users, at most so many bytes of them. What nobody has asked for for the longest time makes room, as in
/// [`crate::recall`]'s memory: by how often things were asked for, a newcomer's would not be kept.
fn cache<K, V>(bytes: u64, weight: fn(&V) -> usize) -> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let weigh = move |_: &K, kept: &V| u32::try_from(weight(kept)).unwrap_or(u32::MAX);
    let cache = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE);
    cache.eviction_policy(EvictionPolicy::lru()).build()
}

fn owner_of(ctx: &Ctx) -> Option<Owner> {
    Some((ctx.principal.tenant(), ctx.principal.user().ok()?))
}

#[cfg(test)]
mod tests;
