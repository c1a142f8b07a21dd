//! Memories: the list, and one memory to correct or forget, with its versions.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::{Error, Memory, MemoryKind, MemoryVersion, Result};
use knowhow_ops::review::Whose;
use knowhow_ops::sessions::memories::{self, ChangeMemory, ListMemories};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, compare_versions};
use crate::failure::{Failure, explain, status_of};
use crate::form::{Form, Nothing};
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, page_with, see};
use crate::shown::{Block, Line, When, unix_lines};
use crate::visit::Visit;

const CONFLICT: &str = "Your text is in the form, and the current one is below. Save again to replace the current one.";

#[derive(Default, Deserialize)]
pub struct MemoryFilters {
    kind: Option<String>,
    tag: Option<String>,
    cursor: Option<String>,
}

pub struct MemoryRow {
    path: String,
    content: Block,
    kind: &'static str,
    tags: Vec<Line>,
    importance: String,
    core: bool,
    tainted: bool,
    created: When,
    session: Option<Line>,
}

impl MemoryRow {
    fn of(visit: &Visit, memory: Memory) -> Self {
        Self {
            path: format!("/console/memories/{}", memory.id),
            content: memory.content.into(),
            kind: memory.kind.as_str(),
            tags: memory.tags.into_iter().map(Line).collect(),
            importance: format!("{:.2}", memory.importance),
            core: memory.core,
            tainted: memory.tainted,
            created: visit.when(memory.created_at),
            session: memory.session.map(Line),
        }
    }
}

#[derive(Template)]
#[template(path = "memories.html")]
struct Memories {
    layout: Layout,
    rows: Vec<MemoryRow>,
    kinds: [(&'static str, &'static str); 3],
    kind: String,
    tag: String,
    is_filtered: bool,
    is_first: bool,
    first: String,
    next: Option<String>,
}

const KINDS: [(&str, &str); 3] = [("semantic", "Facts"), ("episodic", "Events"), ("reflection", "Reflections")];

/// Lists memories.
pub async fn list(visit: Visit, filters: Query<MemoryFilters>) -> Result<HttpResponse, Failure> {
    let filters = filters.into_inner();
    let (kind, tag) = (filters.kind.unwrap_or_default(), filters.tag.unwrap_or_default().trim().to_owned());
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let query = ListMemories {
        kind: given(&kind).map(|kind| read_kind(&kind)).transpose()?,
        tag: given(&tag),
        cursor: filters.cursor.clone(),
        ..ListMemories::default()
    };
    let found = memories::list_memories(&visit.ctx, &query).await?;
    let path = |root: &str, cursor: Option<&str>| {
        format!("{root}/memories{}", link::query(&[("kind", Some(&kind)), ("tag", Some(&tag)), ("cursor", cursor)]))
    };
    let calls = [ApiCall::get(path("/v1", filters.cursor.as_deref()))];
    page(&Memories {
        layout: Layout::new(&visit, Section::Memories, "Memories").with_calls(&visit, calls),
        is_filtered: !kind.is_empty() || !tag.is_empty(),
        is_first: filters.cursor.is_none(),
        first: path("/console", None),
        next: found.next_cursor.as_deref().map(|cursor| path("/console", Some(cursor))),
        rows: found.items.into_iter().map(|listed| MemoryRow::of(&visit, listed.memory)).collect(),
        kinds: KINDS,
        kind,
        tag,
    })
}

fn read_kind(kind: &str) -> Result<MemoryKind> {
    kind.parse().map_err(|_| Error::Malformed("kind must be semantic, episodic or reflection".into()))
}

struct MemoryVersionRow {
    version: i32,
    content: Block,
    /// The changes that the next version made.
    rows: Option<Vec<Row>>,
    tags: Line,
    tainted: bool,
    by: Line,
    at: When,
}

#[derive(Template)]
#[template(path = "memory.html")]
struct MemoryPage {
    layout: Layout,
    memory: MemoryRow,
    version: i32,
    typed: TypedMemory,
    versions: Vec<MemoryVersionRow>,
    error: Option<Block>,
}

/// The fields of a memory as a form has them.
#[derive(Deserialize)]
pub struct TypedMemory {
    content: String,
    tags: String,
    /// Present if the box is checked.
    core: Option<String>,
    version: i32,
}

/// Shows a memory.
pub async fn show(visit: Visit, memory: Path<String>) -> Result<HttpResponse, Failure> {
    let memory = memories::get_memory(&visit.ctx, &memory).await?;
    let typed = TypedMemory {
        content: memory.content.clone(),
        tags: memory.tags.join("\n"),
        core: memory.core.then(|| "on".to_owned()),
        version: memory.version,
    };
    respond(&visit, memory, typed, None).await
}

/// Corrects a memory.
pub async fn correct(memory: Path<String>, form: Form<TypedMemory>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let tags = fields.tags.lines().map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned);
    let input = ChangeMemory {
        content: Some(unix_lines(&fields.content)),
        tags: Some(tags.collect()),
        core: Some(fields.core.is_some()),
        expected_version: Some(fields.version),
        ..ChangeMemory::default()
    };
    match memories::change_memory(&visit.ctx, &memory, &input).await {
        Ok(changed) => Ok(see(&format!("/console/memories/{}?done=saved", changed.id))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => {
            let current = memories::get_memory(&visit.ctx, &memory).await?;
            respond(&visit, current, fields, Some(error)).await
        }
    }
}

/// Forgets a memory.
pub async fn forget(memory: Path<String>, form: Form<Nothing>) -> Result<HttpResponse, Failure> {
    memories::delete_memory(&form.visit.ctx, &memory).await?;
    Ok(see("/console/memories?done=forgotten"))
}

async fn respond(
    visit: &Visit,
    memory: Memory,
    typed: TypedMemory,
    error: Option<Error>,
) -> Result<HttpResponse, Failure> {
    let id = memory.id.to_string();
    let found = memories::list_memory_versions(&visit.ctx, &id, &Whose::default()).await?;
    let earlier = found.items.iter().map(|version| version.content.clone());
    let texts = [memory.content.clone()].into_iter().chain(earlier).collect();
    // Without the differences, the page is still of use.
    let compared = compare_versions(visit, texts, None).await.unwrap_or_default();
    let compared = compared.into_iter().chain(std::iter::repeat(None));
    let api = format!("/v1/memories/{id}");
    let body = json!({ "content": memory.content, "expected_version": memory.version });
    let calls = [
        ApiCall::get(api.as_str()),
        ApiCall::get(format!("{api}/versions")),
        ApiCall::new("PATCH", api.as_str()).with_body(body),
        ApiCall::new("DELETE", api.as_str()),
    ];
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &MemoryPage {
            layout: Layout::new(visit, Section::Memories, "Memory").with_calls(visit, calls),
            version: memory.version,
            memory: MemoryRow::of(visit, memory),
            typed,
            versions: found.items.into_iter().zip(compared).map(|versions| version_row(visit, versions)).collect(),
            error: error.as_ref().map(|error| explain(error, CONFLICT)),
        },
    )
}

/// Returns the row of an earlier version. `rows` has the changes that the next version made.
fn version_row(visit: &Visit, (version, rows): (MemoryVersion, Option<Vec<Row>>)) -> MemoryVersionRow {
    MemoryVersionRow {
        rows,
        version: version.version,
        content: version.content.into(),
        tags: version.tags.join(", ").into(),
        tainted: version.tainted,
        by: version.written_by.unwrap_or_default().into(),
        at: visit.when(version.created_at),
    }
}
