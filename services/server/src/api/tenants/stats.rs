//! Endpoints for the counters of the process and the health of its models.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_ops::tenants::{self, ModelsHealth, Stats};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{AdminCaller, ApiError, Query, ReadProblems, json};

/// Read the counters of this process
///
/// For operators. Returns the counters of the responding process since its start; other processes have their own.
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
    Ok(json(StatusCode::OK, &tenants::get_stats(&ctx).await?))
}

/// Options for reading the health of the models.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ModelsQuery {
    /// Whether to send a test request to each model, which takes up to 10 s and some tokens. Default: false.
    ask: Option<bool>,
}

/// Read the health of the models
///
/// For operators. For the responding process: its models, whether it has paused one after failures, and with `ask`
/// whether they respond now.
#[utoipa::path(
    operation_id = "get_models",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ModelsQuery
    ),
    responses(
        (status = 200, description = "The health of the models", body = ModelsHealth),
        ReadProblems
    )
)]
#[get("/models")]
pub(crate) async fn get_models(ctx: AdminCaller, query: Query<ModelsQuery>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::get_models(&ctx, query.ask.unwrap_or_default()).await?))
}
