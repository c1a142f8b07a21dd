//! Review: a tenant's admin reads and approves a tainted version.

use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Error, Result, SkillId, UserId, Version};
use knowhow_store::TenantTx;
use knowhow_store::skills::versions;
use knowhow_store::skills::{self, Approval};
use knowhow_store::tenants::audit::{self, NewEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::begin;
use crate::Ctx;
use crate::skills::VersionDetail;

/// An approval of a version.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The skill's id; taken from the path.
    #[serde(skip)]
    pub skill: SkillId,
    /// The version; taken from the path.
    #[serde(skip)]
    pub version: i32,
    /// The reason, for the audit log.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// A request to read a version.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewVersion {
    /// The skill's id; taken from the path.
    #[serde(skip)]
    #[param(ignore)]
    pub skill: SkillId,
    /// The version; taken from the path.
    #[serde(skip)]
    #[param(ignore)]
    pub version: i32,
    /// The reason, for the audit log.
    #[param(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Reads one version of a user's skill. The access and its reason are recorded in the audit log.
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

/// Approves a tainted version. This version and later versions derived from it are trusted from now on.
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

/// Begins a transaction over the data of the skill's owner.
async fn of_owner(ctx: &Ctx, skill: SkillId) -> Result<TenantTx> {
    let mut tx = begin(ctx).await?;
    let owner: UserId = skills::find_owner(&mut tx, skill).await?.ok_or_else(|| Error::not_found("skill"))?;
    tx.commit().await?;
    TenantTx::begin_admin(&ctx.app.db, &ctx.principal, owner, "admin.review").await
}

fn check(reason: &str) -> Result<&str> {
    check_reason(reason).map_err(|_| Error::invalid("/reason", "takes 8 to 200 characters: the reason"))
}
