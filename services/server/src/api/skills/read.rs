//! Endpoints that list and load skills and read the raw SKILL.md.

use actix_web::http::header;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get};
use knowhow_domain::IndexItem;
use knowhow_ops::context::page::Page;
use knowhow_ops::skills::{self, ListSkills, LoadSkill, LoadedSkill};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{ApiError, CallerProblems, Query, ReadProblems, UserCaller, file, not_modified};

/// Options for loading.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LoadQuery {
    /// Whether to read the skill without counting a use.
    peek: Option<bool>,
}

/// List skills: one page of the index
///
/// Returns a page of the caller's skills, by name or, with `ranked`, by importance.
#[utoipa::path(
    operation_id = "list_skills",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(ListSkills),
    responses(
        (status = 200, description = "A page; `ETag` identifies its bytes", body = Page<IndexItem>),
        (status = 304, description = "`If-None-Match` names this page"),
        CallerProblems
    )
)]
#[get("")]
pub(crate) async fn list_skills(
    ctx: UserCaller,
    query: Query<ListSkills>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = skills::list_skills(&ctx, &query).await?;
    match not_modified(&request, &format!("\"{}\"", page.digest())) {
        Ok(unchanged) => Ok(unchanged),
        Err(mut response) => Ok(response.insert_header(header::ContentType::json()).body(page.to_json()?)),
    }
}

/// Load a skill, counted as use
///
/// Returns the whole skill and counts a use unless `peek` is set. The name of a merged skill returns its successor.
#[utoipa::path(
    operation_id = "load_skill",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        LoadQuery
    ),
    responses((status = 200, description = "The skill; `ETag` is its version", body = LoadedSkill), ReadProblems)
)]
#[get("/{skill}")]
pub(crate) async fn load_skill(
    ctx: UserCaller,
    skill: Path<String>,
    query: Query<LoadQuery>,
) -> Result<HttpResponse, ApiError> {
    let query = LoadSkill { skill: skill.into_inner(), peek: query.peek.unwrap_or_default() };
    let loaded = skills::load_skill(&ctx, &query).await?;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, format!("\"{}\"", loaded.version())));
    Ok(response.insert_header(header::ContentType::json()).body(loaded.to_json()?))
}

/// Read the raw SKILL.md
///
/// SKILL.md byte for byte. Never counts as use.
#[utoipa::path(
    operation_id = "read_skill_md",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting")
    ),
    responses(
        (status = 200, description = "The file; `ETag` is its SHA-256", body = String, content_type = "text/markdown"),
        (status = 304, description = "`If-None-Match` names this file"),
        ReadProblems
    )
)]
#[get("/{skill}/SKILL.md")]
pub(crate) async fn read_skill_md(
    ctx: UserCaller,
    skill: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(file(&request, skills::read_skill_md(&ctx, &skill).await?))
}
