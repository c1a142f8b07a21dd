//! Maps domain errors to RFC 9457 problem+json. This is the only module that defines the mapping.

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

/// An error response (RFC 9457).
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Problem {
    /// Stable path that identifies the problem type.
    #[serde(rename = "type")]
    #[schema(example = "/problems/version-conflict")]
    pub kind: String,
    /// Title of the problem type.
    #[schema(example = "Version conflict")]
    pub title: String,
    /// HTTP status of the response.
    #[schema(example = 409, minimum = 400, maximum = 599)]
    pub status: u16,
    /// Explanation of the error and advice.
    pub detail: String,
    /// Path with the id of the request.
    #[schema(example = "/requests/0192f0c1-7b1e-7c3a-9d53-0e2f6a1b4c5d")]
    pub instance: String,
    /// Validation errors, for invalid input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldError>,
    /// Current version, after a version conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<i32>,
    /// Current state, after a failed precondition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Box<Tenant>>,
    /// Similar existing names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub candidates: Vec<String>,
    /// Most similar passages, if a patch has no match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub closest: Vec<Passage>,
    /// All matches, if a patch has several matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub matches: Vec<Passage>,
}

/// An error response over REST.
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
    /// Returns a function that wraps an error that a request causes. If the request has `If-Match`, a version conflict
    /// becomes a failed precondition (RFC 9110, 13.1.1).
    pub fn under(if_match: Option<i32>) -> impl Fn(Error) -> Self {
        move |error| Self { error, precondition: if_match.is_some() }
    }

    fn status(&self) -> StatusCode {
        match &self.error {
            Error::VersionConflict { .. } if self.precondition => StatusCode::PRECONDITION_FAILED,
            error => StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
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
    /// Returns the domain error.
    pub fn cause(&self) -> &Error {
        &self.error
    }

    /// Builds a response with the status and headers, and no body.
    pub fn head(&self) -> HttpResponseBuilder {
        let mut response = HttpResponse::build(self.status());
        add_headers(&mut response, &self.error);
        response
    }

    /// Builds the whole response without counting it in the metrics.
    pub fn uncounted(&self) -> HttpResponse {
        self.head().content_type("application/problem+json").json(self.problem(&current_request_id()))
    }

    /// Counts the error in the metrics, logs it if it is internal, and returns its problem.
    pub fn logged(&self, request_id: &str) -> Problem {
        if let Error::Internal(source) = &self.error {
            tracing::error!(error = %source, request_id, "internal error");
        }
        metrics::refused(self.error.code());
        self.problem(request_id)
    }

    /// Returns the problem that describes the error. `request_id` is the id of the request.
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

/// Derives the title of a problem from its code: `version-conflict` becomes `Version conflict`. Some codes have their
/// own title.
fn title(code: &str) -> String {
    match code {
        "patch-no-match" => return "The patch has no match".into(),
        "patch-ambiguous" => return "The patch matches several places".into(),
        "malformed" => return "Malformed request".into(),
        "invalid" => return "Invalid input".into(),
        "too-large" => return "Too large".into(),
        "unavailable" => return "Temporarily unavailable".into(),
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
