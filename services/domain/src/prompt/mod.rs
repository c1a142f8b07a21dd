//! What goes into an agent's prompt besides the index: blocks of foreign text that cannot pass for anything else, the
//! frozen snapshot, and what a turn brings.

mod cut;
mod fence;
mod form;
mod previous;
mod snapshot;
#[cfg(test)]
mod tests;
mod turn;
mod wording;

pub use cut::{CutBody, cut_body};
pub use fence::{PrintedBody, Tag, fence, fence_directive};
pub use form::{Form, Tools};
pub use previous::{PreviousParts, Said, render_previous};
pub use snapshot::{ConversationLine, Rendered, SnapshotParts, estimate_tokens, render_snapshot};
pub use turn::{ActiveSkill, Missing, NUDGE, SkillLine, TooLong, TurnParts, name_solved, render_turn};
pub use wording::wording;
