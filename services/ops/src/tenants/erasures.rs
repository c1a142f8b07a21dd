//! Erases users, and holds users to prevent erasure.

use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Erasure, ErasureId, Error, Result, User, UserId};
use knowhow_store::TenantTx;
use knowhow_store::tenants::erasures::{self, ErasureSearch, ErasureStart, NewErasure};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::users::find_user;
use super::{begin, find_named, note_look};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, rows_for};

/// A request to hold a user.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldUser {
    /// The reason, for the audit log; it should contain no names.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Options for an erasure.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EraseQuery {
    /// The reason, stored permanently in the audit log and the ledger; it should contain no names.
    #[param(min_length = 8, max_length = 200)]
    pub reason: String,
    /// Erase the user only if it has this id, as `GET /v1/admin/users/{external_id}` returns it. A repeated request
    /// can then never affect a new user of the same name.
    #[param(value_type = Option<Uuid>)]
    pub user_id: Option<UserId>,
}

/// Erases a user. The user's data is inaccessible immediately, and a job deletes the rows. The name can then be used
/// for a new user. If the user was erased before and the name is unused, or `user_id` is the erased user, returns the
/// earlier erasure.
///
/// # Errors
/// `Forbidden`; `Malformed` for the reason; `NotFound` if no such user exists or was erased; `Conflict` `user-held`.
pub async fn erase_user(ctx: &Ctx, external_id: &str, query: &EraseQuery) -> Result<Erasure> {
    let reason = check_reason(&query.reason)?;
    let sealer = ctx.app.gate.state().sealer();
    let hashes = sealer.erasure_hashes(ctx.principal.tenant().0.as_bytes(), external_id);
    let hash = hashes.first().ok_or_else(|| Error::internal("no key to hash a name with"))?;
    let is_meant = |user: &UserId| query.user_id.is_none_or(|meant| meant == *user);
    if let Some(user) = find_named(ctx, external_id).await?.filter(is_meant) {
        let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.erase_user").await?;
        let began = erasures::begin(&mut tx, NewErasure { external_hash: hash, reason, now: ctx.now() }).await?;
        match began {
            ErasureStart::Held => return Err(held()),
            ErasureStart::Gone => drop(tx),
            ErasureStart::Erasing(id) => {
                let erasure =
                    erasures::find(&mut tx, ErasureSearch { id: Some(id), ..ErasureSearch::default() }).await?;
                tx.commit().await?;
                ctx.app.gate.state().forget_tenants();
                return erasure.ok_or_else(|| Error::internal("the erasure is missing in the ledger"));
            }
        }
    }
    let mut tx = begin(ctx).await?;
    let erasure = erasures::find(&mut tx, ErasureSearch { hashes: &hashes, id: None, user: query.user_id }).await?;
    tx.commit().await?;
    erasure.ok_or_else(|| Error::not_found("user"))
}

fn held() -> Error {
    let detail = "the user is held and cannot be erased; release the user first";
    Error::Conflict { code: "user-held", detail: detail.into() }
}

/// Prevents a user from being erased. A repeated call replaces the reason.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Malformed` for the reason.
pub async fn hold_user(ctx: &Ctx, external_id: &str, input: &HoldUser) -> Result<User> {
    let reason = check_reason(&input.reason)?;
    set_hold(ctx, external_id, Some(reason)).await
}

/// Allows a user to be erased again.
pub async fn release_user(ctx: &Ctx, external_id: &str) -> Result<User> {
    set_hold(ctx, external_id, None).await
}

async fn set_hold(ctx: &Ctx, external_id: &str, reason: Option<&str>) -> Result<User> {
    let user = find_named(ctx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.hold_user").await?;
    erasures::hold(&mut tx, reason, ctx.now()).await?;
    let user = find_user(&mut tx, external_id).await?;
    tx.commit().await?;
    Ok(user)
}

/// Lists erasures of the tenant, newest first.
pub async fn list_erasures(ctx: &Ctx, page: &PageQuery) -> Result<Page<Erasure>> {
    let (limit, before) = (page.limit()?, page.after::<ErasureId>()?);
    let mut tx = begin(ctx).await?;
    let rows = erasures::list(&mut tx, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "erasures").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}
