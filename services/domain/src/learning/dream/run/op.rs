//! An operation in a run and its outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::Undone;
use crate::learning::dream::OperationKind;
use crate::{Check, SubmissionId};

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OpOutcome {
    /// The operation passed all checks; the mode leaves it to a person.
    Proposed,
    /// A check left the operation to a person; see `reasons`.
    Waiting,
    /// Applied.
    Applied,
    /// A check refused the operation; see `reasons`.
    Refused,
    /// The skill has changed since the model read it.
    Conflict,
    /// A person rejected the operation.
    Rejected,
}

impl OpOutcome {
    /// Returns whether a person can still decide on the operation.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::Waiting)
    }
}

/// An operation in a run.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamOp {
    /// Position in the plan, from 0.
    pub position: i32,
    /// Kind; null if the operation could not be parsed.
    pub kind: Option<OperationKind>,
    /// The proposed operation.
    pub op: Value,
    /// Outcome of the operation.
    pub outcome: OpOutcome,
    /// Reasons for the outcome.
    pub reasons: Vec<String>,
    /// Completed review steps.
    pub checks: Vec<Check>,
    /// Untrusted content that was read in the conversations that the operation is based on.
    pub tainted_by: Vec<String>,
    /// The proposed change as a unified diff; once applied, the actual change. Invisible characters are written as
    /// `<U+200B>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Result of undoing the operation.
    pub undo: Option<Undone>,
    /// Explanation of the undo result.
    pub undo_reason: Option<String>,
    /// Submission for restoring the previous text, if undoing conflicted with a later change to the same lines.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub undo_submission: Option<SubmissionId>,
    /// Actor who decided.
    pub decided_by: Option<String>,
}
