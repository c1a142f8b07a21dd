//! Turns. Their answers go out in the bytes they are kept in.

use actix_web::http::header;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_ops::sessions::{self, GetTurn, TakeTurn, TurnAnswer};

use crate::http::{ApiError, JsonBody, ReadProblems, UserCaller, WriteHeaders, WriteProblems};

/// Take a turn: what helps with this message
///
/// Finds the skills that help with a message of the user, and logs it. The same `turn_key` again is the same turn and
/// the same answer, byte for byte. Skills whose bodies come along count as used. `max_turns` is the budget of rounds for answering
/// this message; tool calls over MCP past it are carried out, and say that it is spent.
#[utoipa::path(
    operation_id = "take_turn",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(("session" = String, Path, description = "Id"), WriteHeaders),
    request_body = TakeTurn,
    responses((status = 200, description = "What helps; `text` goes into the prompt as is", body = TurnAnswer), WriteProblems)
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
/// The answer of a turn again, byte for byte.
#[utoipa::path(
    operation_id = "get_turn",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(
        ("session" = String, Path, description = "Id"),
        ("turn" = i32, Path, description = "Its number, from 1", minimum = 1)
    ),
    responses((status = 200, description = "The same answer again", body = TurnAnswer), ReadProblems)
)]
#[get("/{session}/turns/{turn}")]
pub(crate) async fn get_turn(ctx: UserCaller, path: Path<(String, i32)>) -> Result<HttpResponse, ApiError> {
    let (session, turn) = path.into_inner();
    let answer = sessions::get_turn(&ctx, &GetTurn { session, turn }).await?;
    Ok(HttpResponse::Ok().insert_header(header::ContentType::json()).body(answer))
}
