//! Refusals as RFC 9457 problem+json: the one table from errors to answers.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use knowhow_domain::{Error, FieldError, Passage, Scope, Tenant};
use knowhow_telemetry::metrics;
use serde::Serialize;
use utoipa::ToSchema;

use super::respond::proposed;
use crate::entry::current_request_id;

/// A refusal (RFC 9457).
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Problem {
    /// Stable path of the problem type.
    #[serde(rename = "type")]
    #[schema(example = "/problems/version-conflict")]
    pub kind: String,
    /// The type in words.
    #[schema(example = "Version conflict")]
    pub title: String,
    /// The HTTP status of the answer.
    #[schema(example = 409, minimum = 400, maximum = 599)]
    pub status: u16,
    /// What happened and what to do.
    pub detail: String,
    /// Names this occurrence by the id of its request.
    #[schema(example = "/requests/0192f0c1-7b1e-7c3a-9d53-0e2f6a1b4c5d")]
    pub instance: String,
    /// Findings, for invalid input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldError>,
    /// For a version conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<i32>,
    /// For a failed precondition: the state that is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Box<Tenant>>,
    /// Names that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub candidates: Vec<String>,
    /// For a patch without a match: the most similar passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub closest: Vec<Passage>,
    /// For a patch with several matches: all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub matches: Vec<Passage>,
}

/// An error on its way out.
#[derive(Debug)]
pub struct ApiError {
    error: Error,
    precondition: bool,
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self { error, precondition: false }
    }
}

impl ApiError {
    /// A version conflict of a request that stated its base in `If-Match` is a failed precondition (RFC 9110, 13.1.1).
    pub fn under(if_match: Option<i32>) -> impl Fn(Error) -> Self {
        move |error| Self { error, precondition: if_match.is_some() }
    }

    fn status(&self) -> StatusCode {
        match &self.error {
            Error::Malformed(_) => StatusCode::BAD_REQUEST,
            Error::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
            Error::Forbidden(_) | Error::Denied(_) | Error::Suspended { .. } => StatusCode::FORBIDDEN,
            Error::NotFound { .. } => StatusCode::NOT_FOUND,
            Error::VersionConflict { .. } if self.precondition => StatusCode::PRECONDITION_FAILED,
            Error::Stale(_) => StatusCode::PRECONDITION_FAILED,
            Error::AmbiguousName { .. } | Error::Conflict { .. } | Error::VersionConflict { .. } => {
                StatusCode::CONFLICT
            }
            Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Error::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Error::Invalid(_)
            | Error::PatchNoMatch { .. }
            | Error::PatchAmbiguous { .. }
            | Error::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Quota(_) | Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Error::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Error::Waits(_) => StatusCode::ACCEPTED,
            Error::Internal(_) | Error::MustBeReviewed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        if let Error::Waits(submission) = &self.error {
            return proposed(submission);
        }
        self.head().content_type("application/problem+json").json(self.logged(&current_request_id()))
    }
}

impl ApiError {
    /// The error that the answer tells of.
    pub fn cause(&self) -> &Error {
        &self.error
    }

    /// Status and headers of the answer.
    pub fn head(&self) -> HttpResponseBuilder {
        let mut response = HttpResponse::build(self.status());
        add_headers(&mut response, &self.error);
        response
    }

    /// The answer, without counting a refusal.
    pub fn uncounted(&self) -> HttpResponse {
        self.head().content_type("application/problem+json").json(self.problem(&current_request_id()))
    }

    /// The problem of the request of that id, once it is counted, and is in the log where the fault is ours.
    pub fn logged(&self, request_id: &str) -> Problem {
        if let Error::Internal(source) = &self.error {
            tracing::error!(error = %source, request_id, "internal error");
        }
        metrics::refused(self.error.code());
        self.problem(request_id)
    }

    /// The problem of the request of that id.
    pub fn problem(&self, request_id: &str) -> Problem {
        let code = self.error.code();
        let mut problem = Problem {
            kind: format!("/problems/{code}"),
            title: title(code),
            status: self.status().as_u16(),
            detail: self.error.to_string(),
            instance: format!("/requests/{request_id}"),
            ..Problem::default()
        };
        match &self.error {
            Error::Invalid(errors) => problem.errors.clone_from(errors),
            Error::VersionConflict { current_version } => problem.current_version = Some(*current_version),
            Error::Stale(current) => problem.current = Some(current.clone()),
            Error::NotFound { candidates, .. } | Error::AmbiguousName { candidates } => {
                problem.candidates.clone_from(candidates);
            }
            Error::PatchNoMatch { closest, .. } => problem.closest.clone_from(closest),
            Error::PatchAmbiguous { matches, .. } => problem.matches.clone_from(matches),
            _ => {}
        }
        problem
    }
}

/// `version-conflict` reads `Version conflict`. Some read better in words of their own.
fn title(code: &str) -> String {
    match code {
        "patch-no-match" => return "The patch matches nothing".into(),
        "patch-ambiguous" => return "The patch matches several places".into(),
        "malformed" => return "The request cannot be read".into(),
        "invalid" => return "Invalid input".into(),
        "too-large" => return "Too large".into(),
        "unavailable" => return "Out of reach for now".into(),
        _ => {}
    }
    let words = code.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const QUOTA_RETRY_S: u32 = 3600;

fn add_headers(response: &mut HttpResponseBuilder, error: &Error) {
    let retry_after = match error {
        Error::Unauthenticated(_) => {
            let challenge = HeaderValue::from_static("Bearer realm=\"knowhow\", error=\"invalid_token\"");
            response.insert_header((header::WWW_AUTHENTICATE, challenge));
            return;
        }
        Error::Forbidden(scope) if scope.parse::<Scope>().is_ok() => {
            let challenge = format!("Bearer realm=\"knowhow\", error=\"insufficient_scope\", scope=\"{scope}\"");
            response.insert_header((header::WWW_AUTHENTICATE, challenge));
            return;
        }
        Error::Stale(current) => {
            response.insert_header((header::ETAG, format!("\"{}\"", current.tag())));
            return;
        }
        Error::RateLimited { retry_after, .. } => *retry_after,
        Error::Quota(_) => QUOTA_RETRY_S,
        Error::Unavailable(_) => {
            response.insert_header((header::RETRY_AFTER, "1"));
            return;
        }
        _ => return,
    };
    response
        .insert_header((header::RETRY_AFTER, retry_after.to_string()))
        .insert_header(("RateLimit-Remaining", "0"))
        .insert_header(("RateLimit-Reset", retry_after.to_string()));
}
