//! What this process keeps of users to answer them with: skills that were loaded or saved, lines of the index, rendered, and
//! sessions that take turns. The statement that each request sends tells whether what is kept is still current, and brings the
//! counts, which change without it. So the answer is the one that the database would have given, whichever process changed it last.

mod index;
mod page;
mod remembered;
mod rendered;
mod session;
mod skill;

use knowhow_domain::{SessionId, TenantId, UserId};

use self::remembered::Remembered;
use crate::Ctx;
pub(crate) use index::{KeptIndexes, KeptItem, KeptPage};
pub(crate) use page::ShownItem;
pub use page::SkillPage;
pub(crate) use rendered::Rendered;
pub(crate) use session::KeptSession;
pub(crate) use skill::KeptSkill;

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

fn owner_of(ctx: &Ctx) -> Option<Owner> {
    Some((ctx.principal.tenant(), ctx.principal.user().ok()?))
}
