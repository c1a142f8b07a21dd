//! Endpoints of health checks: liveness and readiness.

use actix_web::web::Data;
use actix_web::{HttpResponse, get, http::StatusCode};
use knowhow_domain::Error;
use knowhow_ops::{App, ModelsStatus};
use serde::Serialize;
use utoipa::ToSchema;

use crate::entry::Drain;
use crate::http::{ApiError, Problem, json};

/// Liveness of the service.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Health {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
    /// Release of the service.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Readiness of the service and its optional parts.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Readiness {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
    /// Release of the service.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// State of the models. The service is ready without them.
    models: ModelsStatus,
}

const OK: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Check that the process is alive
///
/// The process responds.
#[utoipa::path(
    operation_id = "check_health",
    tag = "health",
    responses((status = 200, description = "The process is alive", body = Health)),
    security(())
)]
#[get("/healthz")]
pub(in crate::api) async fn check_health() -> HttpResponse {
    json(StatusCode::OK, &OK)
}

/// Check that the service is ready
///
/// The database responds and has the schema that this binary needs. Checked at most once a second.
#[utoipa::path(
    operation_id = "check_readiness",
    tag = "health",
    responses(
        (status = 200, description = "The service is ready; without models it searches by words and summarizes by \
            extracts", body = Readiness),
        (status = 503, description = "The service is not ready, or is shutting down", body = Problem, content_type = "application/problem+json")
    ),
    security(())
)]
#[get("/readyz")]
pub(in crate::api) async fn check_readiness(app: Data<App>, drain: Data<Drain>) -> HttpResponse {
    let problem = match drain.has_begun() {
        true => Some("the process is shutting down; use another one".to_owned()),
        false => app.readiness.problem(&app).await,
    };
    match problem {
        None => {
            let Health { status, version } = OK;
            json(StatusCode::OK, &Readiness { status, version, models: app.models.status() })
        }
        // The caller of a health check was not rejected, so the metrics do not count this response.
        Some(problem) => ApiError::from(Error::Unavailable(problem)).uncounted(),
    }
}
