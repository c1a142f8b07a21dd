//! Dreams, which run in the background. Code finds candidates in a user's skills and conversations, a model proposes
//! operations, and checks decide which are accepted.

mod check;
mod conversation;
mod cosine;
mod excerpt;
mod families;
mod gaps;
mod label;
mod linkage;
mod namesakes;
mod operation;
mod overlap;
mod pass;
mod passages;
mod read;
mod rest;
mod run;
mod skill_quality;
mod terms;
mod together;
mod tokens;
mod words;
mod written;

pub use check::{
    Archiving, Candidates, ClosestSkill, MOST_POINTERS, Ruling, Shown, ShownSession, ShownSkill, WEEKLY_GROWTH,
    check_plan,
};
pub use conversation::ConversationFacts;
pub use cosine::find_twins;
pub use excerpt::{LoggedMessage, excerpt_all};
pub use families::{Family, find_families, is_guide};
pub use gaps::{Gap, KnownVectors, MOST_REQUESTS, Request, find_gaps, find_near};
pub use operation::{Merged, Operation, OperationKind};
pub use overlap::{Claim, MOST_SKILLS, Overlap, find_overlaps};
pub use pass::{Mode, Pass};
pub(crate) use read::find_object;
pub use read::{PLAN_BYTES, PLAN_OPERATIONS, PlanError, ReadOperation, read_plan};
pub use rest::rest_keys;
pub use run::{Cause, DreamNotice, DreamOp, DreamRun, ModelCall, OpCounts, OpOutcome, RunPass, RunState, Undone};
pub use skill_quality::{SkillQuality, is_at_risk, is_sparse};
pub use terms::{Term, find_terms};
pub use together::{CoUsed, Use, find_co_used};
