//! Conversations of users, as admins see and end them.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get};
use knowhow_domain::{Session, SessionId};
use knowhow_ops::admin::{self, ListUserSessions};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, Query, ReadProblems, WriteProblems, json};

/// Which of a user's sessions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionsQuery {
    /// Open ones, or those that are over.
    open: Option<bool>,
}

/// List a user's sessions
///
/// Newest first, without what was said in them. The audit log says that somebody looked.
#[utoipa::path(
    operation_id = "list_user_sessions",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255, example = "alice"),
        ExternalIdQuery,
        SessionsQuery,
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<Session>),
        ReadProblems
    )
)]
#[get("/users/{external_id}/sessions")]
pub(crate) async fn list_user_sessions(
    ctx: AdminCaller,
    external_id: NamedUser,
    query: Query<SessionsQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let query = ListUserSessions { user: external_id.to_owned(), open: query.open, page: page.0 };
    Ok(json(StatusCode::OK, &admin::list_user_sessions(&ctx, &query).await?))
}

/// End a user's session
///
/// Its summary is made as ever; the next message under its key begins another. One that is over stays as it is.
#[utoipa::path(
    operation_id = "end_user_session",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
        ExternalIdQuery,
        ("session" = Uuid, Path, description = "The session's id"),
        TenantQuery
    ),
    responses(
        (status = 204, description = "It is over"),
        WriteProblems
    )
)]
#[delete("/users/{external_id}/sessions/{session}")]
pub(crate) async fn end_user_session(
    ctx: AdminCaller,
    external_id: NamedUser,
    path: Path<(String, SessionId)>,
) -> Result<HttpResponse, ApiError> {
    admin::end_user_session(&ctx, &external_id, path.1).await?;
    Ok(HttpResponse::NoContent().finish())
}
