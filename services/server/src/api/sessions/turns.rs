//! Endpoints of turns. A response consists of the stored bytes, so a repeated request gets the same bytes.

use actix_web::http::header;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_ops::sessions::{self, GetTurn, TakeTurn, TurnAnswer};

use crate::http::{ApiError, JsonBody, ReadProblems, UserCaller, WriteHeaders, WriteProblems};

/// Take a turn: find skills for a message
///
/// Logs a user's message and finds skills that help with it. Sending the same `turn_key` again returns the same turn,
/// byte for byte. A skill counts as used if its body is included. `max_turns` is the budget of rounds for answering
/// this message. MCP tool calls beyond it are executed, but their results report that the budget is spent.
#[utoipa::path(
    operation_id = "take_turn",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    request_body = TakeTurn,
    responses((status = 200, description = "The skills that help; `text` goes into the prompt unchanged", body = TurnAnswer), WriteProblems)
)]
#[post("/{session}/turns")]
pub(crate) async fn take_turn(
    ctx: UserCaller,
    session: Path<String>,
    body: JsonBody<TakeTurn>,
) -> Result<HttpResponse, ApiError> {
    let input = TakeTurn { session: session.into_inner(), ..body.0 };
    let answer = sessions::take_turn(&ctx, &input).await?;
    Ok(HttpResponse::Ok().insert_header(header::ContentType::json()).body(answer))
}

/// Read a turn again
///
/// Returns the turn's response again, byte for byte.
#[utoipa::path(
    operation_id = "get_turn",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(
        ("session" = String, Path, description = "Id"),
        ("turn" = i32, Path, description = "Number of the turn, from 1", minimum = 1)
    ),
    responses((status = 200, description = "The stored response", body = TurnAnswer), ReadProblems)
)]
#[get("/{session}/turns/{turn}")]
pub(crate) async fn get_turn(ctx: UserCaller, path: Path<(String, i32)>) -> Result<HttpResponse, ApiError> {
    let (session, turn) = path.into_inner();
    let answer = sessions::get_turn(&ctx, &GetTurn { session, turn }).await?;
    Ok(HttpResponse::Ok().insert_header(header::ContentType::json()).body(answer))
}
