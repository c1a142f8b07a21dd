//! Endpoints of reflections, which are summaries of a user's days, weeks and months.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::Reflection;
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::learning::reflect::{self, ListReflections, StartReflection};

use crate::http::{ApiError, JsonBody, Query, ReadProblems, UserCaller, WriteProblems, json};

/// List reflections
///
/// Lists one reflection per day, week and month, newest first, including periods without content. Each text is a memory
/// of kind `reflection`, which recall finds.
#[utoipa::path(
    operation_id = "list_reflections",
    tag = "learning",
    security(("bearer" = ["memories"])),
    params(ListReflections, PageQuery),
    responses((status = 200, description = "A page", body = Page<Reflection>), ReadProblems)
)]
#[get("/v1/reflections")]
pub(crate) async fn list_reflections(
    ctx: UserCaller,
    query: Query<ListReflections>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let query = ListReflections { page: page.0, ..query.0 };
    Ok(json(StatusCode::OK, &reflect::list_reflections(&ctx, &query).await?))
}

/// Start a reflection
///
/// Creates the reflection for today, the current or last full week, or the previous month, as if it were 23:00 in the
/// user's time zone. A worker writes it. A reflection that exists, or was tried three times, is returned unchanged, so
/// the request may be retried.
#[utoipa::path(
    operation_id = "start_reflection",
    tag = "learning",
    security(("bearer" = ["memories"])),
    request_body = StartReflection,
    responses(
        (status = 200, description = "The reflection already exists", body = Reflection),
        (status = 202, description = "The reflection was started", body = Reflection),
        WriteProblems
    )
)]
#[post("/v1/reflections")]
pub(crate) async fn start_reflection(
    ctx: UserCaller,
    body: JsonBody<StartReflection>,
) -> Result<HttpResponse, ApiError> {
    let started = reflect::start_reflection(&ctx, &body.0).await?;
    let status = if started.is_begun { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(json(status, &started.reflection))
}
