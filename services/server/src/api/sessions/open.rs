//! Endpoints that open, read and list sessions.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::Session;
use knowhow_ops::context::page::Page;
use knowhow_ops::sessions::{self, ListSessions, OpenSession, OpenedSession};

use crate::http::{
    ApiError, CallerProblems, OptionalJson, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json,
};

/// Open a session, or resume it by its key
///
/// Resumes the session of the key if its last message is at most 6 hours old. Otherwise ends it and opens a new one
/// with the current snapshot and the summary of the previous one. The tenant sets that time (`session_gap_minutes`). A
/// resumed session keeps its original settings, such as `max_turns`; `notice` names requested settings that were
/// ignored. The number of messages is limited only by the size of the log (8 MiB).
#[utoipa::path(
    operation_id = "open_session",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(WriteHeaders),
    request_body(content = Option<OpenSession>, description = "Optional"),
    responses(
        (status = 201, description = "Opened", body = OpenedSession),
        (status = 200, description = "Resumed", body = OpenedSession),
        WriteProblems
    )
)]
#[post("")]
pub(crate) async fn open_session(ctx: UserCaller, body: OptionalJson<OpenSession>) -> Result<HttpResponse, ApiError> {
    let opened = sessions::open_session(&ctx, &body.0).await?;
    let status = if opened.resumed { StatusCode::OK } else { StatusCode::CREATED };
    Ok(json(status, &opened))
}

/// List sessions
///
/// The user's sessions, newest first.
#[utoipa::path(
    operation_id = "list_sessions",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(ListSessions),
    responses((status = 200, description = "A page", body = Page<Session>), CallerProblems)
)]
#[get("")]
pub(crate) async fn list_sessions(ctx: UserCaller, query: Query<ListSessions>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &sessions::list_sessions(&ctx, &query).await?))
}

/// Read a session
///
/// A session with the snapshot it started with.
#[utoipa::path(
    operation_id = "get_session",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id")),
    responses((status = 200, description = "The session", body = OpenedSession), ReadProblems)
)]
#[get("/{session}")]
pub(crate) async fn get_session(ctx: UserCaller, session: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &sessions::get_session(&ctx, &session).await?))
}
