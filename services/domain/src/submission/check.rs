//! The steps of the review of a change, and how each ended.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStep {
    /// Whether its text comes from somewhere that is not to be trusted.
    Taint,
    /// Whether it says anything new, and is based on the current version.
    Hash,
    /// Whether it is a skill within its limits.
    Structure,
    /// Whether it looks like an attack.
    Scan,
    /// Whether it may use more tools unasked than before.
    Tools,
    /// Whether the tenant has all changes reviewed.
    Policy,
    /// Whether a newer starter and what its user changed fit together.
    Merge,
    /// Whether a chat model that reads it has doubts. It never lets in what another step holds.
    Reviewer,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// Nothing was found.
    Passed,
    /// The change waits for a person because of it.
    Held,
    /// The change is refused because of it.
    Refused,
}

/// A step of the review with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// Which step.
    pub step: CheckStep,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// The reasons, as the submitter may know them: what kind of thing was found, and what to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub reasons: Vec<String>,
    /// What was found and where, for whoever decides; the submitter is not shown it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub findings: Vec<serde_json::Value>,
    /// The version of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub ms: u32,
}
