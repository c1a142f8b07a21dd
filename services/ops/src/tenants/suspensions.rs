//! Suspends and resumes tenants and users.

use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Error, Result, Tenant, User};
use knowhow_store::TenantTx;
use knowhow_store::tenants::suspensions::{self, Suspending};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::find_named;
use super::users::find_user;
use crate::Ctx;
use crate::tenants::tenant::is_slug;

/// A request to suspend.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspend {
    /// The reason, returned with rejected requests and stored in the audit log.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Rejects a user's requests and defers the user's jobs, in every process within a second. A repeated call replaces
/// the reason. The user's data is preserved and visible to admins.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Malformed` for the reason; `Denied` for the calling user, because a tenant's only admin
/// could not undo the suspension.
pub async fn suspend_user(ctx: &Ctx, external_id: &str, input: &Suspend) -> Result<User> {
    ctx.principal.require_admin()?;
    // An API key stays valid if the user that it acts for is suspended.
    if ctx.principal.external_id() == Some(external_id) && !ctx.principal.is_backend() {
        return Err(Error::Denied("you cannot suspend yourself; another admin can"));
    }
    let reason = check_reason(&input.reason)?;
    set_user(ctx, external_id, Some(reason)).await
}

/// Accepts a user's requests again, and runs deferred jobs immediately.
pub async fn resume_user(ctx: &Ctx, external_id: &str) -> Result<User> {
    set_user(ctx, external_id, None).await
}

async fn set_user(ctx: &Ctx, external_id: &str, reason: Option<&str>) -> Result<User> {
    let user = find_named(ctx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.suspend_user").await?;
    suspensions::set_user(&mut tx, reason, ctx.now()).await?;
    let user = find_user(&mut tx, external_id).await?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    Ok(user)
}

/// Rejects all callers of a tenant and defers its jobs, in every process within a second. Operators still have
/// access.
///
/// # Errors
/// `Forbidden` if the caller is not an operator; `NotFound`; `Malformed` for the reason.
pub async fn suspend_tenant(ctx: &Ctx, slug: &str, input: &Suspend) -> Result<Tenant> {
    set_tenant(ctx, slug, Some(check_reason(&input.reason)?)).await
}

/// Accepts a tenant's callers again, and runs deferred jobs immediately.
///
/// # Errors
/// `Forbidden` if the caller is not an operator; `NotFound`.
pub async fn resume_tenant(ctx: &Ctx, slug: &str) -> Result<Tenant> {
    set_tenant(ctx, slug, None).await
}

async fn set_tenant(ctx: &Ctx, slug: &str, reason: Option<&str>) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    if !is_slug(slug) {
        return Err(Error::not_found("tenant"));
    }
    let suspending = Suspending { slug, reason, now: ctx.now() };
    let there = ctx.in_tenant(slug).await?;
    let tenant = suspensions::set_tenant(&there.app.db, &there.principal, &suspending).await?;
    ctx.app.gate.state().forget_tenants();
    Ok(tenant)
}
