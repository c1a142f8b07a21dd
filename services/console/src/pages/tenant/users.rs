//! The users of the tenant, to suspend and to resume.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::{Error, User};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants::{self, Suspend};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::AdminForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When, size};
use crate::visit::{AdminVisit, Visit};

#[derive(Default, Deserialize)]
pub struct UserFilters {
    #[serde(default)]
    prefix: String,
    cursor: Option<String>,
}

/// The user to suspend, with the reason.
#[derive(Deserialize)]
pub struct Suspended {
    user: String,
    reason: String,
}

/// The user to resume.
#[derive(Deserialize)]
pub struct Named {
    user: String,
}

struct UserRow {
    name: Line,
    /// The name as forms send it.
    raw: String,
    skills: i32,
    stored: String,
    created: When,
    held: Option<Line>,
    suspended: Option<Line>,
    is_self: bool,
}

#[derive(Template)]
#[template(path = "users.html")]
struct Users {
    layout: Layout,
    rows: Vec<UserRow>,
    prefix: String,
    error: Option<Block>,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists the users.
pub async fn list(visit: AdminVisit, filters: Query<UserFilters>) -> Result<HttpResponse, Failure> {
    respond(&visit.0, filters.into_inner(), None).await
}

/// Suspends a user.
pub async fn suspend(form: AdminForm<Suspended>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    let input = Suspend { reason: fields.reason };
    match tenants::suspend_user(&visit.ctx, &fields.user, &input).await {
        Ok(_) => Ok(see(&listed(&fields.user, "suspended"))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => respond(&visit, UserFilters { prefix: fields.user, cursor: None }, Some(error)).await,
    }
}

/// Resumes a user.
pub async fn resume(form: AdminForm<Named>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    tenants::resume_user(&visit.ctx, &fields.user).await?;
    Ok(see(&listed(&fields.user, "resumed")))
}

/// Returns the page of a user after an action.
fn listed(user: &str, done: &str) -> String {
    format!("/console/users{}", link::query(&[("prefix", Some(user)), ("done", Some(done))]))
}

async fn respond(visit: &Visit, filters: UserFilters, error: Option<Error>) -> Result<HttpResponse, Failure> {
    let UserFilters { prefix, cursor } = filters;
    let given = Some(prefix.trim()).filter(|prefix| !prefix.is_empty());
    let query = PageQuery { limit: None, cursor: cursor.clone() };
    let found = tenants::list_users(&visit.ctx, given, &query).await?;
    let path = |root: &str, cursor: Option<&str>| {
        format!("{root}/users{}", link::query(&[("prefix", given), ("cursor", cursor)]))
    };
    let calls = [
        ApiCall::get(path("/v1/admin", cursor.as_deref())),
        ApiCall::new("PUT", "/v1/admin/users/USER/suspension").with_body(json!({ "reason": "..." })),
    ];
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &Users {
            layout: Layout::new(visit, Section::Users, "Users").with_calls(visit, calls),
            is_first: cursor.is_none(),
            first: path("/console", None),
            next: found.next_cursor.as_deref().map(|cursor| path("/console", Some(cursor))),
            rows: found.items.into_iter().map(|user| row_of(visit, user)).collect(),
            error: error.as_ref().map(sentence),
            prefix,
        },
    )
}

fn row_of(visit: &Visit, user: User) -> UserRow {
    UserRow {
        name: user.external_id.as_str().into(),
        is_self: visit.ctx.principal.external_id() == Some(user.external_id.as_str()),
        raw: user.external_id,
        skills: user.skill_count,
        stored: size(u64::try_from(user.stored_bytes).unwrap_or(0)),
        created: visit.when(user.created_at),
        held: user.hold_reason.map(Line),
        suspended: user.suspended_reason.map(Line),
    }
}
