//! A run of a dream: one pass over one user's skills, with what it proposed and what became of that.

mod op;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::{Mode, Pass};
use crate::DreamId;
pub use op::{DreamOp, OpOutcome};

/// What a run looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunPass {
    /// Requests without a skill.
    Gaps,
    /// Skills that belong together.
    Consolidate,
    /// Skills that failed.
    Optimize,
    /// What a reflection proposes.
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
    /// The pass of a dream; `None` for a reflection.
    pub fn pass(self) -> Option<Pass> {
        match self {
            Self::Gaps => Some(Pass::Gaps),
            Self::Consolidate => Some(Pass::Consolidate),
            Self::Optimize => Some(Pass::Optimize),
            Self::Reflection => None,
        }
    }
}

/// Why a run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// The clock, once a night of the user's.
    Night,
    /// Somebody asked for it.
    Demand,
    /// A reflection proposes something.
    Reflection,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// A worker will take it, or has it in hand.
    Queued,
    /// It proposes something, and nothing of it is applied.
    Planned,
    /// All that it proposed and no check refused is applied.
    Applied,
    /// Some of it is applied; the rest waits, was rejected, or did not fit any more.
    Partly,
    /// There was nothing to do, or it was not to be done now; `reason` says why.
    Skipped,
    /// It came to no plan; `reason` says why. Nothing was changed.
    Failed,
    /// A person has rejected all of it.
    Rejected,
    /// It was taken back.
    Undone,
}

/// What undoing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Undone {
    /// All is as it was before.
    Undone,
    /// The change is gone, and what came later stays.
    Merged,
    /// It was left as it is: somebody went on with it, and `reason` says what they can do.
    Kept,
    /// There is nothing left to undo.
    Gone,
}

macro_rules! as_str {
    ($($noun:ident),+) => {
        $(impl $noun {
            /// The wire form, in snake case.
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        })+
    };
}
as_str!(RunPass, Cause, RunState, OpOutcome, Undone);

/// How many operations came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpCounts {
    /// Left to a person by the mode.
    pub proposed: i64,
    /// Left to a person by a check.
    pub waiting: i64,
    /// Made.
    pub applied: i64,
    /// Against a check.
    pub refused: i64,
    /// Too late.
    pub conflict: i64,
    /// Against a person's will.
    pub rejected: i64,
}

/// A run, without its texts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamRun {
    /// The id; later runs have larger ones.
    #[schema(value_type = uuid::Uuid)]
    pub id: DreamId,
    /// What it looks at.
    pub pass: RunPass,
    /// Why it was begun.
    pub cause: Cause,
    /// How far it may go by itself.
    pub mode: Mode,
    /// Whether it only shows what it would do.
    pub dry_run: bool,
    /// Where it stands.
    pub state: RunState,
    /// Why it was skipped, or has failed.
    pub reason: Option<String>,
    /// What became of its operations.
    pub counts: OpCounts,
    /// Tokens that the chat model took, as it says, or a fourth of the characters where it does not.
    pub tokens: i64,
    /// Who began it.
    #[schema(example = "user:alice")]
    pub started_by: String,
    /// When it was begun.
    pub created_at: DateTime<Utc>,
    /// When it came to an end.
    pub finished_at: Option<DateTime<Utc>>,
    /// When it was taken back.
    pub undone_at: Option<DateTime<Utc>>,
}

/// A question to a chat model, with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelCall {
    /// Whether it was shown texts that are not to be trusted.
    pub tainted: bool,
    /// The model's name.
    pub model: String,
    /// The version of the directive; 0 for the built-in one.
    pub directive_version: i32,
    /// The SHA-256 of the directive's text, hex.
    pub directive_digest: String,
    /// The rules it was given.
    pub system: String,
    /// What it was shown.
    pub question: String,
    /// What it said; of a long answer the beginning. Null where there was none.
    pub answer: Option<String>,
    /// Why there was none, or none that can be used.
    pub error: Option<String>,
    /// Tokens it took.
    pub tokens: i64,
    /// How long it took.
    pub ms: i64,
}
