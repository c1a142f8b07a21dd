//! Erasing users, and keeping them from it.

use knowhow_domain::erasure::check_reason;
use knowhow_domain::{Erasure, ErasureId, Error, Result, User, UserId};
use knowhow_store::TenantTx;
use knowhow_store::erasures::{self, Began, NewErasure, Sought};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::users::find_user;
use super::{begin, find_named, note_look};
use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// Why a user may not be erased.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldUser {
    /// For the audit log; it should name nobody.
    #[schema(min_length = 8, max_length = 200)]
    pub reason: String,
}

/// Whom to erase, and why.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EraseQuery {
    /// For the audit log and the ledger, which are kept; it should name nobody.
    #[param(min_length = 8, max_length = 200)]
    pub reason: String,
    /// Only the user of this id, as `GET /v1/admin/users/{external_id}` shows it. A request that is sent again is then never about a
    /// new user of the same name.
    #[param(value_type = Option<Uuid>)]
    pub user_id: Option<UserId>,
}

/// Erases a user: gone at once for everybody, and a job removes the rows. The name is free for a new user then. Where the user was
/// erased before and nobody else has the name since, or the query names the old one, answers with that erasure.
///
/// # Errors
/// `Forbidden`; `Malformed` for the reason; `NotFound` where there is and was no such user; `Conflict` `user-held`.
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
            Began::Held => return Err(held()),
            Began::Gone => drop(tx),
            Began::Erasing(id) => {
                let erasure = erasures::find(&mut tx, Sought { id: Some(id), ..Sought::default() }).await?;
                tx.commit().await?;
                ctx.app.gate.state().forget_tenants();
                return erasure.ok_or_else(|| Error::internal("an erasure that is not in the ledger"));
            }
        }
    }
    let mut tx = begin(ctx).await?;
    let erasure = erasures::find(&mut tx, Sought { hashes: &hashes, id: None, user: query.user_id }).await?;
    tx.commit().await?;
    erasure.ok_or_else(|| Error::not_found("user"))
}

fn held() -> Error {
    let detail = "the user is held: nothing of it may be erased until an admin releases it";
    Error::Conflict { code: "user-held", detail: detail.into() }
}

/// Keeps a user from being erased. Anew with another reason, it says that one.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Malformed` for the reason.
pub async fn hold_user(ctx: &Ctx, external_id: &str, input: &HoldUser) -> Result<User> {
    let reason = check_reason(&input.reason)?;
    set_hold(ctx, external_id, Some(reason)).await
}

/// Lets a user be erased again.
///
/// # Errors
/// `Forbidden`, `NotFound`.
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
///
/// # Errors
/// `Forbidden`.
pub async fn list_erasures(ctx: &Ctx, page: &PageQuery) -> Result<Page<Erasure>> {
    let (limit, before) = (page.limit()?, page.after::<ErasureId>()?);
    let mut tx = begin(ctx).await?;
    let rows = erasures::list(&mut tx, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "erasures").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}
