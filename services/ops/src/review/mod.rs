//! Review: a change that comes from a tainted session, looks like an attack, or is demanded to be reviewed waits where no
//! agent sees it, until somebody who may decides on exactly these bytes.

mod checks;
mod decide;
mod diff;
mod hold;
mod offer;
mod owner;
mod read;
mod rebase;
mod rescan;
mod reviewer;
mod scan;
mod share;
mod submit;
mod texts;
mod wanted;

pub use decide::{Decide, approve_submission, reject_submission, withdraw_submission};
pub use offer::Take;
pub use owner::Whose;
pub use read::{GetSubmission, ListSubmissions, SubmissionDetail, get_submission, list_submissions};
pub use rebase::{Rebase, rebase_submission};
pub use rescan::{SkillFindings, get_findings};
pub use share::{ShareSkill, share_skill};
pub use submit::{Submit, submit_skill};
pub use texts::{ApproveText, approve_memory, approve_soul};

pub(crate) use checks::{check, check_proposed, holds, is_reviewed};
pub(crate) use hold::{Asked, hold, propose};
pub(crate) use offer::offer_merges;
pub(crate) use owner::{Reached, reach_user};
pub(crate) use rescan::{note, rescan, rescan_libraries, rules};
pub(crate) use reviewer::{Reviewer, review_submission};
pub(crate) use scan::scan_whole;
