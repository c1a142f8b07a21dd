//! The result for one imported skill, memory or soul.

use serde::Serialize;

/// Outcome of one item. In a dry run, the expected outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImportEntryOutcome {
    Created,
    Updated,
    Unchanged,
    /// Identical to another item of the import, which was sent.
    Duplicate,
    /// The change awaits review.
    Waiting,
    Refused,
    /// The skill was not sent, because the import stopped earlier.
    NotSent,
}

/// The result for one imported skill, memory or soul.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ImportEntry {
    /// Path as shown to the user.
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) outcome: ImportEntryOutcome,
    /// The skill's current version in the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<i32>,
    /// Code of the service's error, if the service rejected the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_as: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<String>,
}

impl ImportEntry {
    pub(in crate::import) fn new(path: &str, outcome: ImportEntryOutcome) -> Self {
        Self {
            path: path.to_owned(),
            name: None,
            outcome,
            version: None,
            code: None,
            reason: None,
            same_as: None,
            fixes: Vec::new(),
        }
    }

    pub(in crate::import) fn refused(path: &str, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(path, ImportEntryOutcome::Refused) }
    }

    pub(in crate::import) fn duplicate(path: &str, same_as: &str) -> Self {
        Self { same_as: Some(same_as.to_owned()), ..Self::new(path, ImportEntryOutcome::Duplicate) }
    }
}
