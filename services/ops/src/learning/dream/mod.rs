//! Dreams: background runs over a user's skills and sessions. A run proposes changes. Each change is checked, and
//! then applied or offered to the user. A run can be undone as a whole.

mod apply;
mod call;
mod candidates;
mod carry_out;
mod compose;
mod conversations;
mod decide;
mod found;
mod inputs;
mod journal;
mod part;
mod question;
mod read;
mod resting;
mod rulings;
mod run;
mod select;
mod settings;
mod start;
mod status;
mod tokens;
mod undo;

pub use candidates::{DreamCandidates, ListCandidates, list_candidates};
pub use decide::{DecideDream, apply_dream, reject_dream, undo_dream};
pub use read::{DreamDetail, GetDream, ListDreams, get_dream, list_dreams};
pub(crate) use run::run_dream;
pub use settings::{Learning, PassState, PutLearning, WaitingOperations, get_learning, put_learning};
pub use start::{StartDreams, StartedDreams, dream_here, start_dreams};
pub use status::tell_learning;

pub(crate) use call::LearningQuestion;
pub(crate) use carry_out::undo_period;
pub(crate) use conversations::read_excerpts;
pub(crate) use inputs::list_skills;
pub(crate) use question::{ModelQuestion, NAMED, choose_whole, describe_skill, shown_skill};
pub(crate) use resting::Resting;
pub(crate) use rulings::{review_those_to_apply, rule};
pub(crate) use run::{apply_as_allowed, or_give_up, planned_state};
pub(crate) use settings::LearningState;
pub(crate) use start::start_night;
pub(crate) use tokens::take_tokens;
