//! What this process keeps of users to answer them with: skills that were loaded or saved, lines of the index, rendered, and
//! sessions that take turns. The statement that each request sends tells whether what is kept is still current, and brings the
//! counts, which change without it. So the answer is the one that the database would have given, whichever process changed it last.

mod index;
mod page;
mod rendered;
mod session;
mod skill;

use knowhow_domain::{TenantId, UserId};

use crate::Ctx;
pub(crate) use index::{KeptIndexes, KeptItem, KeptPage};
pub(crate) use page::ShownItem;
pub use page::SkillPage;
pub(crate) use rendered::Rendered;
pub(crate) use session::{KeptSession, KeptSessions};
pub(crate) use skill::{KeptSkill, KeptSkills};

/// Whose something is. It is a part of every key, so that nothing is shown to anybody else.
type Owner = (TenantId, UserId);

/// What is kept of all users, within a weight. What was not asked for during an hour is let go.
pub(crate) struct KeptAnswers {
    /// Whole skills.
    pub(crate) skills: KeptSkills,
    /// Lines of the index.
    pub(crate) indexes: KeptIndexes,
    /// Sessions after their last turns.
    pub(crate) sessions: KeptSessions,
}

impl KeptAnswers {
    /// Nothing yet, and at most so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            skills: KeptSkills::new(bytes / 2),
            indexes: KeptIndexes::new(bytes / 8 * 3),
            sessions: KeptSessions::new(bytes / 8),
        }
    }
}

fn owner_of(ctx: &Ctx) -> Option<Owner> {
    Some((ctx.principal.tenant(), ctx.principal.user().ok()?))
}
