//! The common error type. REST and MCP map it to problem+json and MCP errors; other code must not define error codes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Tenant;
use crate::review::submission::{Check, Submission};

/// Result of an operation that can be rejected.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid member of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// JSON Pointer (RFC 6901) into the request, e.g. `/description`; empty for the whole request.
    #[schema(example = "/description")]
    pub pointer: String,
    /// Description of the error, with the rule.
    #[schema(example = "must have 1 to 1024 characters, has 1025")]
    pub detail: String,
}

impl FieldError {
    /// Makes an error about the member at `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

/// A place in a text: a match or near match of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Passage {
    /// 1-based line of the searched text.
    #[schema(minimum = 1)]
    pub line: usize,
    /// The line or lines, cut to a readable length.
    pub text: String,
}

/// A line of a text and the line of a patch that differs from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDifference {
    /// 1-based line of the searched text.
    pub line: usize,
    /// The line in the text, cut to a readable length.
    pub text: String,
    /// The line in `old_string`, cut to a readable length.
    pub old_string: String,
}

impl std::fmt::Display for LineDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of the text is {:?}, and old_string has {:?}", self.line, self.text, self.old_string)
    }
}

/// Reason for a rejection. `Display` returns the message for the caller, which includes the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be parsed (400).
    #[error("{0}")]
    Malformed(String),
    /// Missing or invalid credential (401).
    #[error("{0}")]
    Unauthenticated(String),
    /// The credential lacks this scope or role (403).
    #[error("this needs the scope or role '{0}', which the credential does not have")]
    Forbidden(&'static str),
    /// The action is forbidden with any scope (403).
    #[error("{0}")]
    Denied(&'static str),
    /// The credential's tenant or user is suspended (403).
    #[error("the {what} is suspended: {reason}")]
    Suspended {
        /// `tenant` or `user`.
        what: &'static str,
        /// Reason given at the suspension.
        reason: String,
    },
    /// The thing does not exist or belongs to another user (404).
    #[error("no such {what}{}", near(.candidates))]
    NotFound {
        /// Kind of the missing thing: `skill`, `version`, `resource`, ...
        what: &'static str,
        /// Similar names that belong to the caller.
        candidates: Vec<String>,
    },
    /// A short name matches several skills (409).
    #[error("the name matches several skills: {}; give the full name", .candidates.join(", "))]
    AmbiguousName { candidates: Vec<String> },
    /// The current state forbids the action (409). `code` is the problem's slug, e.g. `pinned`.
    #[error("{detail}")]
    Conflict {
        /// Stable slug of the problem type.
        code: &'static str,
        /// The obstacle and how to remove it.
        detail: String,
    },
    /// The caller's base is not the current version (409, or 412 for `If-Match`).
    #[error("the current version is {current_version}; read it again and repeat the change on that version")]
    VersionConflict {
        /// The current version.
        current_version: i32,
    },
    /// The tenant's state does not match `If-Match` (412).
    #[error(
        "the tenant was changed since it was read; repeat the change on the state in `current`, with the tag in `ETag`"
    )]
    Stale(Box<Tenant>),
    /// The change waits for a person's decision (202).
    #[error("the change of '{}' waits for a person's decision; it is not applied until then", .0.skill)]
    Waits(Box<Submission>),
    /// The change needs a review first. Operations turn this into [`Error::Waits`]; callers never see it.
    #[error("the change must be reviewed")]
    MustBeReviewed(Vec<Check>),
    /// The input exceeds a size limit (413).
    #[error("{what} is too large: at most {limit} bytes")]
    TooLarge {
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// An unsupported media type (415).
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// The input is well-formed, but invalid (422). Each invalid member has an entry.
    #[error("{}", join(.0))]
    Invalid(Vec<FieldError>),
    /// A patch with an `old_string` that does not occur (422).
    #[error("edit {edit}: old_string was not found{}; copy it exactly from one of the closest passages", differing(.difference))]
    PatchNoMatch {
        /// 0-based index of the edit.
        edit: usize,
        /// The most similar passages, best first.
        closest: Vec<Passage>,
        /// The first line that differs from the most similar passage.
        difference: Option<LineDifference>,
    },
    /// A patch with an `old_string` that occurs more than once (422).
    #[error("edit {edit}: old_string has {} matches; add surrounding text to make it unique, or set replace_all", .matches.len())]
    PatchAmbiguous {
        /// 0-based index of the edit.
        edit: usize,
        /// All matches.
        matches: Vec<Passage>,
    },
    /// An `Idempotency-Key` that was used for another request (422).
    #[error("this Idempotency-Key was used for another request; use a fresh key")]
    IdempotencyMismatch,
    /// A quota of the tenant is used up (429, or 413 for a quota of bytes).
    #[error("{0}")]
    Quota(String),
    /// Too many requests (429).
    #[error("{detail}")]
    RateLimited {
        detail: String,
        /// Seconds until a retry can succeed.
        retry_after: u32,
    },
    /// The database or a model is unavailable (503).
    #[error("{0}")]
    Unavailable(String),
    /// A bug (500). The error is only logged.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Returns a copy of the error of a shared operation, for one of the callers that wait for it. Kinds of errors that
    /// cannot be copied become `Internal` and keep only their code.
    pub fn of_many(error: Arc<Self>) -> Self {
        Arc::try_unwrap(error).unwrap_or_else(|error| match &*error {
            Self::Unavailable(why) => Self::Unavailable(why.clone()),
            Self::Quota(why) => Self::Quota(why.clone()),
            Self::Malformed(why) => Self::Malformed(why.clone()),
            Self::Conflict { code, detail } => Self::Conflict { code, detail: detail.clone() },
            other => Self::internal(other.code()),
        })
    }

    /// Returns the stable slug of the problem type, `/problems/<code>`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Unauthenticated(_) => "unauthenticated",
            Self::Forbidden(_) | Self::Denied(_) => "forbidden",
            Self::Suspended { what: "user", .. } => "user-suspended",
            Self::Suspended { .. } => "tenant-suspended",
            Self::NotFound { .. } => "not-found",
            Self::AmbiguousName { .. } => "ambiguous-name",
            Self::Conflict { code, .. } => code,
            Self::VersionConflict { .. } => "version-conflict",
            Self::Stale(_) => "precondition-failed",
            Self::Waits(_) => "waits-for-review",
            Self::MustBeReviewed(_) => "internal",
            Self::TooLarge { .. } => "too-large",
            Self::UnsupportedMediaType(_) => "unsupported-media-type",
            Self::Invalid(_) => "invalid",
            Self::PatchNoMatch { .. } => "patch-no-match",
            Self::PatchAmbiguous { .. } => "patch-ambiguous",
            Self::IdempotencyMismatch => "idempotency-mismatch",
            Self::Quota(_) => "quota-exceeded",
            Self::RateLimited { .. } => "rate-limited",
            Self::Unavailable(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// Returns the HTTP status. If a request has `If-Match`, a version conflict is 412 instead.
    pub fn status(&self) -> u16 {
        match self {
            Self::Waits(_) => 202,
            Self::Malformed(_) => 400,
            Self::Unauthenticated(_) => 401,
            Self::Forbidden(_) | Self::Denied(_) | Self::Suspended { .. } => 403,
            Self::NotFound { .. } => 404,
            Self::AmbiguousName { .. } | Self::Conflict { .. } | Self::VersionConflict { .. } => 409,
            Self::Stale(_) => 412,
            Self::TooLarge { .. } => 413,
            Self::UnsupportedMediaType(_) => 415,
            Self::Invalid(_) | Self::PatchNoMatch { .. } | Self::PatchAmbiguous { .. } | Self::IdempotencyMismatch => {
                422
            }
            Self::Quota(_) | Self::RateLimited { .. } => 429,
            Self::Internal(_) | Self::MustBeReviewed(_) => 500,
            Self::Unavailable(_) => 503,
        }
    }

    /// Makes an `Invalid` error about one member.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(pointer, detail)])
    }

    /// Makes a `NotFound` without candidates.
    pub fn not_found(what: &'static str) -> Self {
        Self::NotFound { what, candidates: Vec::new() }
    }

    /// Makes an internal error. The log contains `source`; the caller receives a 500 without details.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

fn near(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!("; similar: {}", candidates.join(", ")) }
}

fn differing(difference: &Option<LineDifference>) -> String {
    difference.as_ref().map_or_else(String::new, |difference| format!("; {difference}"))
}

fn join(errors: &[FieldError]) -> String {
    errors
        .iter()
        .map(|e| if e.pointer.is_empty() { e.detail.clone() } else { format!("{}: {}", e.pointer, e.detail) })
        .collect::<Vec<_>>()
        .join("; ")
}
