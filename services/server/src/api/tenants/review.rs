//! Endpoints for a tenant's admins to review tainted versions of users' skills.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::{SkillId, Version};
use knowhow_ops::skills::VersionDetail;
use knowhow_ops::tenants::{self, Approve, ReviewVersion};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Read a version of a user's skill
///
/// For review: includes its text and the sources of its taint. The reader and reason are stored in the audit log.
#[utoipa::path(
    operation_id = "review_version",
    tag = "admin",
    params(
        ("skill" = Uuid, Path, description = "The skill's id"),
        ("version" = i32, Path, minimum = 1, description = "The version"),
        ReviewVersion,
        TenantQuery
    ),
    responses(
        (status = 200, description = "The version", body = VersionDetail),
        ReadProblems
    )
)]
#[get("/skills/{skill}/versions/{version}")]
pub(crate) async fn review_version(
    ctx: AdminCaller,
    path: Path<(SkillId, i32)>,
    query: Query<ReviewVersion>,
) -> Result<HttpResponse, ApiError> {
    let (skill, version) = path.into_inner();
    let version = tenants::review_version(&ctx, &ReviewVersion { skill, version, ..query.0 }).await?;
    Ok(json(StatusCode::OK, &version))
}

/// Approve a tainted version
///
/// Removes its mark and the mark of content derived from it. Other versions keep their marks. Its author cannot approve
/// it. The reason is stored in the audit log.
#[utoipa::path(
    operation_id = "approve_version",
    tag = "admin",
    params(
        ("skill" = Uuid, Path, description = "The skill's id"),
        ("version" = i32, Path, minimum = 1, description = "The version"),
        TenantQuery
    ),
    request_body = Approve,
    responses(
        (status = 200, description = "Approved", body = Version),
        WriteProblems
    )
)]
#[post("/skills/{skill}/versions/{version}/approve")]
pub(crate) async fn approve_version(
    ctx: AdminCaller,
    path: Path<(SkillId, i32)>,
    body: JsonBody<Approve>,
) -> Result<HttpResponse, ApiError> {
    let (skill, version) = path.into_inner();
    let version = tenants::approve_version(&ctx, &Approve { skill, version, ..body.0 }).await?;
    Ok(json(StatusCode::OK, &version))
}
