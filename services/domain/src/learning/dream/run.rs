//! A run of a dream: one pass over a user's skills, with its proposals and their outcomes.

mod op;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::{Mode, Pass};
use crate::DreamId;
pub use op::{DreamOp, OpOutcome};

/// Pass of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunPass {
    /// Requests that no skill answers.
    Gaps,
    /// Skills that belong together.
    Consolidate,
    /// Skills that led to failures.
    Optimize,
    /// Proposals of a reflection.
    Reflection,
}

impl From<Pass> for RunPass {
    fn from(pass: Pass) -> Self {
        match pass {
            Pass::Gaps => Self::Gaps,
            Pass::Consolidate => Self::Consolidate,
            Pass::Optimize => Self::Optimize,
        }
    }
}

impl RunPass {
    /// Returns the pass of a dream; `None` for a reflection.
    pub fn pass(self) -> Option<Pass> {
        match self {
            Self::Gaps => Some(Pass::Gaps),
            Self::Consolidate => Some(Pass::Consolidate),
            Self::Optimize => Some(Pass::Optimize),
            Self::Reflection => None,
        }
    }
}

/// Cause of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// Scheduled, once per night of the user.
    Night,
    /// Requested by a caller.
    Demand,
    /// Proposed by a reflection.
    Reflection,
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// Waiting for a worker, or running.
    Queued,
    /// The run has proposals that are not applied yet.
    Planned,
    /// All proposals that no check refused are applied.
    Applied,
    /// Some proposals are applied; the others wait, were rejected, or no longer fit.
    Partly,
    /// The pass was off, there was no new work, or the model proposed no operation; see `reason`.
    Skipped,
    /// The run made no plan and no change; see `reason`.
    Failed,
    /// A person has rejected all proposals.
    Rejected,
    /// The run was undone.
    Undone,
}

/// Result of undoing an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Undone {
    /// The previous state is restored.
    Undone,
    /// The change was removed; later changes stay.
    Merged,
    /// The change stays, because the skill was changed later; `reason` suggests what to do.
    Kept,
    /// There was no change left to undo.
    Gone,
}

macro_rules! as_str {
    ($($noun:ident),+) => {
        $(impl $noun {
            /// Returns the name, in snake case.
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        })+
    };
}
as_str!(RunPass, Cause, RunState, OpOutcome, Undone);

/// Numbers of operations by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpCounts {
    /// Left to a person by the mode.
    pub proposed: i64,
    /// Left to a person by a check.
    pub waiting: i64,
    /// Applied.
    pub applied: i64,
    /// Refused by a check.
    pub refused: i64,
    /// Not applied, because the skill had changed.
    pub conflict: i64,
    /// Rejected by a person.
    pub rejected: i64,
}

/// A run, without its texts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamRun {
    /// Id; later runs have larger ids.
    #[schema(value_type = uuid::Uuid)]
    pub id: DreamId,
    /// Pass of the run.
    pub pass: RunPass,
    /// Cause of the run.
    pub cause: Cause,
    /// Mode of the run: `off`, `propose` or `apply`.
    pub mode: Mode,
    /// Whether the run only shows its proposals.
    pub dry_run: bool,
    /// State of the run.
    pub state: RunState,
    /// Reason for skipping, or for the failure.
    pub reason: Option<String>,
    /// Numbers of operations by outcome.
    pub counts: OpCounts,
    /// Number of tokens used by the chat model. If the model does not report it, a quarter of the number of characters.
    pub tokens: i64,
    /// Actor that started the run.
    #[schema(example = "user:alice")]
    pub started_by: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// End time.
    pub finished_at: Option<DateTime<Utc>>,
    /// Time of the undo.
    pub undone_at: Option<DateTime<Utc>>,
}

/// A notice that operations of a run wait for a decision. It contains no text of the operations.
#[derive(Debug, Clone, Serialize)]
pub struct DreamNotice {
    /// Slug of the tenant.
    pub tenant: String,
    /// The run.
    pub run: DreamId,
    /// Pass of the run.
    pub pass: RunPass,
    /// External id of the user.
    pub user: String,
    /// Number of waiting operations.
    pub waiting: i64,
    /// Whether an operation is based on untrusted content.
    pub tainted: bool,
    /// Creation time of the run.
    pub created_at: DateTime<Utc>,
    /// Time until which the operations can be decided.
    pub expires_at: DateTime<Utc>,
}

/// A request to a chat model, with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelCall {
    /// Whether the prompt contained untrusted texts.
    pub tainted: bool,
    /// Name of the model.
    pub model: String,
    /// Version of the directive; 0 for the built-in one.
    pub directive_version: i32,
    /// Hex SHA-256 of the directive's text.
    pub directive_digest: String,
    /// System prompt.
    pub system: String,
    /// User prompt.
    pub question: String,
    /// Answer, or the beginning of a long one. Null if there is no answer.
    pub answer: Option<String>,
    /// Reason why there is no usable answer.
    pub error: Option<String>,
    /// Number of tokens used.
    pub tokens: i64,
    /// Duration in milliseconds.
    pub ms: i64,
}
