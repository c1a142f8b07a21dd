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

impl UserFilters {
    fn path(&self, root: &str, cursor: Option<&str>) -> String {
        format!("{root}/users{}", link::query(&[("prefix", Some(self.prefix.trim())), ("cursor", cursor)]))
    }

    /// Returns the same part of the list, after an action.
    fn after(&self, done: &str) -> String {
        link::after(&self.path("/console", self.cursor.as_deref()), done)
    }
}

/// The user to suspend, with the reason.
#[derive(Deserialize)]
pub struct Suspended {
    user: String,
    reason: String,
    #[serde(flatten)]
    filters: UserFilters,
}

/// The user to resume.
#[derive(Deserialize)]
pub struct Named {
    user: String,
    #[serde(flatten)]
    filters: UserFilters,
}

/// A suspension that was rejected.
struct Rejected {
    user: String,
    reason: String,
    error: Error,
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
    /// The reason that was typed to suspend this user, if it was rejected.
    typed: Option<String>,
}

#[derive(Template)]
#[template(path = "users.html")]
struct Users {
    layout: Layout,
    rows: Vec<UserRow>,
    prefix: String,
    cursor: Option<String>,
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
    let Suspended { user, reason, filters } = fields;
    let input = Suspend { reason };
    match tenants::suspend_user(&visit.ctx, &user, &input).await {
        Ok(_) => Ok(see(&filters.after("suspended"))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => respond(&visit, filters, Some(Rejected { user, reason: input.reason, error })).await,
    }
}

/// Resumes a user.
pub async fn resume(form: AdminForm<Named>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    tenants::resume_user(&visit.ctx, &fields.user).await?;
    Ok(see(&fields.filters.after("resumed")))
}

async fn respond(visit: &Visit, filters: UserFilters, rejected: Option<Rejected>) -> Result<HttpResponse, Failure> {
    let given = Some(filters.prefix.trim()).filter(|prefix| !prefix.is_empty());
    let query = PageQuery { limit: None, cursor: filters.cursor.clone() };
    let found = tenants::list_users(&visit.ctx, given, &query).await?;
    let error = rejected.as_ref().map(|rejected| &rejected.error);
    let calls = [
        ApiCall::get(filters.path("/v1/admin", filters.cursor.as_deref())),
        ApiCall::new("PUT", "/v1/admin/users/USER/suspension").with_body(json!({ "reason": "..." })),
    ];
    page_with(
        error.map_or(StatusCode::OK, status_of),
        &Users {
            layout: Layout::new(visit, Section::Users, "Users").with_calls(visit, calls),
            is_first: filters.cursor.is_none(),
            first: filters.path("/console", None),
            next: found.next_cursor.as_deref().map(|cursor| filters.path("/console", Some(cursor))),
            rows: found.items.into_iter().map(|user| row_of(visit, user, rejected.as_ref())).collect(),
            error: error.map(sentence),
            prefix: filters.prefix,
            cursor: filters.cursor,
        },
    )
}

fn row_of(visit: &Visit, user: User, rejected: Option<&Rejected>) -> UserRow {
    let rejected = rejected.filter(|rejected| rejected.user == user.external_id);
    UserRow {
        typed: rejected.map(|rejected| rejected.reason.clone()),
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
