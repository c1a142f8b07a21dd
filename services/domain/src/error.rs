//! The one error type of the house. Faces map it to problem+json and MCP; nobody else invents codes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Tenant;
use crate::submission::{Check, Submission};

/// Result of everything that can be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One invalid member of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// JSON Pointer (RFC 6901) into the request, e.g. `/description`; empty for the whole.
    #[schema(example = "/description")]
    pub pointer: String,
    /// What is wrong and what would be right.
    #[schema(example = "must have 1 to 1024 characters, has 1025")]
    pub detail: String,
}

impl FieldError {
    /// A finding about `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

/// A place in a text: what a patch matched, or nearly matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Passage {
    /// 1-based line of the text that was searched.
    #[schema(minimum = 1)]
    pub line: usize,
    /// The line or lines there, cut to a readable length.
    pub text: String,
}

/// Why something was refused. `Display` is the sentence the caller reads: it says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be read at all (400).
    #[error("{0}")]
    Malformed(String),
    /// No credential, or one that does not verify (401).
    #[error("{0}")]
    Unauthenticated(String),
    /// The credential is good but lacks this scope or role (403).
    #[error("this needs the scope or role '{0}', which the credential does not carry")]
    Forbidden(&'static str),
    /// The credential is good, but the caller must not do this with any scope (403).
    #[error("{0}")]
    Denied(&'static str),
    /// The credential is good, and whom it stands for has been suspended (403).
    #[error("the {what} is suspended: {reason}")]
    Suspended {
        /// `tenant` or `user`.
        what: &'static str,
        /// Why, as who suspended it has said.
        reason: String,
    },
    /// Missing and foreign things alike (404).
    #[error("no such {what}{}", near(.candidates))]
    NotFound {
        /// The noun: `skill`, `version`, `resource`, ...
        what: &'static str,
        /// Names of the caller's own that come close.
        candidates: Vec<String>,
    },
    /// A short name that fits several skills (409).
    #[error("the name fits several skills: {}; give the full name", .candidates.join(", "))]
    AmbiguousName { candidates: Vec<String> },
    /// The state of the thing forbids it (409). `code` is the problem's slug, e.g. `pinned`.
    #[error("{detail}")]
    Conflict {
        /// Stable slug of the problem type.
        code: &'static str,
        /// What is in the way and how to move it.
        detail: String,
    },
    /// The caller's base is not the current version (409, or 412 where it came as `If-Match`).
    #[error("the current version is {current_version}; read it again and repeat the change on that version")]
    VersionConflict {
        /// The version that is current.
        current_version: i32,
    },
    /// The tenant is not in a state that `If-Match` names (412).
    #[error("the tenant was changed since it was read; `current` has its state and `ETag` the tag for another try")]
    Stale(Box<Tenant>),
    /// The change is not made yet: it waits until a person decides (202).
    #[error("the change of '{}' waits for a person to decide; nothing is changed until then", .0.skill)]
    Waits(Box<Submission>),
    /// The change must not be made before a person has seen it. Operations turn this into [`Error::Waits`]; it reaches no
    /// caller.
    #[error("the change must be reviewed")]
    MustBeReviewed(Vec<Check>),
    /// Beyond a size limit (413).
    #[error("{what} is too large: at most {limit} bytes")]
    TooLarge {
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// A media type that is not taken (415).
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// Well-formed, but against the rules; one entry per finding (422).
    #[error("{}", join(.0))]
    Invalid(Vec<FieldError>),
    /// A patch whose `old_string` is not there (422).
    #[error("edit {edit}: old_string was not found; copy it exactly from one of the closest passages")]
    PatchNoMatch {
        /// 0-based index of the edit.
        edit: usize,
        /// The most similar passages, best first.
        closest: Vec<Passage>,
    },
    /// A patch whose `old_string` is there more than once (422).
    #[error("edit {edit}: old_string has {} matches; add surrounding text to make it unique, or set replace_all", .matches.len())]
    PatchAmbiguous {
        /// 0-based index of the edit.
        edit: usize,
        /// Every place it was found.
        matches: Vec<Passage>,
    },
    /// An `Idempotency-Key` that was used for another request (422).
    #[error("this Idempotency-Key was used for another request; use a fresh key")]
    IdempotencyMismatch,
    /// A quota of the tenant is used up (429; bytes are 413).
    #[error("{0}")]
    Quota(String),
    /// Too many requests (429).
    #[error("{detail}")]
    RateLimited {
        detail: String,
        /// Seconds until a retry can succeed.
        retry_after: u32,
    },
    /// The database or a model is out of reach (503).
    #[error("{0}")]
    Unavailable(String),
    /// A defect of ours; the text is for the log alone (500).
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// What all those are told who waited for one thing that failed.
    pub fn of_many(error: Arc<Self>) -> Self {
        Arc::try_unwrap(error).unwrap_or_else(|error| match &*error {
            Self::Unavailable(why) => Self::Unavailable(why.clone()),
            Self::Quota(why) => Self::Quota(why.clone()),
            Self::Malformed(why) => Self::Malformed(why.clone()),
            Self::Conflict { code, detail } => Self::Conflict { code, detail: detail.clone() },
            other => Self::internal(other.code()),
        })
    }

    /// The stable slug of the problem type, `/problems/<code>`.
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

    /// One finding about one member.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(pointer, detail)])
    }

    /// Nothing of that kind, and nothing near.
    pub fn not_found(what: &'static str) -> Self {
        Self::NotFound { what, candidates: Vec::new() }
    }

    /// A defect: logged whole, answered as a bare 500.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

fn near(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!("; close to it: {}", candidates.join(", ")) }
}

fn join(errors: &[FieldError]) -> String {
    errors
        .iter()
        .map(|e| if e.pointer.is_empty() { e.detail.clone() } else { format!("{}: {}", e.pointer, e.detail) })
        .collect::<Vec<_>>()
        .join("; ")
}
