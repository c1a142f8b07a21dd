//! Steps in the review of a change, with their outcomes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step in the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStep {
    /// Checks whether the text comes from an untrusted source.
    Taint,
    /// Checks whether the change has an effect and is based on the current version.
    Hash,
    /// Checks whether the result is a valid skill within its limits.
    Structure,
    /// Checks whether the text looks like an attack.
    Scan,
    /// Checks whether the skill may use more tools without approval than before.
    Tools,
    /// Checks whether the tenant requires a review of all changes.
    Policy,
    /// Checks whether a newer starter conflicts with the user's changes.
    Merge,
    /// Asks a chat model whether it has doubts. This never overrides another step.
    Reviewer,
}

/// Outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// No objection.
    Passed,
    /// The change waits for a person because of this step.
    Held,
    /// The change is refused because of this step.
    Refused,
}

/// A step in the review, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// The step.
    pub step: CheckStep,
    /// Outcome of the step.
    pub outcome: CheckOutcome,
    /// Reasons, for the submitter: the kind of problem and the needed change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub reasons: Vec<String>,
    /// Findings with their positions in the files, for reviewers; not shown to the submitter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub findings: Vec<serde_json::Value>,
    /// Version of the scanner rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Duration of the step in milliseconds.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub ms: u32,
}

impl Check {
    /// Returns a passed step without findings.
    pub fn passed(step: CheckStep) -> Self {
        Self { step, outcome: CheckOutcome::Passed, reasons: Vec::new(), findings: Vec::new(), rules: None, ms: 0 }
    }

    /// Returns a step that holds the change for this reason.
    pub fn held(step: CheckStep, reason: &str) -> Self {
        Self { outcome: CheckOutcome::Held, reasons: vec![reason.to_owned()], ..Self::passed(step) }
    }
}
