//! `/v1/directives`: how the prompts of this service say to do their work, in the tenant's own words.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use knowhow_domain::{DirectiveName, DirectiveVersion};
use knowhow_ops::directives::{self, DirectiveDetail, Directives, PutDirective, PutDirectiveAnswer};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::admin::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, if_match, json, versioned};

/// Which version of a directive.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// An older version of the tenant's, or 0 for the built-in text; by default the one in force.
    #[param(minimum = 0)]
    version: Option<i32>,
}

/// List directives
///
/// All of them, each as prompts have it now: the tenant's own, or the built-in one. Without their texts.
#[utoipa::path(
    operation_id = "list_directives",
    tag = "admin",
    params(TenantQuery),
    responses((status = 200, description = "All directives", body = Directives), ReadProblems)
)]
#[get("")]
pub(crate) async fn list_directives(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &directives::list_directives(&ctx).await?))
}

/// Read a directive
///
/// As prompts have it now, or in an older version; with the built-in text beside it.
#[utoipa::path(
    operation_id = "get_directive",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The prompt that it is part of", example = "dream-gaps"),
        VersionQuery,
        TenantQuery
    ),
    responses((status = 200, description = "The directive; `ETag` is its version", body = DirectiveDetail), ReadProblems)
)]
#[get("/{name}")]
pub(crate) async fn get_directive(
    ctx: AdminCaller,
    name: Path<String>,
    query: Query<VersionQuery>,
) -> Result<HttpResponse, ApiError> {
    let found = directives::get_directive(&ctx, &name, query.version).await?;
    Ok(versioned(StatusCode::OK, found.directive.version, &found))
}

/// Put a directive
///
/// Puts a text of the tenant's in place of the built-in one: how the work is to be done. What is data and gives no instructions,
/// the form of the answer, and what is taken of it stay as they are. Prompts have it from the next question on. The same text
/// again makes no version, so a request may be sent again.
#[utoipa::path(
    operation_id = "put_directive",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The prompt that it is part of"),
        ("If-Match" = Option<String>, Header, description = "The version in force, in quotes, e.g. `\"3\"`"),
        TenantQuery
    ),
    request_body = PutDirective,
    responses((status = 200, description = "Written, or unchanged", body = PutDirectiveAnswer), WriteProblems)
)]
#[put("/{name}")]
pub(crate) async fn put_directive(
    ctx: AdminCaller,
    name: Path<String>,
    body: JsonBody<PutDirective>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let input = PutDirective { expected_version: base.or(body.0.expected_version), ..body.0 };
    let put = directives::put_directive(&ctx, &name, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, put.directive.version, &put))
}

/// Go back to the built-in directive
///
/// Prompts have the built-in text from the next question on. The tenant's versions stay readable.
#[utoipa::path(
    operation_id = "delete_directive",
    tag = "admin",
    params(
        // Without the list of names, of which the interactive page would choose the first.
        ("name" = String, Path, description = "The prompt that it is part of, as `GET /v1/directives` lists it"),
        TenantQuery
    ),
    responses((status = 204, description = "The built-in text is in force"), WriteProblems)
)]
#[delete("/{name}")]
pub(crate) async fn delete_directive(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    directives::delete_directive(&ctx, &name).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the versions of a directive
///
/// The tenant's own, the newest first, with who wrote each; also where the built-in text is in force again. The last 50 are kept.
#[utoipa::path(
    operation_id = "list_directive_versions",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The prompt that it is part of", example = "dream-gaps"),
        PageQuery,
        TenantQuery
    ),
    responses((status = 200, description = "A page, newest first", body = Page<DirectiveVersion>), ReadProblems)
)]
#[get("/{name}/versions")]
pub(crate) async fn list_directive_versions(
    ctx: AdminCaller,
    name: Path<String>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &directives::list_directive_versions(&ctx, &name, &page).await?))
}
