//! Reflections: what is told of a user's days, weeks and months.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::Reflection;
use knowhow_ops::page::{Page, PageQuery};
use knowhow_ops::reflect::{self, ListReflections, StartReflection};

use crate::http::{ApiError, JsonBody, Query, ReadProblems, UserCaller, WriteProblems, json};

/// List reflections
///
/// What was told of each day, week and month, the newest first, and of which there was nothing to tell. Each text is a memory of
/// the kind `reflection`, which recall finds.
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

/// Make a reflection now
///
/// As if it was 23:00 where the user is: of today, of the week that ends today or ended last, or of the last month. A worker makes it. One
/// that is made already, or was tried three times, is answered as it is; so this may be sent again.
#[utoipa::path(
    operation_id = "start_reflection",
    tag = "learning",
    security(("bearer" = ["memories"])),
    request_body = StartReflection,
    responses(
        (status = 200, description = "It was made before", body = Reflection),
        (status = 202, description = "It is begun", body = Reflection),
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
