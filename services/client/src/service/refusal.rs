//! Errors from requests to the service.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::address::shown;
use super::answer::{Bounds, ServiceResponse};

/// An error response from the service, or an unusable or missing response.
#[derive(Debug)]
pub(crate) struct ServiceError {
    /// HTTP status; `None` if there was no usable response.
    pub(crate) status: Option<StatusCode>,
    /// Code of the problem, e.g. `quota-exceeded`; empty if there is no problem.
    pub(crate) code: String,
    pub(crate) detail: String,
}

impl ServiceError {
    /// Creates the error for an unusable or missing response.
    pub(crate) fn because(detail: impl Into<String>) -> Self {
        Self { status: None, code: String::new(), detail: detail.into() }
    }

    /// Creates the error for a service that cannot be reached. The causes are shown without the URL, which may contain
    /// credentials.
    pub(super) fn unreachable(address: &str, error: reqwest::Error) -> Self {
        Self::because(format!("the service at {address} cannot be reached ({})", causes(error)))
    }

    /// Creates the error for a service that did not start to respond.
    pub(super) fn silent(address: &str, time: Duration) -> Self {
        let seconds = time.as_secs();
        Self::because(format!(
            "the service at {address} did not respond within {seconds} s; use --timeout SECONDS to wait longer"
        ))
    }

    /// Creates the error for a service that stops within a response or sends too slowly.
    pub(super) fn slow(bytes: u64, time: Duration) -> Self {
        let seconds = time.as_secs();
        let sent = if bytes == 0 { "nothing".to_owned() } else { format!("only {bytes} bytes") };
        Self::because(format!(
            "the service sent {sent} within {seconds} s, in the middle of its response; use --timeout SECONDS to wait \
             longer"
        ))
    }

    /// Creates the error for a response that takes too long in total.
    pub(super) fn endless(time: Duration) -> Self {
        let seconds = time.as_secs();
        Self::because(format!("the response did not end within {seconds} s; use --timeout SECONDS to wait longer"))
    }

    /// Creates the error for a body above its size limit.
    pub(super) fn too_large(most: u64) -> Self {
        Self::because(format!("the response is larger than {most} bytes, the limit of its kind"))
    }

    /// Creates the error for an incomplete body.
    pub(super) fn broken(error: reqwest::Error) -> Self {
        Self::because(format!("the response is incomplete ({})", causes(error)))
    }

    /// Creates the error for JSON that does not have the expected shape.
    pub(super) fn unreadable(error: serde_json::Error) -> Self {
        Self::because(format!("the response cannot be parsed: {error}"))
    }

    /// Creates the error for a list with too many pages.
    pub(super) fn endless_list(pages: usize) -> Self {
        Self::because(format!("the list does not end: stopped after {pages} pages; use filters for a shorter list"))
    }

    /// Creates the error for a list that repeats a cursor.
    pub(super) fn repeated_cursor() -> Self {
        Self::because("the list does not end: its next cursor was already used, or is too long")
    }

    /// Creates the error for a redirect, which is not followed.
    pub(super) fn redirected(response: &Response) -> Self {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let target = location.and_then(|location| response.url().join(location).ok());
        let target = target.map_or("elsewhere".to_owned(), |target| shown(&target));
        let detail = format!(
            "the service redirects to {target}, and redirects are not followed; if that is the service, set its URL \
             with --url or KNOWHOW_URL"
        );
        Self { status: Some(response.status()), code: "redirect".to_owned(), detail }
    }

    /// Reads the problem from an error response.
    pub(super) async fn read(response: Response, timeout: Duration) -> Self {
        let answer = ServiceResponse::new(response, timeout);
        let status = answer.status();
        let problem: Value = answer.json(Bounds::PROBLEM).await.unwrap_or_default();
        let text = |member: &str| problem[member].as_str().unwrap_or_default().to_owned();
        let code = text("type").trim_start_matches("/problems/").to_owned();
        let detail = Some(text("detail")).filter(|detail| !detail.is_empty());
        Self { status: Some(status), code, detail: detail.unwrap_or_else(|| "no detail given".to_owned()) }
    }

    /// Removes the caller's token from the texts, in case the service quotes it.
    pub(super) fn without(self, token: &str) -> Self {
        let hidden = |text: &str| text.replace(token, "[token]");
        Self { code: hidden(&self.code), detail: hidden(&self.detail), ..self }
    }

    /// Adds to the detail that the command gave up, although the service asked it to wait for another `wait`.
    pub(super) fn with_remaining_wait(self, wait: Duration) -> Self {
        let detail = format!("{} (gave up; the service asks to wait another {} s)", self.detail, wait.as_secs());
        Self { detail, ..self }
    }

    /// Returns whether the credential does not allow the request. A retry cannot succeed then.
    pub(crate) fn is_about_the_credential(&self) -> bool {
        matches!(self.status, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }

    /// Returns whether the error concerns one skill only. Other skills can then still be processed.
    pub(crate) fn is_about_a_skill(&self) -> bool {
        let is_other = self.is_about_the_credential() || self.status == Some(StatusCode::TOO_MANY_REQUESTS);
        self.status.is_some_and(|status| status.is_client_error()) && !is_other
    }

    /// Returns whether the error concerns the content of the request. Other content can then still be sent.
    pub(crate) fn is_about_the_content(&self) -> bool {
        matches!(self.status, Some(StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY))
    }
}

/// Returns the messages of an error and its causes, without the URL of the request.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut causes = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        causes = format!("{causes}: {inner}");
        cause = inner.source();
    }
    causes
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{status}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl Error for ServiceError {}
