//! Deleted skills of the tenant, to restore.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::{ArchiveId, ArchivedSkill, Error};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants::{self, ListArchive, Restore};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::AdminForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When};
use crate::visit::{AdminVisit, Visit};

#[derive(Default, Deserialize)]
pub struct ArchiveFilters {
    #[serde(default)]
    user: String,
    cursor: Option<String>,
}

/// The reason to restore a skill, and the filter of the list.
#[derive(Deserialize)]
pub struct RestoreForm {
    reason: String,
    #[serde(default)]
    user: String,
}

struct ArchiveRow {
    path: String,
    id: String,
    name: Line,
    user: Line,
    versions: i32,
    absorbed_into: Option<Line>,
    deleted_by: Line,
    deleted_at: When,
    /// Day of the final deletion.
    purged_on: String,
}

#[derive(Template)]
#[template(path = "archive.html")]
struct ArchivePage {
    layout: Layout,
    rows: Vec<ArchiveRow>,
    user: String,
    /// Id and typed reason of a skill that could not be restored.
    rejected: Option<(String, String)>,
    error: Option<Block>,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists deleted skills.
pub async fn list(visit: AdminVisit, filters: Query<ArchiveFilters>) -> Result<HttpResponse, Failure> {
    respond(&visit.0, filters.into_inner(), None).await
}

/// Restores a skill.
pub async fn restore(id: Path<ArchiveId>, form: AdminForm<RestoreForm>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    let input = Restore { id: id.into_inner(), reason: fields.reason };
    let filters = ArchiveFilters { user: fields.user, cursor: None };
    match tenants::restore_skill(&visit.ctx, &input).await {
        Ok(_) => Ok(see(&link::after(&path_of("/console", &filters, None), "restored"))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => respond(&visit, filters, Some((input, error))).await,
    }
}

fn path_of(root: &str, filters: &ArchiveFilters, cursor: Option<&str>) -> String {
    format!("{root}/archive{}", link::query(&[("user", Some(filters.user.trim())), ("cursor", cursor)]))
}

async fn respond(
    visit: &Visit,
    filters: ArchiveFilters,
    rejected: Option<(Restore, Error)>,
) -> Result<HttpResponse, Failure> {
    let user = Some(filters.user.trim().to_owned()).filter(|user| !user.is_empty());
    let query = ListArchive { user, page: PageQuery { limit: None, cursor: filters.cursor.clone() } };
    let found = tenants::list_archive(&visit.ctx, &query).await?;
    let calls = [
        ApiCall::get(path_of("/v1/admin", &filters, filters.cursor.as_deref())),
        ApiCall::new("POST", "/v1/admin/archive/ID/restore").with_body(json!({ "reason": "..." })),
    ];
    let error = rejected.as_ref().map(|(_, error)| error);
    page_with(
        error.map_or(StatusCode::OK, status_of),
        &ArchivePage {
            layout: Layout::new(visit, Section::Archive, "Archive").with_calls(visit, calls),
            is_first: filters.cursor.is_none(),
            first: path_of("/console", &filters, None),
            next: found.next_cursor.as_deref().map(|cursor| path_of("/console", &filters, Some(cursor))),
            rows: found.items.into_iter().map(|skill| row_of(visit, skill)).collect(),
            error: error.map(sentence),
            rejected: rejected.map(|(input, _)| (input.id.to_string(), input.reason)),
            user: filters.user,
        },
    )
}

fn row_of(visit: &Visit, skill: ArchivedSkill) -> ArchiveRow {
    ArchiveRow {
        path: format!("/console/archive/{}/restore", skill.id),
        id: skill.id.to_string(),
        name: skill.name.into(),
        user: skill.user.into(),
        versions: skill.versions,
        absorbed_into: skill.absorbed_into.map(Line),
        deleted_by: skill.deleted_by.into(),
        deleted_at: visit.when(skill.deleted_at),
        purged_on: skill.purge_at.format("%Y-%m-%d").to_string(),
    }
}
