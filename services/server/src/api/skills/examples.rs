//! What skills have learned from use.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get};
use knowhow_domain::Example;
use knowhow_ops::examples;
use knowhow_ops::examples::{DeleteExample, ListExamples};
use knowhow_ops::page::{Page, PageQuery};

use crate::http::{ApiError, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json};

/// List what a skill has learned
///
/// The messages after which the skill was used, at most 16: messages like them find it. Also its counter-examples, at most 16: messages
/// to which it did not apply, so that messages like them bring it less. The newest first.
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
/// The skill is not found by it any more; or, for a counter-example, is found again. It can be learned again.
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

/// Delete all that a skill has learned
///
/// The skill is found by what it says alone, until it is used again.
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
