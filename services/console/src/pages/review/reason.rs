//! An admin's reason to read the changes of other users. It is stored in the session and goes into the audit log, and
//! never into an address.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use knowhow_domain::{Error, Result, SubmissionId};
use knowhow_ops::review::{self, GetSubmission};
use knowhow_ops::{Ctx, tenants};
use serde::Deserialize;

use crate::failure::{Failure, sentence, status_of};
use crate::form::AdminForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::Block;
use crate::typed::TypedText;
use crate::visit::Visit;

/// A reason, and the page to show then.
#[derive(Deserialize)]
pub struct GivenReason {
    /// Empty to see only the own changes again.
    reason: String,
    next: String,
}

#[derive(Template)]
#[template(path = "review_reason.html")]
struct ReasonPage {
    layout: Layout,
    next: String,
    reason: String,
    error: Option<Block>,
    /// Texts of a form that was sent without a reason.
    typed: Vec<TypedText>,
}

/// Stores the reason, or removes it.
pub async fn state(form: AdminForm<GivenReason>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields: GivenReason { reason, next } } = form;
    let given = Some(reason.trim()).filter(|reason| !reason.is_empty());
    let done = if given.is_some() { "reason-given" } else { "reason-removed" };
    match tenants::state_console_reason(&visit.ctx, &visit.secret, given).await {
        Ok(()) => Ok(see(&link::after(link::inside(Some(&next)), done))),
        Err(error @ Error::Malformed(_)) => {
            let layout = Layout::new(&visit, Section::Review, "Review");
            let shown = Some(sentence(&error));
            page_with(status_of(&error), &ReasonPage { layout, next, reason, error: shown, typed: Vec::new() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks for the reason to read a change of another user. `typed` is the comment of a decision that was sent without one.
pub fn ask(visit: &Visit, next: String, typed: Vec<TypedText>) -> Result<HttpResponse, Failure> {
    let layout = Layout::new(visit, Section::Review, "Review");
    let status = if typed.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    page_with(status, &ReasonPage { layout, next, reason: String::new(), error: None, typed })
}

/// Returns the reason of the session, if the visitor is an admin.
pub fn of(visit: &Visit) -> Option<String> {
    visit.reason.clone().filter(|_| visit.ctx.principal.require_admin().is_ok())
}

/// Returns the reason to read or decide on a submission. The reason to view a user counts for that user's submissions only.
pub async fn for_submission(visit: &Visit, id: SubmissionId) -> Result<Option<String>> {
    let Some((user, name)) = &visit.viewed else { return Ok(of(visit)) };
    let principal = visit.ctx.principal.looking_at(*user, name)?;
    let there = Ctx { principal, ..visit.ctx.clone() };
    match review::get_submission(&there, &GetSubmission { id, reason: None }).await {
        Ok(found) if found.submission.user == *name => Ok(of(visit)),
        Ok(_) | Err(Error::NotFound { .. } | Error::Malformed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether a request failed only because the admin has given no reason for it yet.
pub fn is_missing(visit: &Visit, reason: Option<&str>, error: &Error) -> bool {
    matches!(error, Error::Malformed(_)) && reason.is_none() && visit.ctx.principal.require_admin().is_ok()
}
