//! Users of a tenant, for its admins.

use knowhow_domain::tenants::usage::UserDetail;
use knowhow_domain::{Error, Result, User};
use knowhow_store::TenantTx;
use knowhow_store::tenants::users::ExternalIdFilter;
use knowhow_store::tenants::{recent_usage, stored_rows, users};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{begin, check_named, note_read_of};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, check_filter, window};

/// A user to create before the first request.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"external_id": "alice"}))]
pub struct CreateUser {
    /// External id of the user, as assigned by the tenant.
    #[schema(min_length = 1, max_length = 255)]
    pub external_id: String,
}

/// Creates a user, or returns the existing user.
///
/// # Errors
/// `Forbidden`, `Malformed` for the id.
pub async fn create_user(ctx: &Ctx, input: &CreateUser) -> Result<User> {
    ctx.principal.require_admin()?;
    ctx.principal.require_tenant()?;
    ctx.app.gate.ensure_user(&ctx.principal, &input.external_id).await?;
    let mut tx = begin(ctx).await?;
    let user = find_user(&mut tx, &input.external_id).await?;
    tx.commit().await?;
    Ok(user)
}

/// Lists users by external id, optionally only ids with a prefix.
///
/// # Errors
/// `Forbidden`; `Malformed` for a prefix that no external id can have.
pub async fn list_users(ctx: &Ctx, prefix: Option<&str>, page: &PageQuery) -> Result<Page<User>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    check_filter("prefix", prefix, 255)?;
    let mut tx = begin(ctx).await?;
    let page = window(after.as_deref().unwrap_or_default(), limit);
    let rows = users::list(&mut tx, ExternalIdFilter::Beginning(prefix.unwrap_or_default()), page).await?;
    note_read_of(&ctx.app, &mut tx, "user.read", None).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.external_id.clone())
}

/// Reads one user, with amounts of stored data and recent use.
pub async fn get_user(ctx: &Ctx, external_id: &str) -> Result<UserDetail> {
    check_named(ctx, external_id)?;
    let mut tx = begin(ctx).await?;
    let user = find_user(&mut tx, external_id).await?;
    note_read_of(&ctx.app, &mut tx, "user.read", Some(external_id)).await?;
    tx.commit().await?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user.id, "admin.get_user").await?;
    let (stored, used) =
        (stored_rows::count_of_user(&mut tx).await?, recent_usage::count_of_user(&mut tx, ctx.now()).await?);
    tx.commit().await?;
    Ok(UserDetail { user, stored, used })
}

pub(super) async fn find_user(tx: &mut TenantTx, external_id: &str) -> Result<User> {
    users::find(tx, external_id).await?.ok_or_else(|| Error::not_found("user"))
}
