//! The endpoint of past conversations.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_domain::Conversation;
use knowhow_ops::context::page::Page;
use knowhow_ops::sessions::conversations::{self, ListConversations};

use crate::http::{ApiError, CallerProblems, Query, UserCaller, json};

/// List or search past conversations
///
/// Summaries of past conversations, newest first. With `q`, those that contain its words in any grammatical form, best
/// first.
#[utoipa::path(
    operation_id = "list_conversations",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(ListConversations),
    responses((status = 200, description = "A page", body = Page<Conversation>), CallerProblems)
)]
#[get("/v1/conversations")]
pub(crate) async fn list_conversations(
    ctx: UserCaller,
    query: Query<ListConversations>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &conversations::list_conversations(&ctx, &query).await?))
}
