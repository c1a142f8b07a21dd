//! Tainted versions of users' skills, for a tenant's admins.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::{SkillId, Version};
use knowhow_ops::admin::{self, Approve, ReviewVersion};
use knowhow_ops::skills::VersionDetail;

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Read a version of a user's skill
///
/// To review it: with its text, and what it is tainted by. The audit log keeps who read it and why.
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
    let version = admin::review_version(&ctx, &ReviewVersion { skill, version, ..query.0 }).await?;
    Ok(json(StatusCode::OK, &version))
}

/// Approve a tainted version
///
/// It is no longer marked, nor is what is made of it. Its author cannot approve it; other versions keep their
/// marks. The reason goes into the audit log.
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
    let version = admin::approve_version(&ctx, &Approve { skill, version, ..body.0 }).await?;
    Ok(json(StatusCode::OK, &version))
}
