//! `/v1/memories`, `/v1/recall`, `/v1/soul`.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, post, put};
use knowhow_domain::{Memory, Soul};
use knowhow_ops::memories::{self, ListMemories, ListedMemory, SaveMemory};
use knowhow_ops::page::{Page, PageQuery};
use knowhow_ops::recall::{Recall, RecalledItems};
use knowhow_ops::review::{self, ApproveText, Whose};
use knowhow_ops::soul::{self, ListSouls, ListedSoul, PutSoul};

use super::submissions::{ReasonHeader, reason};
use crate::http::{
    Address, ApiError, CallerProblems, JsonBody, OptionalJson, Query, ReadProblems, UserCaller, WriteHeaders,
    WriteProblems, if_match, json, versioned,
};

/// Save a memory
///
/// Keeps a fact, an event or a reflection. A core memory is in every snapshot.
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
    let kept = memories::save_memory(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &kept))
}

/// List memories
///
/// The user's memories, the newest first. An admin of the tenant who says why (`Knowhow-Reason`) sees those of a user.
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

fn approval(body: OptionalJson<ApproveText>, whose: Whose, request: &HttpRequest) -> Result<ApproveText, ApiError> {
    Ok(ApproveText { whose: Whose { reason: reason(request.headers())?, ..whose }, ..body.0 })
}

/// Approve a memory
///
/// It is no longer marked, also where its session is marked again, and may stand in prompts. Its text never changes, so this is
/// what was read. Its writer cannot approve it.
#[utoipa::path(
    operation_id = "approve_memory",
    tag = "review",
    security(("bearer" = ["review", "reviewer", "memories"])),
    params(("memory" = String, Path, description = "Id"), Whose, ReasonHeader),
    request_body(content = Option<ApproveText>, description = "May be left out"),
    responses((status = 200, description = "Approved, or clean already", body = Memory), WriteProblems)
)]
#[post("/v1/memories/{memory}/approve")]
pub(crate) async fn approve_memory(
    ctx: UserCaller,
    address: Address<String, Whose>,
    body: OptionalJson<ApproveText>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = approval(body, address.query, &request)?;
    Ok(json(StatusCode::OK, &review::approve_memory(&ctx, &address.path, &input).await?))
}

/// Delete a memory
///
/// Forgets a memory, at once; sessions that begin from now on are given a snapshot without it.
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
/// Memories and skills for a question, by words in any of their forms and by meaning.
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
/// How the user wants the agent to be. Empty, at version 0, where the user has said nothing.
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

/// Read the soul's versions
///
/// Every version of the soul, the newest first. An admin of the tenant who says why (`Knowhow-Reason`) sees those of a user.
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
/// It is no longer marked, and prompts have it while no later version is clean. A version's text never changes, so this is what
/// was read; other versions keep their marks. Its writer cannot approve it.
#[utoipa::path(
    operation_id = "approve_soul",
    tag = "review",
    security(("bearer" = ["review", "reviewer", "memories"])),
    params(("version" = i32, Path, minimum = 1, description = "The version"), Whose, ReasonHeader),
    request_body(content = Option<ApproveText>, description = "May be left out"),
    responses((status = 200, description = "Approved, or clean already", body = Soul), WriteProblems)
)]
#[post("/v1/soul/versions/{version}/approve")]
pub(crate) async fn approve_soul(
    ctx: UserCaller,
    address: Address<i32, Whose>,
    body: OptionalJson<ApproveText>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = approval(body, address.query, &request)?;
    Ok(json(StatusCode::OK, &review::approve_soul(&ctx, address.path, &input).await?))
}

/// Write the soul
///
/// Writes the soul, whole; every version is kept. Sessions have it that begin with the next snapshot.
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
