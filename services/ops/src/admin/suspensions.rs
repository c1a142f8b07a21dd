//! Suspending tenants and users, and letting them in again.

use knowhow_domain::erasure::check_reason;
use knowhow_domain::{Error, Result, Tenant, User};
use knowhow_store::TenantTx;
use knowhow_store::suspensions::{self, Suspending};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::find_named;
use super::tenants::is_slug;
use super::users::find_user;
use crate::Ctx;

/// Why somebody is suspended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspend {
    /// It is told to whoever is refused, and kept in the audit log.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Refuses a user's requests and puts the user's jobs off, in every process within a second. Anew with another reason, it says that
/// one. Nothing of the user is lost, and admins see it still.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Malformed` for the reason; `Denied` for the user who calls, because a tenant's only admin could not undo that.
pub async fn suspend_user(ctx: &Ctx, external_id: &str, input: &Suspend) -> Result<User> {
    ctx.principal.require_admin()?;
    // A key acts for the user and works on if the user is suspended.
    if ctx.principal.external_id() == Some(external_id) && !ctx.principal.is_backend() {
        return Err(Error::Denied("you cannot suspend yourself; another admin can"));
    }
    let reason = check_reason(&input.reason)?;
    set_user(ctx, external_id, Some(reason)).await
}

/// Lets a user in again; the jobs that waited go on at once.
///
/// # Errors
/// `Forbidden`, `NotFound`.
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

/// Refuses all callers of a tenant and puts its jobs off, in every process within a second. Operators work in it still.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `NotFound`; `Malformed` for the reason.
pub async fn suspend_tenant(ctx: &Ctx, slug: &str, input: &Suspend) -> Result<Tenant> {
    set_tenant(ctx, slug, Some(check_reason(&input.reason)?)).await
}

/// Lets a tenant's callers in again; the jobs that waited go on at once.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `NotFound`.
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
