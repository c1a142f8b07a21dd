//! Dreams: inputs, runs with proposed and applied operations, and undo.

pub(crate) mod absorb;
pub(crate) mod end_run;
pub(crate) mod inputs;
pub(crate) mod log;
pub(crate) mod notice;
pub(crate) mod ops;
pub(crate) mod restore;
pub(crate) mod runs;
pub(crate) mod settings;

pub use crate::across::dreams::{DueNights, end_lost_runs, enqueue_nights};
pub use absorb::{Absorbed, absorb};
pub use end_run::{EndedRun, end};
pub use inputs::{
    ConversationFilter, DreamSession, DreamSkill, SkillLimits, list_documents, list_sessions, list_skills,
    put_session_vectors,
};
pub use log::{MessageLimits, SessionMessage, SessionUse, list_messages, list_uses};
pub use notice::{find_unnotified, note_notified};
pub use ops::{
    NewOp, OpState, OpenOp, StoredOp, add_ops, find_later, list_learned, list_open, list_ops, lock_with_ops, put_ops,
};
pub use restore::{SkillToRestore, give_back, take_archived};
pub use runs::{ListRuns, NewRun, RunDetail, add_runs, find, list, list_calls, lock};
pub use settings::{
    Fingerprint, LearningRow, PassRow, PutLearning, find_learning, list_resting, lock_passes, note_failure, note_night,
    note_success, put_learning, put_rests, take_tokens,
};
