//! The API keys of the tenant.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use chrono::{DateTime, Utc};
use knowhow_domain::{ApiKey, Scope};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants;
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::{AdminVisit, Visit};

#[derive(Default, Deserialize)]
pub struct KeyPosition {
    cursor: Option<String>,
}

struct KeyRow {
    name: Line,
    prefix: Line,
    scopes: Vec<&'static str>,
    state: &'static str,
    is_live: bool,
    created: When,
    used: Option<When>,
    expires: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    layout: Layout,
    rows: Vec<KeyRow>,
    is_first: bool,
    first: &'static str,
    next: Option<String>,
}

/// Lists the keys.
pub async fn list(visit: AdminVisit, position: Query<KeyPosition>) -> Result<HttpResponse, Failure> {
    let (visit, cursor) = (visit.0, position.into_inner().cursor);
    let is_first = cursor.is_none();
    let api = format!("/v1/admin/keys{}", link::query(&[("cursor", cursor.as_deref())]));
    let found = tenants::list_keys(&visit.ctx, &PageQuery { limit: None, cursor }).await?;
    page(&Keys {
        layout: Layout::new(&visit, Section::Keys, "API keys").with_calls(&visit, [ApiCall::get(api)]),
        rows: found.items.into_iter().map(|key| row_of(&visit, key)).collect(),
        is_first,
        first: "/console/keys",
        next: found.next_cursor.map(|cursor| format!("/console/keys?cursor={}", link::encode(&cursor))),
    })
}

fn row_of(visit: &Visit, key: ApiKey) -> KeyRow {
    let is_past = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= visit.now());
    let state = match (is_past(key.revoked_at), is_past(key.expires_at)) {
        (true, _) => "revoked",
        (false, true) => "expired",
        (false, false) => "in use",
    };
    KeyRow {
        name: key.name.into(),
        prefix: format!("kh_{}", key.prefix).into(),
        scopes: key.scopes.into_iter().map(Scope::as_str).collect(),
        state,
        is_live: state == "in use",
        created: visit.when(key.created_at),
        used: key.last_used_at.map(|at| visit.when(at)),
        expires: key.expires_at.map(|at| at.format("%Y-%m-%d").to_string()),
    }
}
