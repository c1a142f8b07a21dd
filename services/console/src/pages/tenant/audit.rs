//! The audit log of the tenant.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::AuditEntry;
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants::{self, AuditFilter, ListAudit};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::{AdminVisit, Visit};

#[derive(Default, Deserialize)]
pub struct EntryFilters {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    user: String,
    cursor: Option<String>,
}

struct EntryRow {
    at: When,
    actor: Line,
    action: Line,
    target: Line,
    user: Line,
    detail: Line,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Audit {
    layout: Layout,
    rows: Vec<EntryRow>,
    filters: EntryFilters,
    is_filtered: bool,
    is_first: bool,
    first: String,
    next: Option<String>,
}

impl EntryFilters {
    fn path(&self, root: &str, cursor: Option<&str>) -> String {
        let query = [
            ("actor", Some(&*self.actor)),
            ("action", Some(&*self.action)),
            ("user", Some(&*self.user)),
            ("cursor", cursor),
        ];
        format!("{root}/audit{}", link::query(&query))
    }
}

/// Lists the entries.
pub async fn list(visit: AdminVisit, filters: Query<EntryFilters>) -> Result<HttpResponse, Failure> {
    let (visit, filters) = (visit.0, filters.into_inner());
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let filter = AuditFilter {
        actor: given(&filters.actor),
        action: given(&filters.action),
        user: given(&filters.user),
        ..AuditFilter::default()
    };
    let is_filtered = filter.actor.is_some() || filter.action.is_some() || filter.user.is_some();
    let page_query = PageQuery { limit: None, cursor: filters.cursor.clone() };
    let found = tenants::list_audit(&visit.ctx, &ListAudit { filter, page: page_query }).await?;
    let calls = [ApiCall::get(filters.path("/v1/admin", filters.cursor.as_deref()))];
    page(&Audit {
        layout: Layout::new(&visit, Section::Audit, "Audit log").with_calls(&visit, calls),
        rows: found.items.into_iter().map(|entry| row_of(&visit, entry)).collect(),
        is_filtered,
        is_first: filters.cursor.is_none(),
        first: filters.path("/console", None),
        next: found.next_cursor.as_deref().map(|cursor| filters.path("/console", Some(cursor))),
        filters,
    })
}

fn row_of(visit: &Visit, entry: AuditEntry) -> EntryRow {
    let is_empty = entry.detail.as_object().is_none_or(serde_json::Map::is_empty);
    EntryRow {
        at: visit.when(entry.at),
        actor: entry.actor.into(),
        action: entry.action.into(),
        target: entry.target.into(),
        user: entry.user.unwrap_or_default().into(),
        detail: if is_empty { Line::default() } else { entry.detail.to_string().into() },
    }
}
