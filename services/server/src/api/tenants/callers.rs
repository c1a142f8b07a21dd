//! Endpoints for API keys and token issuers.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, post};
use knowhow_domain::{ApiKey, Issuer, IssuerId, KeyId};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, CreateIssuer, CreateKey, CreatedKey, RotateKey};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Register an issuer of tokens
///
/// The issuer uses one algorithm, with either a shared secret or the URL of its public keys.
#[utoipa::path(
    operation_id = "create_issuer",
    tag = "admin",
    params(
        TenantQuery
    ),
    request_body = CreateIssuer,
    responses(
        (status = 201, description = "Registered", body = Issuer),
        WriteProblems
    )
)]
#[post("/issuers")]
pub(crate) async fn create_issuer(ctx: AdminCaller, body: JsonBody<CreateIssuer>) -> Result<HttpResponse, ApiError> {
    let issuer = tenants::create_issuer(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &issuer))
}

/// List issuers
///
/// Secrets are not included.
#[utoipa::path(
    operation_id = "list_issuers",
    tag = "admin",
    params(
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, by `iss`", body = Page<Issuer>),
        ReadProblems
    )
)]
#[get("/issuers")]
pub(crate) async fn list_issuers(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    let page = tenants::list_issuers(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Remove an issuer
///
/// The issuer's tokens stop working within a second. A request cannot remove the issuer of its own token: 403.
#[utoipa::path(
    operation_id = "delete_issuer",
    tag = "admin",
    params(
        ("id" = Uuid, Path, description = "The issuer's id"),
        TenantQuery
    ),
    responses(
        (status = 204, description = "Removed"),
        WriteProblems
    )
)]
#[delete("/issuers/{id}")]
pub(crate) async fn delete_issuer(ctx: AdminCaller, id: Path<IssuerId>) -> Result<HttpResponse, ApiError> {
    tenants::delete_issuer(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Create an API key
///
/// Only this response contains the key's text.
#[utoipa::path(
    operation_id = "create_key",
    tag = "admin",
    params(
        TenantQuery
    ),
    request_body = CreateKey,
    responses(
        (status = 201, description = "Created", body = CreatedKey),
        WriteProblems
    )
)]
#[post("/keys")]
pub(crate) async fn create_key(ctx: AdminCaller, body: JsonBody<CreateKey>) -> Result<HttpResponse, ApiError> {
    let key = tenants::create_key(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &key))
}

/// List API keys
///
/// Newest first. Secrets are not included.
#[utoipa::path(
    operation_id = "list_keys",
    tag = "admin",
    params(
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<ApiKey>),
        ReadProblems
    )
)]
#[get("/keys")]
pub(crate) async fn list_keys(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    let page = tenants::list_keys(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Rotate an API key
///
/// Creates a key with the same name, scopes and expiry. Only this response contains its text. The old key keeps working
/// for the requested number of hours, 24 by default.
#[utoipa::path(
    operation_id = "rotate_key",
    tag = "admin",
    params(
        ("id" = Uuid, Path, description = "The id of the key to replace"),
        TenantQuery
    ),
    request_body = RotateKey,
    responses(
        (status = 201, description = "Created", body = CreatedKey),
        WriteProblems
    )
)]
#[post("/keys/{id}/rotate")]
pub(crate) async fn rotate_key(
    ctx: AdminCaller,
    id: Path<KeyId>,
    body: JsonBody<RotateKey>,
) -> Result<HttpResponse, ApiError> {
    let key = tenants::rotate_key(&ctx, *id, &body.0).await?;
    Ok(json(StatusCode::CREATED, &key))
}

/// Revoke an API key
///
/// The key stops working within a second, permanently. A key cannot revoke itself: 403.
#[utoipa::path(
    operation_id = "revoke_key",
    tag = "admin",
    params(
        ("id" = Uuid, Path, description = "The key's id"),
        TenantQuery
    ),
    responses(
        (status = 204, description = "Revoked"),
        WriteProblems
    )
)]
#[delete("/keys/{id}")]
pub(crate) async fn revoke_key(ctx: AdminCaller, id: Path<KeyId>) -> Result<HttpResponse, ApiError> {
    tenants::revoke_key(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}
