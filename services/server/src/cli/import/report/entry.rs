//! What became of one thing: a skill, a memory or the soul.

use serde::Serialize;

/// How one thing went; of a dry run: how it would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Outcome {
    Created,
    Updated,
    Unchanged,
    /// The same as another one, which was taken.
    Duplicate,
    /// It waits for a person.
    Waiting,
    Refused,
    /// Not tried, since the import stopped before.
    NotSent,
}

/// What became of a skill, a memory or the soul.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct Entry {
    /// The user's own path.
    pub(in crate::cli) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) name: Option<String>,
    pub(in crate::cli) outcome: Outcome,
    /// The version that the service has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) version: Option<i32>,
    /// Why the service refuses it: the problem's slug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) same_as: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) fixes: Vec<String>,
}

impl Entry {
    pub(in crate::cli::import) fn new(path: &str, outcome: Outcome) -> Self {
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

    pub(in crate::cli::import) fn refused(path: &str, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(path, Outcome::Refused) }
    }

    pub(in crate::cli::import) fn duplicate(path: &str, same_as: &str) -> Self {
        Self { same_as: Some(same_as.to_owned()), ..Self::new(path, Outcome::Duplicate) }
    }
}
