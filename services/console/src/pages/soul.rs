//! The soul: how the agent behaves towards this user, to read and to edit, with its versions.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::{Error, Result, Soul};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::sessions::soul::{self, ListSouls, PutSoul};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, compare_versions};
use crate::failure::{Failure, explain, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When, unix_lines};
use crate::visit::Visit;

const CONFLICT: &str =
    "Your text is in the form, and the current one beneath it. Save again to replace the current text.";

struct SoulVersionRow {
    version: i32,
    by: Line,
    at: Option<When>,
    tainted: bool,
    /// Difference from the version before; `None` if there was no time to compute it, or if the next page has that
    /// version.
    rows: Option<Vec<Row>>,
}

#[derive(Template)]
#[template(path = "soul.html")]
struct SoulPage {
    layout: Layout,
    version: i32,
    tainted: bool,
    typed: String,
    /// The current text, if the form has another one.
    current: Option<Block>,
    error: Option<Block>,
    versions: Vec<SoulVersionRow>,
    is_first: bool,
    next: Option<String>,
}

#[derive(Default, Deserialize)]
pub struct SoulPosition {
    cursor: Option<String>,
}

#[derive(Deserialize)]
pub struct TypedSoul {
    text: String,
    version: i32,
}

/// A form that was rejected.
struct RejectedSoul {
    error: Error,
    typed: String,
}

/// Shows the soul.
pub async fn show(visit: Visit, position: Query<SoulPosition>) -> Result<HttpResponse, Failure> {
    respond(&visit, position.into_inner(), None).await
}

/// Saves the soul.
pub async fn save(form: Form<TypedSoul>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let input = PutSoul { text: unix_lines(&fields.text), expected_version: Some(fields.version) };
    match soul::put_soul(&visit.ctx, &input).await {
        Ok(saved) if saved.version == fields.version => Ok(see("/console/soul?done=unchanged")),
        Ok(_) => Ok(see("/console/soul?done=saved")),
        Err(error @ Error::Internal(_)) => Err(error.into()),
        Err(error) => respond(&visit, SoulPosition::default(), Some(RejectedSoul { error, typed: input.text })).await,
    }
}

async fn respond(
    visit: &Visit,
    position: SoulPosition,
    rejected: Option<RejectedSoul>,
) -> Result<HttpResponse, Failure> {
    let page = PageQuery { limit: Some(20), cursor: position.cursor.clone() };
    let found = soul::list_souls(&visit.ctx, &ListSouls { page, ..ListSouls::default() }).await?;
    let souls: Vec<Soul> = found.items.into_iter().map(|listed| listed.soul).collect();
    let is_first = position.cursor.is_none();
    let current = match souls.first().filter(|_| is_first) {
        Some(newest) => newest.clone(),
        None => soul::get_soul(&visit.ctx).await?,
    };
    let body = json!({ "text": "...", "expected_version": current.version });
    let calls =
        [ApiCall::get("/v1/soul"), ApiCall::get("/v1/soul/versions"), ApiCall::new("PUT", "/v1/soul").with_body(body)];
    let status = rejected.as_ref().map_or(StatusCode::OK, |rejected| status_of(&rejected.error));
    let (error, typed) = match rejected {
        Some(RejectedSoul { error, typed }) => (Some(explain(&error, CONFLICT)), Some(typed)),
        None => (None, None),
    };
    page_with(
        status,
        &SoulPage {
            layout: Layout::new(visit, Section::Soul, "Soul").with_calls(visit, calls),
            version: current.version,
            tainted: current.tainted,
            current: typed.is_some().then(|| current.text.as_str().into()),
            typed: typed.unwrap_or(current.text),
            error,
            versions: version_rows(visit, souls).await?,
            is_first,
            next: found.next_cursor.map(|cursor| format!("/console/soul?cursor={}", link::encode(&cursor))),
        },
    )
}

async fn version_rows(visit: &Visit, souls: Vec<Soul>) -> Result<Vec<SoulVersionRow>> {
    let texts: Vec<String> = souls.iter().map(|soul| soul.text.clone()).collect();
    let is_whole = souls.last().is_none_or(|oldest| oldest.version <= 1);
    let compared = compare_versions(visit, texts, is_whole.then(String::new)).await?;
    let row = |(soul, rows): (Soul, Option<Vec<Row>>)| SoulVersionRow {
        version: soul.version,
        by: soul.updated_by.unwrap_or_default().into(),
        at: soul.updated_at.map(|at| visit.when(at)),
        tainted: soul.tainted,
        rows,
    };
    Ok(souls.into_iter().zip(compared).map(row).collect())
}
