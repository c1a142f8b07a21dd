//! Errors, as pages in plain words.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpResponse, ResponseError};
use askama::Template;
use knowhow_domain::Error;

use crate::login_page;
use crate::shown::{Block, Line};
use crate::typed::TypedText;

/// An error that ends a request with a page of its own.
#[derive(Debug)]
pub struct Failure {
    error: Error,
    /// The login page, if a page was requested without a session.
    login: Option<String>,
    /// The form that was not accepted.
    form: Option<Box<RejectedForm>>,
}

/// A form that was not accepted.
#[derive(Debug)]
struct RejectedForm {
    /// The page to return to after a login.
    page: String,
    typed: Vec<TypedText>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, login: None, form: None }
    }
}

impl Failure {
    /// Creates the failure of a page without a session. It redirects to the login page.
    pub fn without_session(error: Error, login: String) -> Self {
        Self { login: Some(login), ..error.into() }
    }

    /// Creates the failure of a form, and keeps the texts of the form. Without a session, the login leads to `page`.
    pub fn of_form(error: Error, page: String, body: &[u8]) -> Self {
        Self { form: Some(Box::new(RejectedForm { page, typed: TypedText::of_form(body) })), ..error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    title: &'static str,
    detail: Block,
    names: Vec<Line>,
    typed: &'a [TypedText],
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
        if let Some(login) = &self.login {
            return HttpResponse::SeeOther().insert_header((header::LOCATION, login.as_str())).finish();
        }
        if let Error::Internal(source) = &self.error {
            tracing::error!(error = %source, "internal error of a console page");
        }
        let status = self.status_code();
        let html = match self.form.as_deref() {
            Some(form) if status == StatusCode::UNAUTHORIZED => login_page::render_for_form(&form.page, &form.typed),
            _ => self.page(status).render(),
        };
        let mut response = HttpResponse::build(status);
        if let Error::RateLimited { retry_after, .. } = &self.error {
            response.insert_header((header::RETRY_AFTER, retry_after.to_string()));
        }
        response.content_type("text/html; charset=utf-8").body(html.unwrap_or_default())
    }
}

impl Failure {
    fn page(&self, status: StatusCode) -> FailurePage<'_> {
        let names = match &self.error {
            Error::NotFound { candidates, .. } | Error::AmbiguousName { candidates } => candidates.as_slice(),
            _ => &[],
        };
        FailurePage {
            title: title_of(status),
            detail: sentence(&self.error),
            names: names.iter().map(Line::from).collect(),
            typed: self.form.as_deref().map_or(&[], |form| &form.typed),
        }
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

/// Returns an error of a form as a sentence. If another version was saved, `advice` follows.
pub fn explain(error: &Error, advice: &str) -> Block {
    match error {
        Error::VersionConflict { current_version } => {
            Block(format!("Version {current_version} was saved while you were editing. {advice}"))
        }
        other => sentence(other),
    }
}
