//! Review: a tenant's admin reads a version that is tainted, and approves it.

use knowhow_domain::{Error, Result, SkillId, UserId};
use knowhow_store::{Principal, TenantTx, audit, skills, versions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::begin;
use crate::App;
use crate::skills::{Version, VersionDetail};

/// Why a version is approved.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "read it; the steps are those of our own handbook"}))]
pub struct Approve {
    /// For the audit log.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Why a version is read.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Reason {
    /// For the audit log.
    #[param(min_length = 8, max_length = 200, example = "review of tainted skills")]
    pub reason: String,
}

/// Reads one version of a user's skill. The audit log says who did, and why.
///
/// # Errors
/// `Forbidden`; `NotFound` for the skill or the version; `Invalid` without a reason.
pub async fn review_version(
    app: &App,
    principal: &Principal,
    (skill, version): (Uuid, i32),
    reason: &str,
) -> Result<VersionDetail> {
    principal.require_admin()?;
    let reason = check(reason)?;
    let mut tx = of_owner(app, principal, skill).await?;
    let state =
        versions::find_for_admin(&mut tx, SkillId(skill), version).await?.ok_or_else(|| Error::not_found("version"))?;
    let detail = json!({"version": version, "reason": reason});
    audit::record(&mut tx, "skill.review", &skill.to_string(), detail, app.now()).await?;
    tx.commit().await?;
    Ok(VersionDetail { version: Version::of(state.row), skill_md: state.document, resources: state.resources })
}

/// Approves a version that is tainted: it, and what is made of it, is trusted from now on.
///
/// # Errors
/// `Forbidden`, also for whoever wrote the version; `NotFound`; `Conflict` `not-tainted`; `Invalid` without a reason.
pub async fn approve_version(
    app: &App,
    principal: &Principal,
    (skill, version): (Uuid, i32),
    input: &Approve,
) -> Result<Version> {
    principal.require_admin()?;
    let reason = check(&input.reason)?;
    let mut tx = of_owner(app, principal, skill).await?;
    skills::approve(&mut tx, (SkillId(skill), version), reason, app.now()).await?;
    let state =
        versions::find_for_admin(&mut tx, SkillId(skill), version).await?.ok_or_else(|| Error::not_found("version"))?;
    tx.commit().await?;
    Ok(Version::of(state.row))
}

/// A transaction over the rows of the user whose skill this is.
async fn of_owner(app: &App, principal: &Principal, skill: Uuid) -> Result<TenantTx> {
    let mut tx = begin(app, principal).await?;
    let owner: UserId = skills::find_owner(&mut tx, SkillId(skill)).await?.ok_or_else(|| Error::not_found("skill"))?;
    tx.commit().await?;
    TenantTx::begin_admin(&app.db, principal, owner).await
}

fn check(reason: &str) -> Result<&str> {
    let reason = reason.trim();
    if !(8..=200).contains(&reason.chars().count()) || reason.contains('\0') {
        return Err(Error::invalid("/reason", "8 to 200 characters: why?"));
    }
    Ok(reason)
}
