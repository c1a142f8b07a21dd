//! Errors, as pages in plain words.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpResponse, ResponseError};
use askama::Template;
use knowhow_domain::Error;

use crate::shown::{Block, Line};

/// An error that ends a request with a page of its own.
#[derive(Debug)]
pub struct Failure {
    error: Error,
    /// The login page, if a page was requested without a session.
    login: Option<String>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, login: None }
    }
}

impl Failure {
    /// Creates the failure of a page without a session. It redirects to the login page.
    pub fn without_session(error: Error, login: String) -> Self {
        Self { error, login: Some(login) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage {
    title: &'static str,
    detail: Block,
    names: Vec<Line>,
}

/// Returns the status of an error.
pub fn status_of(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn title_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "Please log in",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => "Changed in the meantime",
        StatusCode::TOO_MANY_REQUESTS => "Too many requests",
        StatusCode::SERVICE_UNAVAILABLE => "Not available at the moment",
        StatusCode::INTERNAL_SERVER_ERROR => "Something went wrong here",
        _ => "This cannot be done",
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        status_of(&self.error)
    }

    fn error_response(&self) -> HttpResponse {
        if let Some(next) = &self.login {
            return HttpResponse::SeeOther().insert_header((header::LOCATION, next.as_str())).finish();
        }
        if let Error::Internal(source) = &self.error {
            tracing::error!(error = %source, "internal error of a console page");
        }
        let status = self.status_code();
        let names = match &self.error {
            Error::NotFound { candidates, .. } | Error::AmbiguousName { candidates } => candidates.as_slice(),
            _ => &[],
        };
        let page = FailurePage {
            title: title_of(status),
            detail: sentence(&self.error),
            names: names.iter().map(Line::from).collect(),
        };
        let mut response = HttpResponse::build(status);
        if let Error::RateLimited { retry_after, .. } = &self.error {
            response.insert_header((header::RETRY_AFTER, retry_after.to_string()));
        }
        response.content_type("text/html; charset=utf-8").body(page.render().unwrap_or_default())
    }
}

/// Returns an error as a sentence.
pub fn sentence(error: &Error) -> Block {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    Block(format!("{first}{}{end}", letters.as_str()))
}
