//! What a skill has to do with other skills, and what is known of it.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, put};
use knowhow_domain::graph::RelationType;
use knowhow_ops::graph::{self, Knowledge, PutImportance, RelationPath, Relations};

use crate::http::{ApiError, JsonBody, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json};

/// Show what is known of a skill
///
/// Memories that name it, skills that it has to do with, its use and importance on each of the last 90 days, and how its
/// uses turned out.
#[utoipa::path(
    operation_id = "get_knowledge",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting")),
    responses((status = 200, description = "What is known", body = Knowledge), ReadProblems)
)]
#[get("/{skill}/knowledge")]
pub(crate) async fn get_knowledge(ctx: UserCaller, skill: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::get_knowledge(&ctx, &skill).await?))
}

/// Set a skill's importance
///
/// What its importance begins from, and how it fades while the skill is idle; what is absent follows the tenant's settings. It
/// makes no version.
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
/// Those that somebody declared, those that the texts of skills say, and those computed from memories that name both; the
/// strongest first, at most 200.
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
/// Says what one skill is to another. `complements` says the same of both. `often_used_with` is only ever computed.
#[utoipa::path(
    operation_id = "declare_relation",
    tag = "graph",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("type" = RelationType, Path, description = "What it is to the other one"),
        ("other" = String, Path, description = "The other skill, by name or id"),
        WriteHeaders
    ),
    responses(
        (status = 201, description = "Declared"),
        (status = 204, description = "It was declared already"),
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
/// Takes back what was declared, or computed. What a skill's own text says goes with that text.
#[utoipa::path(
    operation_id = "remove_relation",
    tag = "graph",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("type" = RelationType, Path, description = "What it is to the other one"),
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
