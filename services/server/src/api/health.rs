//! Is the process alive, and can it work?

use actix_web::web::Data;
use actix_web::{HttpResponse, get, http::StatusCode};
use knowhow_domain::Error;
use knowhow_ops::{App, ModelsStatus};
use serde::Serialize;
use utoipa::ToSchema;

use crate::entry::Drain;
use crate::http::{ApiError, Problem, json};

/// Whether the service can answer.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
    /// The release of the service.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// How it is, with what it can do without.
#[derive(Serialize, ToSchema)]
pub(super) struct Readiness {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
    /// The release of the service.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The models; none of them keeps it from serving.
    models: ModelsStatus,
}

const OK: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Is the process alive?
///
/// The process answers
#[utoipa::path(
    operation_id = "check_health",
    tag = "health",
    responses((status = 200, description = "It is", body = Health)),
    security(())
)]
#[get("/healthz")]
pub(super) async fn check_health() -> HttpResponse {
    json(StatusCode::OK, &OK)
}

/// Can it serve? Looks at the database, its migrations and the models
///
/// The database answers, with the schema this binary needs. It is asked at most once a second
#[utoipa::path(
    operation_id = "check_readiness",
    tag = "health",
    responses(
        (status = 200, description = "It can; without models it does with words and extracts", body = Readiness),
        (status = 503, description = "It cannot, or is about to stop", body = Problem, content_type = "application/problem+json")
    ),
    security(())
)]
#[get("/readyz")]
pub(super) async fn check_readiness(app: Data<App>, drain: Data<Drain>) -> HttpResponse {
    let problem = match drain.has_begun() {
        true => Some("the process is stopping; ask another one".to_owned()),
        false => app.readiness.problem(&app).await,
    };
    match problem {
        None => {
            let Health { status, version } = OK;
            json(StatusCode::OK, &Readiness { status, version, models: app.models.status() })
        }
        // Nothing was refused to a caller, so no metric counts it.
        Some(problem) => ApiError::from(Error::Unavailable(problem)).uncounted(),
    }
}
