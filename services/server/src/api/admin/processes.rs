//! The processes of the deployment.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use knowhow_ops::admin::{self, Processes};

use crate::http::{AdminCaller, ApiError, ReadProblems, json};

/// List processes
///
/// For operators. Those that were seen on this database within the last minute: what each does, its release and host, and how many
/// connections it may open.
#[utoipa::path(
    operation_id = "list_processes",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    responses(
        (status = 200, description = "Those that are running", body = Processes),
        ReadProblems
    )
)]
#[get("/processes")]
pub(crate) async fn list_processes(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::list_processes(&ctx).await?))
}
