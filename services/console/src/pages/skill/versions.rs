//! The history of a skill: its versions, the difference of two, and rolling back to one.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::{Error, Version};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::skills::{self, Diff, ListVersions, Rollback};
use serde::Deserialize;
use serde_json::json;

use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, read_rows};
use crate::failure::{Failure, explain, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, page_with, see};
use crate::shown::{Block, Line, When};
use crate::visit::Visit;

const CONFLICT: &str = "The skill was not rolled back. Look at the version below, then decide again.";

struct SkillVersionRow {
    version: i32,
    change: &'static str,
    actor: Line,
    session: Option<Line>,
    tainted: bool,
    tainted_by: Line,
    approved_by: Option<Line>,
    at: When,
    is_current: bool,
    /// True if the form selects this version as the older one to compare.
    is_before: bool,
    /// Comparison with the version before.
    diff: Option<String>,
}

#[derive(Template)]
#[template(path = "skill_versions.html")]
struct Versions {
    layout: Layout,
    head: Head,
    rows: Vec<SkillVersionRow>,
    /// The version that must still be current when a version is restored.
    current: i32,
    error: Option<Block>,
    is_first: bool,
    first: String,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "skill_diff.html")]
struct Difference {
    layout: Layout,
    head: Head,
    from: i32,
    to: i32,
    rows: Vec<Row>,
    left_out: usize,
}

#[derive(Default, Deserialize)]
pub struct VersionPosition {
    cursor: Option<String>,
    /// The current version, as the first page showed it.
    current: Option<i32>,
}

/// The two versions to compare.
#[derive(Deserialize)]
pub struct Pair {
    from: i32,
    to: i32,
}

/// The version to restore, and the version that was current when the page was shown.
#[derive(Deserialize)]
pub struct Restored {
    version: i32,
    current: i32,
}

/// A list to show, perhaps after a rejected action.
struct Listing {
    name: String,
    position: VersionPosition,
    error: Option<Error>,
}

/// Lists the versions.
pub async fn show(
    visit: Visit,
    skill: Path<String>,
    position: Query<VersionPosition>,
) -> Result<HttpResponse, Failure> {
    list(&visit, Listing { name: skill.into_inner(), position: position.into_inner(), error: None }).await
}

/// Restores an earlier version as a new one.
pub async fn roll_back(skill: Path<String>, form: Form<Restored>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let name = skill.into_inner();
    let (version, expected_version) = (fields.version, Some(fields.current));
    let done =
        match skills::rollback_skill(&visit.ctx, &Rollback { skill: name.clone(), version, expected_version }).await {
            Ok(saved) if saved.unchanged => "unchanged",
            Ok(_) => "rolled-back",
            Err(Error::Waits(_)) => "waits",
            Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => return Err(error.into()),
            Err(error) => {
                return list(&visit, Listing { name, position: VersionPosition::default(), error: Some(error) }).await;
            }
        };
    Ok(see(&format!("{}/versions?done={done}", link::skill(&name))))
}

async fn list(visit: &Visit, listing: Listing) -> Result<HttpResponse, Failure> {
    let Listing { name, position, error } = listing;
    let page = PageQuery { limit: None, cursor: position.cursor.clone() };
    let found = skills::list_versions(&visit.ctx, &ListVersions { skill: name.clone(), page }).await?;
    let newest = found.items.first().map_or(0, |version| version.version);
    let current = position.current.filter(|_| position.cursor.is_some()).unwrap_or(newest);
    let path = link::skill(&name);
    let row = |version: &Version| row_of(visit, version, current, &path);
    let body = json!({ "version": 1, "expected_version": current });
    let api = api_path(&name);
    let calls =
        [ApiCall::get(format!("{api}/versions")), ApiCall::new("POST", format!("{api}/rollback")).with_body(body)];
    let next = found.next_cursor.as_deref();
    let status = error.as_ref().map_or(StatusCode::OK, status_of);
    page_with(
        status,
        &Versions {
            layout: Layout::new(visit, Section::Skills, name.as_str()).with_calls(visit, calls),
            head: Head::named(visit, &name, Tab::Versions),
            rows: found.items.iter().map(row).collect(),
            current,
            error: error.as_ref().map(|error| explain(error, CONFLICT)),
            is_first: position.cursor.is_none(),
            first: format!("{path}/versions"),
            next: next.map(|cursor| format!("{path}/versions?current={current}&cursor={}", link::encode(cursor))),
        },
    )
}

fn row_of(visit: &Visit, version: &Version, current: i32, path: &str) -> SkillVersionRow {
    let number = version.version;
    SkillVersionRow {
        version: number,
        change: version.change.as_str(),
        actor: version.actor.as_str().into(),
        session: version.session.as_deref().map(Line::from),
        tainted: version.tainted,
        tainted_by: version.tainted_by.join(", ").into(),
        approved_by: version.approved_by.as_deref().map(Line::from),
        at: visit.when(version.created_at),
        is_current: number == current,
        is_before: number == current - 1,
        diff: (number > 1).then(|| format!("{path}/diff?from={}&to={number}", number - 1)),
    }
}

/// Compares two versions.
pub async fn compare(visit: Visit, skill: Path<String>, pair: Query<Pair>) -> Result<HttpResponse, Failure> {
    let (name, from, to) = (skill.into_inner(), pair.from.min(pair.to), pair.from.max(pair.to));
    let query = Diff { skill: name.clone(), from: Some(from), to: Some(to), path: None };
    let compared = skills::diff_versions(&visit.ctx, &query).await?;
    let calls = [ApiCall::get(format!("{}/diff?from={from}&to={to}", api_path(&name)))];
    page(&Difference {
        layout: Layout::new(&visit, Section::Skills, name.as_str()).with_calls(&visit, calls),
        head: Head::named(&visit, &name, Tab::Versions),
        from,
        to,
        rows: read_rows(&visit, compared.text).await?,
        left_out: compared.left_out,
    })
}
