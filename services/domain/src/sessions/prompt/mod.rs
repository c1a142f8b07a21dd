//! Parts of an agent's prompt except the skill index: fenced foreign text, the frozen snapshot, and the block of a
//! turn.

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
pub use form::{SnapshotForm, Tools};
pub use previous::{PreviousMessage, PreviousParts, render_previous};
pub use snapshot::{ConversationLine, Rendered, SnapshotParts, estimate_tokens, render_snapshot};
pub use turn::{ActiveSkill, Missing, NUDGE, SkillLine, TooLong, TurnParts, name_solved, render_turn};
pub use wording::wording;
