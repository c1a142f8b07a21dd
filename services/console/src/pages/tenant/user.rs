//! A user of the tenant: stored data and use, sessions to end, and the actions of an admin.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, Path};
use askama::Template;
use futures_util::stream::unfold;
use knowhow_domain::tenants::usage::UserDetail;
use knowhow_domain::{Error, Result, Scope, SessionId, UserId};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants::{self, EraseQuery, HoldUser, ListUserSessions, Suspend, ViewUser};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::{AdminForm, Nothing};
use crate::layout::{Layout, Section};
use crate::link;
use crate::pages::sessions::SessionRow;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When, size};
use crate::visit::{AdminVisit, Visit};

/// A reason of an admin.
#[derive(Deserialize)]
pub struct Stated {
    reason: String,
}

/// The name of the user, typed again, and the reason to erase the user.
#[derive(Deserialize)]
pub struct Erased {
    name: String,
    reason: String,
    user_id: UserId,
}

/// A session to end.
#[derive(Deserialize)]
pub struct EndedSession {
    session: SessionId,
}

struct OpenSession {
    id: String,
    row: SessionRow,
}

#[derive(Template)]
#[template(path = "user.html")]
struct UserPage {
    layout: Layout,
    name: Line,
    path: String,
    id: String,
    created: When,
    is_self: bool,
    may_view: bool,
    held: Option<Line>,
    suspended: Option<Line>,
    facts: Vec<(&'static str, String)>,
    last_message: Option<When>,
    sessions: Vec<OpenSession>,
    has_more_sessions: bool,
    audit: String,
    error: Option<Block>,
    rejected: Option<Rejected>,
}

/// Shows a user.
pub async fn show(visit: AdminVisit, user: Path<String>) -> Result<HttpResponse, Failure> {
    respond(&visit.0, &user, None).await
}

/// Begins to view the pages of the user.
pub async fn view(user: Path<String>, form: AdminForm<Stated>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields: Stated { reason } } = form;
    let view = ViewUser { user: &user, reason: &reason };
    let done = tenants::view_user_in_console(&visit.ctx, &visit.secret, view).await;
    finish(&visit, &user, Sent { form: "view", reason, next: "/console?done=viewing".into() }, done).await
}

/// Suspends the user.
pub async fn suspend(user: Path<String>, form: AdminForm<Stated>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields: Stated { reason } } = form;
    let done = tenants::suspend_user(&visit.ctx, &user, &Suspend { reason: reason.clone() }).await;
    finish(&visit, &user, Sent { form: "suspend", reason, next: after(&user, "suspended") }, done).await
}

/// Resumes the user.
pub async fn resume(user: Path<String>, form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    tenants::resume_user(&form.visit.ctx, &user).await?;
    Ok(see(&after(&user, "resumed")))
}

/// Protects the user from erasure.
pub async fn hold(user: Path<String>, form: AdminForm<Stated>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields: Stated { reason } } = form;
    let done = tenants::hold_user(&visit.ctx, &user, &HoldUser { reason: reason.clone() }).await;
    finish(&visit, &user, Sent { form: "hold", reason, next: after(&user, "held") }, done).await
}

/// Allows an erasure of the user again.
pub async fn release(user: Path<String>, form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    tenants::release_user(&form.visit.ctx, &user).await?;
    Ok(see(&after(&user, "released")))
}

/// Ends a session of the user.
pub async fn end_session(user: Path<String>, form: AdminForm<EndedSession>) -> Result<HttpResponse, Failure> {
    tenants::end_user_session(&form.visit.ctx, &user, form.fields.session).await?;
    Ok(see(&after(&user, "session-ended")))
}

/// Erases the user, if the name was typed correctly.
pub async fn erase(user: Path<String>, form: AdminForm<Erased>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields: Erased { name, reason, user_id } } = form;
    let query = EraseQuery { reason: reason.clone(), user_id: Some(user_id) };
    let done = if name.trim() == *user {
        tenants::erase_user(&visit.ctx, &user, &query).await
    } else {
        Err(Error::Malformed("the typed name is not the name of this user, so the user was not erased".into()))
    };
    finish(&visit, &user, Sent { form: "erase", reason, next: "/console/users?done=erased".into() }, done).await
}

/// Sends all data of the user as a zip. A form begins it, because an export is an entry of the audit log.
pub async fn export(user: Path<String>, form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    let archive = tenants::export_user(&form.visit.ctx, &user).await?;
    let name = format!("attachment; filename*=UTF-8''{}.zip", link::encode(&user));
    // An error ends the response early, so that the browser reports a failed download.
    let chunks = unfold(archive, async |mut archive| {
        let chunk = archive.recv().await?;
        Some((chunk.map(Bytes::from).map_err(std::io::Error::other), archive))
    });
    Ok(HttpResponse::Ok()
        .content_type("application/zip")
        .insert_header((header::CONTENT_DISPOSITION, name))
        .streaming(Box::pin(chunks)))
}

/// Returns the page of the user after an action.
fn after(user: &str, done: &str) -> String {
    link::after(&link::user(user), done)
}

/// A form that was sent.
struct Sent {
    form: &'static str,
    reason: String,
    /// The page to show if the form is accepted.
    next: String,
}

/// Redirects after an accepted form, or shows the user with the error and the typed reason. Errors that no other input
/// can avoid have a page of their own.
async fn finish<T>(visit: &Visit, user: &str, sent: Sent, done: Result<T>) -> Result<HttpResponse, Failure> {
    match done {
        Ok(_) => Ok(see(&sent.next)),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => respond(visit, user, Some(Rejected { form: sent.form, reason: sent.reason, error })).await,
    }
}

/// A form that was rejected.
struct Rejected {
    form: &'static str,
    reason: String,
    error: Error,
}

impl UserPage {
    /// Returns the reason that was typed into a form, if that form was rejected.
    fn typed(&self, form: &str) -> &str {
        let rejected = self.rejected.as_ref().filter(|rejected| rejected.form == form);
        rejected.map_or("", |rejected| &rejected.reason)
    }
}

async fn respond(visit: &Visit, user: &str, rejected: Option<Rejected>) -> Result<HttpResponse, Failure> {
    let UserDetail { user, stored, used } = tenants::get_user(&visit.ctx, user).await?;
    let query = ListUserSessions {
        user: user.external_id.clone(),
        open: Some(true),
        page: PageQuery { limit: Some(10), cursor: None },
    };
    let open = tenants::list_user_sessions(&visit.ctx, &query).await?;
    let count = |number: i64| number.to_string();
    let facts = vec![
        ("Skills", user.skill_count.to_string()),
        ("Stored text", size(u64::try_from(user.stored_bytes).unwrap_or(0))),
        ("Versions of skills", count(stored.versions)),
        ("Memories", count(stored.memories)),
        ("Sessions", count(stored.sessions)),
        ("Waiting changes", count(stored.waiting_submissions)),
        ("Turns, 30 days", count(used.turns)),
        ("Skills loaded, 30 days", count(used.skill_views)),
        ("Model tokens, 30 days", count(used.dream_tokens + used.judge_tokens)),
    ];
    page_with(
        rejected.as_ref().map_or(StatusCode::OK, |rejected| status_of(&rejected.error)),
        &UserPage {
            layout: Layout::new(visit, Section::Users, user.external_id.as_str())
                .with_calls(visit, calls_of(&user.external_id)),
            path: link::user(&user.external_id),
            id: user.id.to_string(),
            created: visit.when(user.created_at),
            is_self: visit.visitor == user.external_id,
            may_view: visit.visitor != user.external_id && visit.ctx.principal.require(Scope::Review).is_ok(),
            audit: format!("/console/audit{}", link::query(&[("user", Some(&user.external_id))])),
            name: user.external_id.into(),
            held: user.hold_reason.map(Line),
            suspended: user.suspended_reason.map(Line),
            facts,
            last_message: used.last_message_at.map(|at| visit.when(at)),
            has_more_sessions: open.next_cursor.is_some(),
            sessions: open
                .items
                .iter()
                .map(|session| OpenSession { id: session.id.to_string(), row: SessionRow::of(visit, session) })
                .collect(),
            error: rejected.as_ref().map(|rejected| sentence(&rejected.error)),
            rejected,
        },
    )
}

/// Returns the requests of the REST API for the page and its actions.
fn calls_of(user: &str) -> [ApiCall; 7] {
    let api = format!("/v1/admin/users/{}", link::encode(user));
    let reason = json!({ "reason": "..." });
    [
        ApiCall::get(api.as_str()),
        ApiCall::get(format!("{api}/sessions?open=true")),
        ApiCall::new("DELETE", format!("{api}/sessions/SESSION")),
        ApiCall::new("PUT", format!("{api}/suspension")).with_body(reason.clone()),
        ApiCall::new("PUT", format!("{api}/hold")).with_body(reason),
        ApiCall::get(format!("{api}/export")),
        ApiCall::new("DELETE", format!("{api}?reason=...")),
    ]
}
