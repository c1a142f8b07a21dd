//! Endpoints of a skill's relations, importance and related data.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, put};
use knowhow_domain::graph::RelationType;
use knowhow_ops::graph::{self, Knowledge, PutImportance, RelationPath, Relations};

use crate::http::{ApiError, JsonBody, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json};

/// Read the knowledge about a skill
///
/// Returns the memories that mention it, related skills, its use and importance on each of the last 90 days, and its
/// outcomes.
#[utoipa::path(
    operation_id = "get_knowledge",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting")),
    responses((status = 200, description = "The knowledge about the skill", body = Knowledge), ReadProblems)
)]
#[get("/{skill}/knowledge")]
pub(crate) async fn get_knowledge(ctx: UserCaller, skill: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::get_knowledge(&ctx, &skill).await?))
}

/// Set a skill's importance
///
/// Sets its base importance and how fast it decays while the skill is unused. Absent members follow the tenant's
/// settings. Creates no version.
#[utoipa::path(
    operation_id = "put_importance",
    tag = "graph",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        WriteHeaders
    ),
    request_body = PutImportance,
    responses((status = 204, description = "Set"), WriteProblems)
)]
#[put("/{skill}/importance")]
pub(crate) async fn put_importance(
    ctx: UserCaller,
    skill: Path<String>,
    body: JsonBody<PutImportance>,
) -> Result<HttpResponse, ApiError> {
    graph::put_importance(&ctx, &PutImportance { skill: skill.into_inner(), ..body.0 }).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List a skill's relations
///
/// Declared relations, relations extracted from the texts of skills, and relations computed from memories that mention
/// both. Strongest first, at most 200.
#[utoipa::path(
    operation_id = "list_relations",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting")),
    responses((status = 200, description = "All of them", body = Relations), ReadProblems)
)]
#[get("/{skill}/relations")]
pub(crate) async fn list_relations(ctx: UserCaller, skill: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::list_relations(&ctx, &skill).await?))
}

/// Declare a relation
///
/// Declares a relation from one skill to another. `complements` is symmetric. `often_used_with` is only computed.
#[utoipa::path(
    operation_id = "declare_relation",
    tag = "graph",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("type" = RelationType, Path, description = "The type of the relation"),
        ("other" = String, Path, description = "The other skill, by name or id"),
        WriteHeaders
    ),
    responses(
        (status = 201, description = "Declared"),
        (status = 204, description = "The relation already existed"),
        WriteProblems
    )
)]
#[put("/{skill}/relations/{type}/{other}")]
pub(crate) async fn declare_relation(
    ctx: UserCaller,
    path: Path<(String, RelationType, String)>,
) -> Result<HttpResponse, ApiError> {
    let is_new = graph::declare_relation(&ctx, &relation(path)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT };
    Ok(HttpResponse::build(status).finish())
}

/// Remove a relation
///
/// Deletes a declared or computed relation. Extracted relations disappear when the text no longer states them.
#[utoipa::path(
    operation_id = "remove_relation",
    tag = "graph",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("type" = RelationType, Path, description = "The type of the relation"),
        ("other" = String, Path, description = "The other skill, by name or id"),
        WriteHeaders
    ),
    responses((status = 204, description = "Removed"), WriteProblems)
)]
#[delete("/{skill}/relations/{type}/{other}")]
pub(crate) async fn remove_relation(
    ctx: UserCaller,
    path: Path<(String, RelationType, String)>,
) -> Result<HttpResponse, ApiError> {
    graph::remove_relation(&ctx, &relation(path)).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn relation(path: Path<(String, RelationType, String)>) -> RelationPath {
    let (skill, kind, other) = path.into_inner();
    RelationPath { skill, kind, other }
}
