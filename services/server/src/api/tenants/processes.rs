//! The endpoint of the deployment's processes.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_ops::tenants::{self, Processes};

use crate::http::{AdminCaller, ApiError, ReadProblems, json};

/// List processes
///
/// For operators. Lists processes that used this database within the last minute: their role, release, host and
/// connection limit.
#[utoipa::path(
    operation_id = "list_processes",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    responses(
        (status = 200, description = "The running processes", body = Processes),
        ReadProblems
    )
)]
#[get("/processes")]
pub(crate) async fn list_processes(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::list_processes(&ctx).await?))
}
