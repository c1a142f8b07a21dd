//! Reading the data of another user, as an admin with a reason.

use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Result, Scope, User};
use knowhow_store::TenantTx;
use knowhow_store::tenants::audit::{self, NewEntry};
use serde_json::{Value, json};

use super::users::find_user;
use super::{begin, check_named};
use crate::Ctx;

/// A user to view, with the reason of the admin.
#[derive(Debug, Clone, Copy)]
pub struct ViewUser<'a> {
    /// The user, by external id.
    pub user: &'a str,
    /// The admin's reason, of 8 to 200 characters.
    pub reason: &'a str,
}

/// Returns a context for an admin to read one user's data. The audit log records the reason, and `read`, the pattern of the
/// requested path.
///
/// # Errors
/// `Forbidden` unless the caller is an admin with the right to review; `Malformed` for a reason that is too short or too
/// long; `NotFound`.
pub async fn view_user(ctx: &Ctx, view: ViewUser<'_>, read: &str) -> Result<Ctx> {
    let user = check(ctx, view).await?;
    let principal = ctx.principal.looking_at(user.id, &user.external_id)?;
    let viewing = Ctx { principal, ..ctx.clone() };
    record(&viewing, &user, json!({ "reason": view.reason.trim(), "read": read })).await?;
    Ok(viewing)
}

/// Checks the rights and the reason of an admin, and finds the user.
pub(super) async fn check(ctx: &Ctx, view: ViewUser<'_>) -> Result<User> {
    ctx.principal.require(Scope::Review)?;
    check_named(ctx, view.user)?;
    check_reason(view.reason)?;
    let mut tx = begin(ctx).await?;
    let user = find_user(&mut tx, view.user).await?;
    tx.commit().await?;
    Ok(user)
}

/// Records in the audit log that an admin reads a user's data.
pub(super) async fn record(ctx: &Ctx, user: &User, detail: Value) -> Result<()> {
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user.id, "admin.view_user").await?;
    audit::record(&mut tx, NewEntry { action: "content.read", target: &user.id.to_string(), detail }, ctx.now())
        .await?;
    tx.commit().await
}
