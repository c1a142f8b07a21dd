//! Who may call: issuers of tokens, API keys.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, post};
use knowhow_domain::{ApiKey, Issuer, IssuerId, KeyId};
use knowhow_ops::admin::{self, CreateIssuer, CreateKey, CreatedKey, RotateKey};
use knowhow_ops::page::{Page, PageQuery};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Register an issuer of tokens
///
/// One algorithm, with a shared secret or the address of its public keys.
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
    let issuer = admin::create_issuer(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &issuer))
}

/// List issuers
///
/// Without their secrets.
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
    let page = admin::list_issuers(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Remove an issuer
///
/// Its tokens stop working within a second. The issuer of the token that calls cannot be removed with it: 403.
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
    admin::delete_issuer(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Make an API key
///
/// The answer shows the key's text, this once.
#[utoipa::path(
    operation_id = "create_key",
    tag = "admin",
    params(
        TenantQuery
    ),
    request_body = CreateKey,
    responses(
        (status = 201, description = "Made", body = CreatedKey),
        WriteProblems
    )
)]
#[post("/keys")]
pub(crate) async fn create_key(ctx: AdminCaller, body: JsonBody<CreateKey>) -> Result<HttpResponse, ApiError> {
    let key = admin::create_key(&ctx, &body.0).await?;
    Ok(json(StatusCode::CREATED, &key))
}

/// List API keys
///
/// Newest first, without their secrets.
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
    let page = admin::list_keys(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Rotate an API key
///
/// Makes a key of the same name, scopes and end, and shows its text, this once. The one before works on for the hours that are
/// asked for, 24 where nothing is said.
#[utoipa::path(
    operation_id = "rotate_key",
    tag = "admin",
    params(
        ("id" = Uuid, Path, description = "The id of the key whose place is taken"),
        TenantQuery
    ),
    request_body = RotateKey,
    responses(
        (status = 201, description = "Made", body = CreatedKey),
        WriteProblems
    )
)]
#[post("/keys/{id}/rotate")]
pub(crate) async fn rotate_key(
    ctx: AdminCaller,
    id: Path<KeyId>,
    body: JsonBody<RotateKey>,
) -> Result<HttpResponse, ApiError> {
    let key = admin::rotate_key(&ctx, *id, &body.0).await?;
    Ok(json(StatusCode::CREATED, &key))
}

/// Revoke an API key
///
/// It stops working within a second, for good. A key cannot revoke itself: 403.
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
    admin::revoke_key(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}
