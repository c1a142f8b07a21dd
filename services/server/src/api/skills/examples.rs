//! Endpoints for the messages that skills have learned from.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get};
use knowhow_domain::Example;
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::learning::examples::{self, DeleteExample, ListExamples};

use crate::http::{ApiError, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json};

/// List a skill's learned messages
///
/// Examples, at most 16: messages after which the skill was used; recall finds it for similar messages.
/// Counter-examples, at most 16: messages that it did not apply to; recall finds it less often for similar messages.
/// Newest first.
#[utoipa::path(
    operation_id = "list_examples",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        PageQuery
    ),
    responses((status = 200, description = "A page, newest first", body = Page<Example>), ReadProblems)
)]
#[get("/{skill}/examples")]
pub(crate) async fn list_examples(
    ctx: UserCaller,
    skill: Path<String>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let query = ListExamples { skill: skill.into_inner(), page: page.0 };
    Ok(json(StatusCode::OK, &examples::list_examples(&ctx, &query).await?))
}

/// Delete one learned message
///
/// The message no longer influences recall of the skill. It can be learned again.
#[utoipa::path(
    operation_id = "delete_example",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("example" = String, Path, description = "Id"),
        WriteHeaders
    ),
    responses((status = 204, description = "Deleted"), WriteProblems)
)]
#[delete("/{skill}/examples/{example}")]
pub(crate) async fn delete_example(ctx: UserCaller, path: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (skill, example) = path.into_inner();
    examples::delete_example(&ctx, &DeleteExample { skill, example }).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Delete everything a skill has learned
///
/// Recall finds the skill only by its content until it is used again.
#[utoipa::path(
    operation_id = "delete_examples",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        WriteHeaders
    ),
    responses((status = 204, description = "Deleted"), WriteProblems)
)]
#[delete("/{skill}/examples")]
pub(crate) async fn delete_examples(ctx: UserCaller, skill: Path<String>) -> Result<HttpResponse, ApiError> {
    examples::delete_examples(&ctx, &skill).await?;
    Ok(HttpResponse::NoContent().finish())
}
