//! An operation of a run: what was proposed, and what became of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::Undone;
use crate::dream::OperationKind;
use crate::{Check, SubmissionId};

/// What became of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OpOutcome {
    /// No check is against it; the mode leaves it to a person.
    Proposed,
    /// A check wants a person to decide; `reasons` says which.
    Waiting,
    /// It was made.
    Applied,
    /// A check is against it; `reasons` says which.
    Refused,
    /// The skill has changed since it was read.
    Conflict,
    /// A person has said no.
    Rejected,
}

impl OpOutcome {
    /// Whether a person can still decide on it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::Waiting)
    }
}

/// An operation of a run.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamOp {
    /// Its place in the plan, from 0.
    pub position: i32,
    /// Its kind; null where it could not be read.
    pub kind: Option<OperationKind>,
    /// What was proposed.
    pub op: Value,
    /// What became of it.
    pub outcome: OpOutcome,
    /// Why.
    pub reasons: Vec<String>,
    /// The steps of the review that were taken.
    pub checks: Vec<Check>,
    /// What the conversations had read that it is made of, where that is not to be trusted.
    pub tainted_by: Vec<String>,
    /// What it changes, as a unified diff; once it is applied, what it changed. Invisible characters are written as `<U+200B>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What undoing it came to.
    pub undo: Option<Undone>,
    /// What there is to say about that.
    pub undo_reason: Option<String>,
    /// The submission by which what was before can still be put back, where undoing met a later change of the same lines.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub undo_submission: Option<SubmissionId>,
    /// Who decided.
    pub decided_by: Option<String>,
}
