//! Endpoints for the data rights of users: erasing a user, preventing the erasure, and exporting a user's data.

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use futures_util::stream::unfold;
use knowhow_domain::{Erasure, User};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, EraseQuery, HoldUser};

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, Binary, JsonBody, Query, ReadProblems, WriteProblems, json, media_type_for};

/// Erase a user
///
/// The user's data becomes invisible in all processes within a second, and a job deletes every row. If the same
/// external id appears again, it is a new user. A repeated request returns the existing erasure; use `user_id` if the
/// external id may belong to a new user by then.
#[utoipa::path(
    operation_id = "erase_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
        ExternalIdQuery,
        EraseQuery,
        TenantQuery
    ),
    responses(
        (status = 202, description = "The user is erased; the rows are being deleted", body = Erasure),
        WriteProblems
    )
)]
#[delete("/users/{external_id}")]
pub(crate) async fn erase_user(
    ctx: AdminCaller,
    external_id: NamedUser,
    query: Query<EraseQuery>,
) -> Result<HttpResponse, ApiError> {
    let erasure = tenants::erase_user(&ctx, &external_id, &query).await?;
    Ok(json(StatusCode::ACCEPTED, &erasure))
}

/// List erasures
///
/// Newest first, without the names of erased users.
#[utoipa::path(
    operation_id = "list_erasures",
    tag = "admin",
    params(
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<Erasure>),
        ReadProblems
    )
)]
#[get("/erasures")]
pub(crate) async fn list_erasures(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    let page = tenants::list_erasures(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Hold a user
///
/// The user cannot be erased until released.
#[utoipa::path(
    operation_id = "hold_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
        ExternalIdQuery,
        TenantQuery
    ),
    request_body = HoldUser,
    responses(
        (status = 200, description = "Held", body = User),
        WriteProblems
    )
)]
#[put("/users/{external_id}/hold")]
pub(crate) async fn hold_user(
    ctx: AdminCaller,
    external_id: NamedUser,
    body: JsonBody<HoldUser>,
) -> Result<HttpResponse, ApiError> {
    let user = tenants::hold_user(&ctx, &external_id, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Release a held user
///
/// The user can be erased again.
#[utoipa::path(
    operation_id = "release_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "Released", body = User),
        WriteProblems
    )
)]
#[delete("/users/{external_id}/hold")]
pub(crate) async fn release_user(ctx: AdminCaller, external_id: NamedUser) -> Result<HttpResponse, ApiError> {
    let user = tenants::release_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Export a user's data
///
/// Returns a zip from one consistent read. It contains the skills as folders, which can be imported again byte for
/// byte, and every row of every table as JSON lines: versions, memories, soul, sessions, usage, the user's audit log
/// entries and all else.
#[utoipa::path(
    operation_id = "export_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255, example = "alice"),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "The archive; with the generic media type if the client accepts only \
            `application/octet-stream`", content(
            (inline(Binary) = "application/octet-stream"),
            (inline(Binary) = "application/zip")
        )),
        ReadProblems
    )
)]
#[get("/users/{external_id}/export")]
pub(crate) async fn export_user(
    ctx: AdminCaller,
    external_id: NamedUser,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let taken = tenants::export_user(&ctx, &external_id).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, media_type_for(&request, "application/zip")))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"user.zip\""));
    Ok(response.streaming(unfold(taken, async |mut taken| {
        // The error closes the connection, so that the client notices that the archive is incomplete.
        let chunk = taken.recv().await?.map(Bytes::from).map_err(std::io::Error::other);
        Some((chunk, taken))
    })))
}
