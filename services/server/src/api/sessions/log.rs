//! Endpoints of a session's log, taint, feedback and end.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::{Message, Session};
use knowhow_ops::context::page::Page;
use knowhow_ops::sessions::{self, AddReply, GiveFeedback, ListMessages, Logged, TaintSession};

use crate::http::{ApiError, JsonBody, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json};

/// Log the agent's reply
///
/// Conversations are summarized from both sides. `rounds` and `tool_calls` describe how the agent reached the answer.
/// If a reply used up the budget of its message, dreams and analytics count that against the skills that were used.
#[utoipa::path(
    operation_id = "add_reply",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    request_body = AddReply,
    responses((status = 200, description = "Logged", body = Logged), WriteProblems)
)]
#[post("/{session}/reply")]
pub(crate) async fn add_reply(
    ctx: UserCaller,
    session: Path<String>,
    body: JsonBody<AddReply>,
) -> Result<HttpResponse, ApiError> {
    let input = AddReply { session: session.into_inner(), ..body.0 };
    Ok(json(StatusCode::OK, &sessions::add_reply(&ctx, &input).await?))
}

/// Read the log of a session
///
/// Messages and replies in order.
#[utoipa::path(
    operation_id = "list_messages",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), ListMessages),
    responses((status = 200, description = "A page", body = Page<Message>), ReadProblems)
)]
#[get("/{session}/messages")]
pub(crate) async fn list_messages(
    ctx: UserCaller,
    session: Path<String>,
    query: Query<ListMessages>,
) -> Result<HttpResponse, ApiError> {
    let query = ListMessages { session: session.into_inner(), ..query.0 };
    Ok(json(StatusCode::OK, &sessions::list_messages(&ctx, &query).await?))
}

/// Mark a session as tainted
///
/// Permanently marks a session that has read untrusted content. Everything written from it carries the mark.
#[utoipa::path(
    operation_id = "taint_session",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    request_body = TaintSession,
    responses((status = 200, description = "The session", body = Session), WriteProblems)
)]
#[post("/{session}/taint")]
pub(crate) async fn taint_session(
    ctx: UserCaller,
    session: Path<String>,
    body: JsonBody<TaintSession>,
) -> Result<HttpResponse, ApiError> {
    let input = TaintSession { session: session.into_inner(), ..body.0 };
    Ok(json(StatusCode::OK, &sessions::taint_session(&ctx, &input).await?))
}

/// Give feedback on a session
///
/// Stores a correction, a thumbs up or down, or the quality of the session, during or after it.
#[utoipa::path(
    operation_id = "give_feedback",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    request_body = GiveFeedback,
    responses((status = 200, description = "The session", body = Session), WriteProblems)
)]
#[post("/{session}/feedback")]
pub(crate) async fn give_feedback(
    ctx: UserCaller,
    session: Path<String>,
    body: JsonBody<GiveFeedback>,
) -> Result<HttpResponse, ApiError> {
    let input = GiveFeedback { session: session.into_inner(), ..body.0 };
    Ok(json(StatusCode::OK, &sessions::give_feedback(&ctx, &input).await?))
}

/// End a session
///
/// Ends a session; it is summarized in the background. Ending it again has no effect and keeps the end time.
#[utoipa::path(
    operation_id = "end_session",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    responses((status = 200, description = "The session", body = Session), WriteProblems)
)]
#[post("/{session}/end")]
pub(crate) async fn end_session(ctx: UserCaller, session: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &sessions::end_session(&ctx, &session).await?))
}
