//! Reviews changes. A change waits for a decision if it comes from a tainted session, has scanner findings, or the
//! tenant's policy requires a review. Agents cannot see the change until a reviewer approves exactly these bytes.

mod conflicts;
mod decide;
mod diff;
mod offer;
pub(crate) mod owner;
mod read;
mod rebase;
mod rescan;
mod reviewer;
mod share;
mod submit;
mod texts;

pub use decide::{Decide, approve_submission, reject_submission, withdraw_submission};
pub use offer::{Take, has_conflict};
pub use owner::{Whose, may_review};
pub use read::{GetSubmission, ListSubmissions, SubmissionDetail, get_submission, list_submissions};
pub use rebase::{Rebase, rebase_submission};
pub use rescan::{SkillFindings, get_findings};
pub use share::{ShareSkill, share_skill};
pub use submit::{Submit, submit_skill};
pub use texts::{ApproveText, approve_memory, approve_soul};

pub(crate) use offer::offer_merges;
pub(crate) use owner::{AccessedOwner, access_user};
pub(crate) use rescan::{note, rescan, rescan_libraries};
pub(crate) use reviewer::{Reviewer, review_submission};
