//! Users, as a tenant's admins see them.

use knowhow_domain::{Error, Result, User};
use knowhow_store::{TenantTx, users};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{begin, note_read_of};
use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// A user to make before they are first seen.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"external_id": "alice"}))]
pub struct CreateUser {
    /// The tenant's own name for them.
    #[schema(min_length = 1, max_length = 255)]
    pub external_id: String,
}

/// Makes a user, or finds the one there is.
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

/// Lists users.
///
/// # Errors
/// `Forbidden`.
pub async fn list_users(ctx: &Ctx, page: &PageQuery) -> Result<Page<User>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let mut tx = begin(ctx).await?;
    let rows = users::list(&mut tx, None, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_read_of(&ctx.app, &mut tx, "user.read", None).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.external_id.clone())
}

/// Reads one user.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn get_user(ctx: &Ctx, external_id: &str) -> Result<User> {
    ctx.principal.require_admin()?;
    knowhow_store::check_external_id(external_id).map_err(|_| Error::not_found("user"))?;
    let mut tx = begin(ctx).await?;
    let user = find_user(&mut tx, external_id).await?;
    note_read_of(&ctx.app, &mut tx, "user.read", Some(external_id)).await?;
    tx.commit().await?;
    Ok(user)
}

pub(super) async fn find_user(tx: &mut TenantTx, external_id: &str) -> Result<User> {
    let rows = users::list(tx, Some(external_id), "", 1).await?;
    rows.into_iter().next().ok_or_else(|| Error::not_found("user"))
}
