//! Endpoints of directives, `/v1/directives`: a tenant's own texts that replace instructions in this service's
//! prompts.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use knowhow_domain::{DirectiveName, DirectiveVersion};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::learning::directives::{self, DirectiveDetail, Directives, PutDirective, PutDirectiveAnswer};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::tenants::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, if_match, json, versioned};

/// Selection of a directive's version.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// An older version of the tenant's directive, or 0 for the built-in text. Default: the version in use.
    #[param(minimum = 0)]
    version: Option<i32>,
}

/// List directives
///
/// All directives as prompts currently use them: the tenant's own or the built-in one. Without their texts.
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
/// Returns the version that prompts use, or an older one, and the built-in text.
#[utoipa::path(
    operation_id = "get_directive",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The name of the directive", example = "dream-gaps"),
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

/// Set a directive
///
/// Replaces the built-in text with the tenant's instructions to the model. The rest of the prompt cannot be changed:
/// the marking of data as data, the form of the answer and its validation. Applies from the next prompt on. Setting the
/// same text again creates no version, so the request may be retried.
#[utoipa::path(
    operation_id = "put_directive",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The name of the directive"),
        ("If-Match" = Option<String>, Header, description = "The version in use, in quotes, e.g. `\"3\"`"),
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

/// Restore the built-in directive
///
/// Prompts use the built-in text from now on. The tenant's versions stay readable.
#[utoipa::path(
    operation_id = "delete_directive",
    tag = "admin",
    params(
        // The schema is a plain string: for an enum, the interactive page would preselect its first name.
        ("name" = String, Path, description = "The name of the directive, as `GET /v1/directives` lists it"),
        TenantQuery
    ),
    responses((status = 204, description = "The built-in text is in use"), WriteProblems)
)]
#[delete("/{name}")]
pub(crate) async fn delete_directive(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    directives::delete_directive(&ctx, &name).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the versions of a directive
///
/// The tenant's last 50 versions with their authors, newest first, even if the built-in text is in use.
#[utoipa::path(
    operation_id = "list_directive_versions",
    tag = "admin",
    params(
        ("name" = DirectiveName, Path, description = "The name of the directive", example = "dream-gaps"),
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
