//! Sessions as they were after the last turn that this process took: the next turn goes by that, and reads nothing.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{SessionId, SkillId};
use knowhow_store::sessions::TurnState;
use moka::sync::Cache;

use super::{Owner, owner_of};
use crate::Ctx;

/// How long a session is kept that takes no turn.
const IDLE: Duration = Duration::from_secs(3600);

/// How long a session is not kept that has taken turns elsewhere: where its turns go to two processes, each would write in
/// vain first.
const MOVED: Duration = Duration::from_secs(60);

/// Most sessions that are noted as changed elsewhere.
const MOST_MOVED: u64 = 10_000;

type Key = (Owner, SessionId);

/// A session after a turn.
pub(crate) struct KeptSession {
    pub(crate) state: TurnState,
    /// The key of that turn.
    pub(crate) turn_key: Option<String>,
}

/// The kept sessions of users. By itself a state decides nothing: the statement that writes a turn checks that it is still so.
pub(crate) struct KeptSessions {
    kept: Cache<Key, Arc<KeptSession>>,
    moved: Cache<Key, ()>,
}

impl KeptSessions {
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &Key, kept: &Arc<KeptSession>| weight(kept);
        Self {
            kept: Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE).build(),
            moved: Cache::builder().max_capacity(MOST_MOVED).time_to_live(MOVED).build(),
        }
    }

    /// The caller's session as it was after its last turn here.
    pub(crate) fn find(&self, ctx: &Ctx, session: SessionId) -> Option<Arc<KeptSession>> {
        self.kept.get(&key(ctx, session)?)
    }

    /// Keeps a session of the caller's that has just taken a turn, unless it was found changed elsewhere a moment ago.
    pub(crate) fn keep(&self, ctx: &Ctx, session: SessionId, kept: KeptSession) {
        if let Some(key) = key(ctx, session).filter(|key| !self.moved.contains_key(key)) {
            self.kept.insert(key, Arc::new(kept));
        }
    }

    /// Lets go of a session that is changed otherwise.
    pub(crate) fn forget(&self, ctx: &Ctx, session: SessionId) {
        if let Some(key) = key(ctx, session) {
            self.kept.invalidate(&key);
        }
    }

    /// Notes that a session was found to have taken turns elsewhere.
    pub(crate) fn note_moved(&self, ctx: &Ctx, session: SessionId) {
        if let Some(key) = key(ctx, session) {
            self.kept.invalidate(&key);
            self.moved.insert(key, ());
        }
    }
}

/// Bytes that a state takes, roughly; what of its snapshot is left out are three numbers.
fn weight(kept: &KeptSession) -> u32 {
    let shown = (kept.state.listed.len() + kept.state.injected.len()) * size_of::<SkillId>();
    let key = kept.turn_key.as_ref().map_or(0, String::len);
    u32::try_from(1_000 + size_of::<KeptSession>() + shown + key).unwrap_or(u32::MAX)
}

fn key(ctx: &Ctx, session: SessionId) -> Option<Key> {
    Some((owner_of(ctx)?, session))
}
