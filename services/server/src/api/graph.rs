//! Endpoints of the graph, entities and analytics: `/v1/graph`, `/v1/entities`, `/v1/analytics/skills`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_domain::graph::Entity;
use knowhow_ops::context::page::Page;
use knowhow_ops::graph::{self, AnalyseSkills, Graph, ListEntities, LookAround, SkillAnalytics};

use crate::http::{ApiError, Query, ReadProblems, UserCaller, json};

/// Read a part of the graph
///
/// Returns the skills and entities within one or two steps of a node, and their relations. At most 500 nodes and 2,000
/// edges, and whether there are more.
#[utoipa::path(
    operation_id = "get_graph",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(LookAround),
    responses((status = 200, description = "The part of the graph", body = Graph), ReadProblems)
)]
#[get("/v1/graph")]
pub(crate) async fn get_graph(ctx: UserCaller, query: Query<LookAround>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::look_around(&ctx, &query.0).await?))
}

/// List entities
///
/// The entities that memories mention, including skills, newest first.
#[utoipa::path(
    operation_id = "list_entities",
    tag = "graph",
    security(("bearer" = ["memories"])),
    params(ListEntities),
    responses((status = 200, description = "A page", body = Page<Entity>), ReadProblems)
)]
#[get("/v1/entities")]
pub(crate) async fn list_entities(ctx: UserCaller, query: Query<ListEntities>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::list_entities(&ctx, &query.0).await?))
}

/// Analyse the use of skills
///
/// Returns the used skills with their outcomes, the time from a use to its outcome, and the unused skills (never, or
/// not for 30 days). Also lists skills with problems: fewer than half of three or more outcomes were good, or
/// conversations had a correction, a thumbs down or a quality below good. Also counts how often turns offered each
/// skill, and how often it was ignored or did not apply.
#[utoipa::path(
    operation_id = "analyse_skills",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(AnalyseSkills),
    responses((status = 200, description = "The figures", body = SkillAnalytics), ReadProblems)
)]
#[get("/v1/analytics/skills")]
pub(crate) async fn analyse_skills(ctx: UserCaller, query: Query<AnalyseSkills>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::analyse_skills(&ctx, &query.0).await?))
}
