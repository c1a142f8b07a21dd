//! Endpoints of memories, recall and the soul: `/v1/memories`, `/v1/recall`, `/v1/soul`.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};
use knowhow_domain::{Memory, MemoryVersion, Soul};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::recall::{Recall, RecalledItems};
use knowhow_ops::review::{self, ApproveText, Whose};
use knowhow_ops::sessions::memories::{self, ChangeMemory, ListMemories, ListedMemory, SaveMemory};
use knowhow_ops::sessions::soul::{self, ListSouls, ListedSoul, PutSoul};

use crate::api::review::{ReasonHeader, reason};
use crate::http::{
    ApiError, CallerProblems, JsonBody, OptionalJson, Query, ReadProblems, UrlParameters, UserCaller, WriteHeaders,
    WriteProblems, if_match, json, versioned,
};

/// Save a memory
///
/// Stores a fact, an event or a reflection. A core memory is included in every snapshot.
#[utoipa::path(
    operation_id = "save_memory",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(WriteHeaders),
    request_body = SaveMemory,
    responses((status = 201, description = "Kept", body = Memory), WriteProblems)
)]
#[post("/v1/memories")]
pub(crate) async fn save_memory(ctx: UserCaller, body: JsonBody<SaveMemory>) -> Result<HttpResponse, ApiError> {
    let memory = memories::save_memory(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &memory))
}

/// List memories
///
/// The user's memories, newest first. An admin of the tenant with a reason (`Knowhow-Reason`) can list another user's.
#[utoipa::path(
    operation_id = "list_memories",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(ListMemories, ReasonHeader),
    responses((status = 200, description = "A page", body = Page<ListedMemory>), ReadProblems)
)]
#[get("/v1/memories")]
pub(crate) async fn list_memories(
    ctx: UserCaller,
    query: Query<ListMemories>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListMemories { reason: reason(request.headers())?, ..query.0 };
    Ok(json(StatusCode::OK, &memories::list_memories(&ctx, &query).await?))
}

/// Read a memory
///
/// Returns the memory's current version. Earlier ones are at `versions` below it.
#[utoipa::path(
    operation_id = "get_memory",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(("memory" = String, Path, description = "Id")),
    responses((status = 200, description = "The memory; `ETag` is its version", body = Memory), CallerProblems)
)]
#[get("/v1/memories/{memory}")]
pub(crate) async fn get_memory(ctx: UserCaller, memory: Path<String>) -> Result<HttpResponse, ApiError> {
    let memory = memories::get_memory(&ctx, &memory).await?;
    Ok(versioned(StatusCode::OK, memory.version, &memory))
}

/// Change a memory
///
/// Changes the given fields as the memory's next version; its id stays. New sessions and recall use the new text
/// immediately. A change without effect makes no version. A tainted memory cannot be changed before its approval.
#[utoipa::path(
    operation_id = "change_memory",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(
        ("memory" = String, Path, description = "Id"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = ChangeMemory,
    responses((status = 200, description = "Changed, or unchanged", body = Memory), WriteProblems)
)]
#[patch("/v1/memories/{memory}")]
pub(crate) async fn change_memory(
    ctx: UserCaller,
    memory: Path<String>,
    body: JsonBody<ChangeMemory>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let input = ChangeMemory { expected_version: base.or(body.0.expected_version), ..body.0 };
    let memory = memories::change_memory(&ctx, &memory, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, memory.version, &memory))
}

/// List a memory's earlier versions
///
/// Newest first, without the current version; at most 10 are kept. An admin of the tenant with a reason
/// (`Knowhow-Reason`) can list another user's.
#[utoipa::path(
    operation_id = "list_memory_versions",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(("memory" = String, Path, description = "Id"), Whose, ReasonHeader),
    responses((status = 200, description = "All of them", body = Page<MemoryVersion>), ReadProblems)
)]
#[get("/v1/memories/{memory}/versions")]
pub(crate) async fn list_memory_versions(
    ctx: UserCaller,
    address: UrlParameters<String, Whose>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let whose = Whose { reason: reason(request.headers())?, ..address.query };
    Ok(json(StatusCode::OK, &memories::list_memory_versions(&ctx, &address.path, &whose).await?))
}

fn approval(body: OptionalJson<ApproveText>, whose: Whose, request: &HttpRequest) -> Result<ApproveText, ApiError> {
    Ok(ApproveText { whose: Whose { reason: reason(request.headers())?, ..whose }, ..body.0 })
}

/// Approve a memory
///
/// Removes the mark permanently, even if its session is marked again; prompts may then include the memory. With
/// `expected_version` the approval covers exactly the text that was read. Its author cannot approve it.
#[utoipa::path(
    operation_id = "approve_memory",
    tag = "review",
    security(("bearer" = ["review", "reviewer", "memories"])),
    params(("memory" = String, Path, description = "Id"), Whose, ReasonHeader),
    request_body(content = Option<ApproveText>, description = "Optional"),
    responses((status = 200, description = "Approved, or not marked", body = Memory), WriteProblems)
)]
#[post("/v1/memories/{memory}/approve")]
pub(crate) async fn approve_memory(
    ctx: UserCaller,
    address: UrlParameters<String, Whose>,
    body: OptionalJson<ApproveText>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = approval(body, address.query, &request)?;
    Ok(json(StatusCode::OK, &review::approve_memory(&ctx, &address.path, &input).await?))
}

/// Delete a memory
///
/// Deletes a memory immediately. New sessions get a snapshot without it.
#[utoipa::path(
    operation_id = "delete_memory",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(("memory" = String, Path, description = "Id"), WriteHeaders),
    responses((status = 204, description = "Deleted"), WriteProblems)
)]
#[delete("/v1/memories/{memory}")]
pub(crate) async fn delete_memory(ctx: UserCaller, memory: Path<String>) -> Result<HttpResponse, ApiError> {
    memories::delete_memory(&ctx, &memory).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Recall memories and skills
///
/// Finds memories and skills for a question, by words in any grammatical form and by meaning.
#[utoipa::path(
    operation_id = "recall",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(Recall),
    responses((status = 200, description = "Best first", body = RecalledItems), CallerProblems)
)]
#[get("/v1/recall")]
pub(crate) async fn recall(ctx: UserCaller, query: Query<Recall>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &knowhow_ops::recall::recall(&ctx, &query).await?))
}

/// Read the soul
///
/// The user's preferences for the agent's behaviour. Empty, with version 0, until the user writes it.
#[utoipa::path(
    operation_id = "get_soul",
    tag = "memories",
    security(("bearer" = ["memories"])),
    responses((status = 200, description = "The soul; `ETag` is its version", body = Soul), CallerProblems)
)]
#[get("/v1/soul")]
pub(crate) async fn get_soul(ctx: UserCaller) -> Result<HttpResponse, ApiError> {
    let soul = soul::get_soul(&ctx).await?;
    Ok(versioned(StatusCode::OK, soul.version, &soul))
}

/// List the soul's versions
///
/// Newest first. An admin of the tenant with a reason (`Knowhow-Reason`) can list another user's.
#[utoipa::path(
    operation_id = "list_souls",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(ListSouls, PageQuery, ReasonHeader),
    responses((status = 200, description = "A page", body = Page<ListedSoul>), ReadProblems)
)]
#[get("/v1/soul/versions")]
pub(crate) async fn list_souls(
    ctx: UserCaller,
    query: Query<ListSouls>,
    page: Query<PageQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListSouls { reason: reason(request.headers())?, page: page.0, ..query.0 };
    Ok(json(StatusCode::OK, &soul::list_souls(&ctx, &query).await?))
}

/// Approve a version of the soul
///
/// Removes the version's mark. Prompts use it until there is a later unmarked version. A version's text never changes,
/// so the approval covers exactly that text; other versions keep their marks. Its author cannot approve it.
#[utoipa::path(
    operation_id = "approve_soul",
    tag = "review",
    security(("bearer" = ["review", "reviewer", "memories"])),
    params(("version" = i32, Path, minimum = 1, description = "The version"), Whose, ReasonHeader),
    request_body(content = Option<ApproveText>, description = "Optional"),
    responses((status = 200, description = "Approved, or not marked", body = Soul), WriteProblems)
)]
#[post("/v1/soul/versions/{version}/approve")]
pub(crate) async fn approve_soul(
    ctx: UserCaller,
    address: UrlParameters<i32, Whose>,
    body: OptionalJson<ApproveText>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = approval(body, address.query, &request)?;
    Ok(json(StatusCode::OK, &review::approve_soul(&ctx, address.path, &input).await?))
}

/// Write the soul
///
/// Replaces the whole soul and keeps every version. Sessions use it from the next snapshot on.
#[utoipa::path(
    operation_id = "put_soul",
    tag = "memories",
    security(("bearer" = ["memories"])),
    params(
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = PutSoul,
    responses((status = 200, description = "Written, or unchanged", body = Soul), WriteProblems)
)]
#[put("/v1/soul")]
pub(crate) async fn put_soul(
    ctx: UserCaller,
    body: JsonBody<PutSoul>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let input = PutSoul { expected_version: base.or(body.0.expected_version), ..body.0 };
    let soul = soul::put_soul(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, soul.version, &soul))
}
