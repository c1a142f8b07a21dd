//! Counters of the process.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_ops::admin::{self, Stats};

use crate::http::{AdminCaller, ApiError, ReadProblems, json};

/// Read the counters of this process
///
/// For operators. Of the process that answers, since its start; another process has its own.
#[utoipa::path(
    operation_id = "get_stats",
    tag = "admin",
    responses(
        (status = 200, description = "The counters", body = Stats),
        ReadProblems
    )
)]
#[get("/stats")]
pub(crate) async fn get_stats(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::get_stats(&ctx).await?))
}
