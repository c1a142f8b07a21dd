//! Review: a tenant's admin reads a version that is tainted, and approves it.

use knowhow_domain::{Error, Result, SkillId, UserId, Version};
use knowhow_store::audit::{self, NewEntry};
use knowhow_store::skills::{self, Approval};
use knowhow_store::{TenantTx, versions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::begin;
use crate::Ctx;
use crate::skills::VersionDetail;

/// Why a version is approved.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The skill's id: of the path.
    #[serde(skip)]
    pub skill: SkillId,
    /// Which version of it: of the path.
    #[serde(skip)]
    pub version: i32,
    /// For the audit log.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Why a version is read.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewVersion {
    /// The skill's id: of the path.
    #[serde(skip)]
    #[param(ignore)]
    pub skill: SkillId,
    /// Which version of it: of the path.
    #[serde(skip)]
    #[param(ignore)]
    pub version: i32,
    /// For the audit log.
    #[param(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Reads one version of a user's skill. The audit log says who did, and why.
///
/// # Errors
/// `Forbidden`; `NotFound` for the skill or the version; `Invalid` without a reason.
pub async fn review_version(ctx: &Ctx, query: &ReviewVersion) -> Result<VersionDetail> {
    ctx.principal.require_admin()?;
    let ReviewVersion { skill, version, reason } = query;
    let (skill, version, reason) = (*skill, *version, check(reason)?);
    let mut tx = of_owner(ctx, skill).await?;
    let state = versions::find_for_admin(&mut tx, skill, version).await?.ok_or_else(|| Error::not_found("version"))?;
    let detail = json!({"version": version, "reason": reason});
    let entry = NewEntry { action: "skill.review", target: &skill.to_string(), detail };
    audit::record(&mut tx, entry, ctx.now()).await?;
    tx.commit().await?;
    Ok(VersionDetail { version: state.version, skill_md: state.document, resources: state.resources })
}

/// Approves a version that is tainted: it, and what is made of it, is trusted from now on.
///
/// # Errors
/// `Forbidden`, also for the author of the version; `NotFound`; `Conflict` `not-tainted`; `Invalid` without a reason.
pub async fn approve_version(ctx: &Ctx, input: &Approve) -> Result<Version> {
    ctx.principal.require_admin()?;
    let Approve { skill, version, reason } = input;
    let (skill, version, reason) = (*skill, *version, check(reason)?);
    let mut tx = of_owner(ctx, skill).await?;
    let approval = Approval { skill, version, reason };
    skills::approve(&mut tx, &approval, ctx.now()).await?;
    let state = versions::find_for_admin(&mut tx, skill, version).await?.ok_or_else(|| Error::not_found("version"))?;
    tx.commit().await?;
    Ok(state.version)
}

/// A transaction over the rows of the user whose skill this is.
async fn of_owner(ctx: &Ctx, skill: SkillId) -> Result<TenantTx> {
    let mut tx = begin(ctx).await?;
    let owner: UserId = skills::find_owner(&mut tx, skill).await?.ok_or_else(|| Error::not_found("skill"))?;
    tx.commit().await?;
    TenantTx::begin_admin(&ctx.app.db, &ctx.principal, owner, "admin.review").await
}

fn check(reason: &str) -> Result<&str> {
    let reason = reason.trim();
    if !(8..=200).contains(&reason.chars().count()) || reason.contains('\0') {
        return Err(Error::invalid("/reason", "8 to 200 characters: why?"));
    }
    Ok(reason)
}
