//! The dream: what code finds in a user's skills and conversations while nobody waits, what a model may propose about it, and
//! which of its proposals can be taken.

mod check;
mod conversation;
mod cosine;
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
mod standing;
mod terms;
mod together;
mod tokens;
mod words;
mod written;

pub use check::{Archiving, Candidates, Closest, MOST_POINTERS, Ruling, Shown, ShownSession, ShownSkill, check_plan};
pub use conversation::Conversation;
pub use families::{Family, find_families, is_guide};
pub use gaps::{Gap, Known, MOST_REQUESTS, Request, find_gaps};
pub use operation::{Merged, Operation, OperationKind};
pub use overlap::{Claim, MOST_SKILLS, Overlap, find_overlaps};
pub use pass::{Mode, Pass};
pub(crate) use read::find_object;
pub use read::{PLAN_BYTES, PLAN_OPERATIONS, PlanError, ReadOperation, read_plan};
pub use rest::rest_keys;
pub use run::{Cause, DreamOp, DreamRun, ModelCall, OpCounts, OpOutcome, RunPass, RunState, Undone};
pub use standing::{Standing, is_at_risk, is_sparse};
pub use terms::{Term, find_terms};
pub use together::{CoUsed, Use, find_co_used};
