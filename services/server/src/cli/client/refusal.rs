//! Why a request failed.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::address::shown;
use super::answer::{Answer, Bounds};

/// The service's refusal, or what is wrong with its answer.
#[derive(Debug)]
pub(in crate::cli) struct Refusal {
    /// `None` if there was no answer that can be used.
    pub(in crate::cli) status: Option<StatusCode>,
    /// The problem's slug, e.g. `quota-exceeded`.
    pub(in crate::cli) code: String,
    pub(in crate::cli) detail: String,
}

impl Refusal {
    /// Describes an answer that cannot be used, or none.
    pub(in crate::cli) fn because(detail: impl Into<String>) -> Self {
        Self { status: None, code: String::new(), detail: detail.into() }
    }

    /// Describes a service that cannot be reached. The causes name no other address, which may hold credentials.
    pub(super) fn unreachable(address: &str, error: reqwest::Error) -> Self {
        Self::because(format!("the service at {address} cannot be reached ({})", causes(error)))
    }

    /// Describes a service that did not begin to answer.
    pub(super) fn silent(address: &str, time: Duration) -> Self {
        let seconds = time.as_secs();
        Self::because(format!(
            "the service at {address} did not answer within {seconds} s; --timeout SECONDS waits longer"
        ))
    }

    /// Describes a service that stops in the middle of an answer, or sends a byte now and then.
    pub(super) fn slow(bytes: u64, time: Duration) -> Self {
        let seconds = time.as_secs();
        let sent = if bytes == 0 { "nothing".to_owned() } else { format!("only {bytes} bytes") };
        Self::because(format!(
            "the service sent {sent} within {seconds} s, in the middle of its answer; --timeout SECONDS waits longer"
        ))
    }

    /// Describes an answer that takes too long as a whole.
    pub(super) fn endless(time: Duration) -> Self {
        let seconds = time.as_secs();
        Self::because(format!("the answer did not end within {seconds} s; --timeout SECONDS waits longer"))
    }

    /// Describes a body over its bound.
    pub(super) fn too_large(most: u64) -> Self {
        Self::because(format!(
            "the answer is larger than {most} bytes, the limit of its kind; nothing more of it was read"
        ))
    }

    /// Describes a body that breaks off.
    pub(super) fn broken(error: reqwest::Error) -> Self {
        Self::because(format!("the answer broke off ({})", causes(error)))
    }

    /// Describes a body of another shape.
    pub(super) fn unreadable(error: serde_json::Error) -> Self {
        Self::because(format!("the answer cannot be read: {error}"))
    }

    /// Describes a list with too many pages.
    pub(super) fn endless_list(pages: usize) -> Self {
        Self::because(format!("the list does not end: it was given up after {pages} pages; ask for less of it"))
    }

    /// Describes a list that leads back to an earlier page.
    pub(super) fn repeated_cursor() -> Self {
        Self::because("the list does not end: its next cursor is one that was used already, or is too long")
    }

    /// Describes a redirect, which is not followed.
    pub(super) fn redirected(response: &Response) -> Self {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let target = location.and_then(|location| response.url().join(location).ok());
        let target = target.map_or("elsewhere".to_owned(), |target| shown(&target));
        let detail = format!(
            "the service redirects to {target}, and redirects are not followed; if that is the service, give its address with \
             --url or KNOWHOW_URL"
        );
        Self { status: Some(response.status()), code: "redirect".to_owned(), detail }
    }

    /// Reads the refusal that a response describes.
    pub(super) async fn read(response: Response, timeout: Duration) -> Self {
        let answer = Answer::new(response, timeout);
        let status = answer.status();
        let problem: Value = answer.json(Bounds::PROBLEM).await.unwrap_or_default();
        let text = |member: &str| problem[member].as_str().unwrap_or_default().to_owned();
        let code = text("type").trim_start_matches("/problems/").to_owned();
        let detail = Some(text("detail")).filter(|detail| !detail.is_empty());
        Self { status: Some(status), code, detail: detail.unwrap_or_else(|| "no detail given".to_owned()) }
    }

    /// Removes the caller's token, which a service may quote.
    pub(super) fn without(self, token: &str) -> Self {
        let hidden = |text: &str| text.replace(token, "[token]");
        Self { code: hidden(&self.code), detail: hidden(&self.detail), ..self }
    }

    /// Adds that the command gave up instead of waiting for `wait` more.
    pub(super) fn after_waiting(self, wait: Duration) -> Self {
        let detail = format!("{} (given up; the service asks to wait {} s more)", self.detail, wait.as_secs());
        Self { detail, ..self }
    }

    /// Whether the credential does not allow the request, so that another try cannot help.
    pub(in crate::cli) fn is_about_the_credential(&self) -> bool {
        matches!(self.status, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }

    /// Whether the refusal is about one skill, so that other skills can go on.
    pub(in crate::cli) fn is_about_a_skill(&self) -> bool {
        let is_other = self.is_about_the_credential() || self.status == Some(StatusCode::TOO_MANY_REQUESTS);
        self.status.is_some_and(|status| status.is_client_error()) && !is_other
    }

    /// Whether the refusal is about the content of the request, so that other content can be sent.
    pub(in crate::cli) fn is_about_the_content(&self) -> bool {
        matches!(self.status, Some(StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY))
    }
}

/// Returns all causes of an error, without the address of the request.
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{status}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl Error for Refusal {}
