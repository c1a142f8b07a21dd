//! Endpoints of users' sessions, for admins.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get};
use knowhow_domain::{Session, SessionId};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, ListUserSessions};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, Query, ReadProblems, WriteProblems, json};

/// Filters of a user's sessions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionsQuery {
    /// `true` for open sessions only, `false` for ended ones only.
    open: Option<bool>,
}

/// List a user's sessions
///
/// Newest first, without messages. The access is recorded in the audit log.
#[utoipa::path(
    operation_id = "list_user_sessions",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255, example = "alice"),
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
    Ok(json(StatusCode::OK, &tenants::list_user_sessions(&ctx, &query).await?))
}

/// End a user's session
///
/// The session is summarized as usual. The next message with its key starts a new session. An ended session stays
/// unchanged.
#[utoipa::path(
    operation_id = "end_user_session",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
        ExternalIdQuery,
        ("session" = Uuid, Path, description = "The session's id"),
        TenantQuery
    ),
    responses(
        (status = 204, description = "The session has ended"),
        WriteProblems
    )
)]
#[delete("/users/{external_id}/sessions/{session}")]
pub(crate) async fn end_user_session(
    ctx: AdminCaller,
    external_id: NamedUser,
    path: Path<(String, SessionId)>,
) -> Result<HttpResponse, ApiError> {
    tenants::end_user_session(&ctx, &external_id, path.1).await?;
    Ok(HttpResponse::NoContent().finish())
}
