//! The users of the tenant.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::User;
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants;
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When, size};
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
}

struct UserRow {
    name: Line,
    path: String,
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
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists the users.
pub async fn list(visit: AdminVisit, filters: Query<UserFilters>) -> Result<HttpResponse, Failure> {
    let (visit, filters) = (visit.0, filters.into_inner());
    let given = Some(filters.prefix.trim()).filter(|prefix| !prefix.is_empty());
    let query = PageQuery { limit: None, cursor: filters.cursor.clone() };
    let found = tenants::list_users(&visit.ctx, given, &query).await?;
    let calls = [ApiCall::get(filters.path("/v1/admin", filters.cursor.as_deref()))];
    page(&Users {
        layout: Layout::new(&visit, Section::Users, "Users").with_calls(&visit, calls),
        is_first: filters.cursor.is_none(),
        first: filters.path("/console", None),
        next: found.next_cursor.as_deref().map(|cursor| filters.path("/console", Some(cursor))),
        rows: found.items.into_iter().map(|user| row_of(&visit, user)).collect(),
        prefix: filters.prefix,
    })
}

fn row_of(visit: &Visit, user: User) -> UserRow {
    UserRow {
        path: link::user(&user.external_id),
        is_self: visit.visitor == user.external_id,
        name: user.external_id.into(),
        skills: user.skill_count,
        stored: size(u64::try_from(user.stored_bytes).unwrap_or(0)),
        created: visit.when(user.created_at),
        held: user.hold_reason.map(Line),
        suspended: user.suspended_reason.map(Line),
    }
}
