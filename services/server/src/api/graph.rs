//! `/v1/graph`, `/v1/entities`, `/v1/analytics/skills`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_domain::graph::Entity;
use knowhow_ops::graph::{self, AnalyseSkills, Graph, ListEntities, LookAround, SkillAnalytics};
use knowhow_ops::page::Page;

use crate::http::{ApiError, Query, ReadProblems, UserCaller, json};

/// Show a part of the graph
///
/// Skills and the things that memories name, with what they have to do with each other, one or two steps around something: at
/// most 500 nodes and 2,000 edges, and whether there is more.
#[utoipa::path(
    operation_id = "get_graph",
    tag = "graph",
    security(("bearer" = ["skills:read"])),
    params(LookAround),
    responses((status = 200, description = "That part", body = Graph), ReadProblems)
)]
#[get("/v1/graph")]
pub(crate) async fn get_graph(ctx: UserCaller, query: Query<LookAround>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &graph::look_around(&ctx, &query.0).await?))
}

/// List entities
///
/// The things that memories name, skills among them, the newest first.
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

/// Show what became of skills
///
/// Which skills are used and how that turns out, how long after a use its outcome was known, which were never used or not for
/// 30 days, and which are in trouble: three outcomes of which fewer than half went well, or conversations that had a correction,
/// a thumbs down, or a quality below good. Also how often turns offered each skill, and it was ignored or did not apply.
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
