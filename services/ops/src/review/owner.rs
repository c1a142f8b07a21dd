//! Whose submission it is, and who may see and decide it.

use knowhow_domain::{Error, Result, Scope, SubmissionId};
use knowhow_store::audit::{self, NewEntry};
use knowhow_store::{Principal, TenantTx, check_external_id, submissions, users};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::Ctx;
use crate::admin::begin;

/// Who proposes to remove what looks like an attack. No caller is called so: theirs have a colon.
pub(super) const SCANNER: &str = "scanner";
/// Who offers newer starters to those who have changed theirs.
pub(super) const STARTERS: &str = "starters";

/// Where a submission was found: among the caller's own, or another user's.
pub(crate) struct Reached {
    /// The call, on behalf of the user whose skill it is.
    pub(crate) ctx: Ctx,
    /// Whether the caller is an admin who looks at another user's.
    pub(super) as_admin: bool,
}

/// Finds whose submission this is: the caller's own user's, or, for an admin who says why, any of the tenant.
///
/// # Errors
/// `NotFound`; `Forbidden` without a reason.
pub(super) async fn reach(ctx: &Ctx, id: SubmissionId, reason: Option<&str>) -> Result<Reached> {
    if ctx.principal.user().is_ok() {
        let own = submissions::find(&ctx.app.db, &ctx.principal, id).await?;
        if own.is_some() {
            return Ok(Reached { ctx: ctx.clone(), as_admin: false });
        }
    }
    if ctx.principal.require_admin().is_err() {
        return Err(Error::not_found("submission"));
    }
    let reason = require_reason(reason)?;
    let mut tx = begin(ctx).await?;
    let (user, external_id) =
        submissions::find_owner(&mut tx, id).await?.ok_or_else(|| Error::not_found("submission"))?;
    tx.commit().await?;
    let principal = ctx.principal.reviewing(user, &external_id)?;
    let entry = NewEntry { action: "submission.read", target: &id.to_string(), detail: json!({ "reason": reason }) };
    as_user(ctx, principal, entry).await
}

/// Goes on as an admin on behalf of the user of `principal`, and notes it.
async fn as_user(ctx: &Ctx, principal: Principal, entry: NewEntry<'_>) -> Result<Reached> {
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &principal, principal.user()?, "review.reach").await?;
    audit::record(&mut tx, entry, ctx.now()).await?;
    tx.commit().await?;
    Ok(Reached { ctx: Ctx { principal, ..ctx.clone() }, as_admin: true })
}

/// Whose texts are looked at.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// Those of this user, by external id: for admins, who say why in the header `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
}

/// The caller's own user, or the one that an admin names, who says why; `action` notes it among that user's.
///
/// # Errors
/// `Forbidden` for another user's without being an admin who may review, or without a reason; `NotFound` for the user.
pub(crate) async fn reach_user(ctx: &Ctx, whose: &Whose, action: &'static str) -> Result<Reached> {
    let Some(name) = whose.user.as_deref() else {
        return Ok(Reached { ctx: ctx.clone(), as_admin: false });
    };
    ctx.principal.require(Scope::Review)?;
    ctx.principal.require_admin()?;
    check_external_id(name)?;
    let reason = require_reason(whose.reason.as_deref())?;
    let mut tx = begin(ctx).await?;
    let user = users::find(&mut tx, name).await?.ok_or_else(|| Error::not_found("user"))?;
    tx.commit().await?;
    let principal = ctx.principal.reviewing(user.id, &user.external_id)?;
    let target = user.id.to_string();
    as_user(ctx, principal, NewEntry { action, target: &target, detail: json!({ "reason": reason }) }).await
}

/// Why an admin looks at what is a user's.
///
/// # Errors
/// `Forbidden` without a reason.
pub(super) fn require_reason(reason: Option<&str>) -> Result<&str> {
    reason.ok_or(Error::Forbidden("header Knowhow-Reason: 8 to 200 characters that say why"))
}

impl Reached {
    /// Whether the caller is shown the text and what was found in it.
    pub(crate) fn sees_text(&self) -> bool {
        self.require_reviewer().is_ok()
    }

    /// Refuses all but those who may decide on what waits here.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(crate) fn require_reviewer(&self) -> Result<()> {
        let principal = &self.ctx.principal;
        principal.require(Scope::Review)?;
        if self.as_admin || principal.require_admin().is_ok() || principal.settings().users_review {
            return Ok(());
        }
        Err(Error::Forbidden("admin"))
    }

    /// Refuses all but the tenant's admins, for what concerns all of its users.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(super) fn require_admin(&self) -> Result<()> {
        self.ctx.principal.require(Scope::Review)?;
        self.ctx.principal.require_admin()
    }

    /// Refuses the author, who must not decide on its own change.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(super) fn require_other_than(&self, author: &str) -> Result<()> {
        if credential(author) == credential(self.ctx.principal.actor()) {
            return Err(Error::Forbidden("a reviewer who did not write it"));
        }
        Ok(())
    }
}

/// The credential of an actor: a key is the same for whomever it is used.
fn credential(actor: &str) -> &str {
    actor.split_once(" for ").map_or(actor, |(key, _)| key)
}

/// Whether the caller administers the tenant, and so sees all users' submissions.
pub(super) fn is_admin(principal: &Principal) -> bool {
    principal.require_admin().is_ok()
}
