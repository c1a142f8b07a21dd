//! Dreams: while nobody waits, a user's skills and conversations are looked at, and changes proposed that are checked one by
//! one, applied or offered, and can be taken back as a whole.

mod apply;
mod call;
mod candidates;
mod carry_out;
mod compose;
mod decide;
mod found;
mod inputs;
mod journal;
mod part;
mod question;
mod read;
mod ruled;
mod run;
mod select;
mod settings;
mod start;
mod status;
mod undo;

pub use candidates::{DreamCandidates, ListCandidates, list_candidates};
pub use decide::{DecideDream, apply_dream, reject_dream, undo_dream};
pub use read::{DreamDetail, GetDream, ListDreams, get_dream, list_dreams};
pub(crate) use run::run_dream;
pub use settings::{Learning, PassState, PutLearning, get_learning, put_learning};
pub use start::{StartDreams, StartedDreams, dream_here, start_dreams};
pub use status::tell_learning;

pub(crate) use call::Call;
pub(crate) use carry_out::{kept_for, state_of};
pub(crate) use compose::list_resting;
pub(crate) use inputs::list_skills;
pub(crate) use question::{NAMED, Question, choose_whole, shown_skill, told_skill};
pub(crate) use ruled::{review_those_to_apply, rule};
pub(crate) use run::{apply_as_allowed, or_give_up, reason_of, take_tokens};
pub(crate) use settings::Known;
pub(crate) use start::start_night;
