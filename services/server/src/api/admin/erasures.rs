//! Data rights of users: erasing them, keeping them from it, and giving out all that is kept of them.

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use futures_util::stream::unfold;
use knowhow_domain::{Erasure, User};
use knowhow_ops::admin;
use knowhow_ops::admin::{EraseQuery, HoldUser};
use knowhow_ops::page::{Page, PageQuery};

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, Binary, JsonBody, Query, ReadProblems, WriteProblems, json, media_type_for};

/// Erase a user
///
/// Nobody sees anything of the user from then on, in any process within a second; a job removes every row. The same external
/// id is a new user's when it comes again. A repeated request is answered with the erasure that there was; with `user_id` also
/// where the name is a new user's by then.
#[utoipa::path(
    operation_id = "erase_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
        ExternalIdQuery,
        EraseQuery,
        TenantQuery
    ),
    responses(
        (status = 202, description = "Gone; the rows are being removed", body = Erasure),
        WriteProblems
    )
)]
#[delete("/users/{external_id}")]
pub(crate) async fn erase_user(
    ctx: AdminCaller,
    external_id: NamedUser,
    query: Query<EraseQuery>,
) -> Result<HttpResponse, ApiError> {
    let erasure = admin::erase_user(&ctx, &external_id, &query).await?;
    Ok(json(StatusCode::ACCEPTED, &erasure))
}

/// List erasures
///
/// Newest first, without the names of those who were erased.
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
    let page = admin::list_erasures(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Hold a user
///
/// The user cannot be erased until released.
#[utoipa::path(
    operation_id = "hold_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
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
    let user = admin::hold_user(&ctx, &external_id, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Release a held user
///
/// The user can be erased again.
#[utoipa::path(
    operation_id = "release_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
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
    let user = admin::release_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Export all that is kept of a user
///
/// A zip of the skills as folders, which an import takes back byte for byte, and of every row of every table as lines of JSON:
/// versions, memories, soul, sessions, use, the user's entries of the audit log, and all else. It is one consistent read.
#[utoipa::path(
    operation_id = "export_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255, example = "alice"),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "The archive; as bytes of no kind for who accepts `application/octet-stream`", content(
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
    let taken = admin::export_user(&ctx, &external_id).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, media_type_for(&request, "application/zip")))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"user.zip\""));
    Ok(response.streaming(unfold(taken, async |mut taken| {
        // An error ends the connection: who reads sees that the archive is not whole.
        let chunk = taken.recv().await?.map(Bytes::from).map_err(std::io::Error::other);
        Some((chunk, taken))
    })))
}
