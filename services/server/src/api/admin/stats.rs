//! Counters of the process.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_ops::admin::{self, ModelsHealth, Stats};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{AdminCaller, ApiError, Query, ReadProblems, json};

/// Read the counters of this process
///
/// For operators. Of the process that answers, since its start; another process has its own.
#[utoipa::path(
    operation_id = "get_stats",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    responses(
        (status = 200, description = "The counters", body = Stats),
        ReadProblems
    )
)]
#[get("/stats")]
pub(crate) async fn get_stats(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::get_stats(&ctx).await?))
}

/// How to find out.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ModelsQuery {
    /// Ask each model for a word now, which takes up to 10 s and some tokens; by default not.
    ask: Option<bool>,
}

/// Read how the models are
///
/// For operators. Of the process that answers: which models it has, whether it leaves one alone after failures, and with `ask` whether
/// they answer now.
#[utoipa::path(
    operation_id = "get_models",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ModelsQuery
    ),
    responses(
        (status = 200, description = "How they are", body = ModelsHealth),
        ReadProblems
    )
)]
#[get("/models")]
pub(crate) async fn get_models(ctx: AdminCaller, query: Query<ModelsQuery>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::get_models(&ctx, query.ask.unwrap_or_default()).await?))
}
