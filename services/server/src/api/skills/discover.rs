//! Endpoints that find skills: by name in a message, and by similarity to a context.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get, post};
use knowhow_ops::recall::{self, MatchSkills, Matches, SuggestSkills, Suggestions};

use crate::http::{ApiError, CallerProblems, JsonBody, Query, UserCaller, WriteProblems, json};

/// Find names of skills in a message
///
/// Returns the names of the user's skills that occur in a message as whole words, and their positions. Read-only.
#[utoipa::path(
    operation_id = "match_skills",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    request_body = MatchSkills,
    responses((status = 200, description = "The names, the most specific first", body = Matches), WriteProblems)
)]
#[post("/match")]
pub(crate) async fn match_skills(ctx: UserCaller, body: JsonBody<MatchSkills>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &recall::match_skills(&ctx, &body.0).await?))
}

/// Suggest skills for a context
///
/// Returns skills that may help in a context, ranked by similarity × importance × recency, with a reason for each.
#[utoipa::path(
    operation_id = "suggest_skills",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(SuggestSkills),
    responses((status = 200, description = "Best first", body = Suggestions), CallerProblems)
)]
#[get("/suggest")]
pub(crate) async fn suggest_skills(ctx: UserCaller, query: Query<SuggestSkills>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &recall::suggest_skills(&ctx, &query).await?))
}
