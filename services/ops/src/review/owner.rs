//! Whose submission it is, and who may see and decide it.

use knowhow_domain::{Error, Result, Scope, Submission};
use knowhow_store::audit::{self, NewEntry};
use knowhow_store::{Principal, TenantTx, submissions};
use serde_json::json;
use uuid::Uuid;

use crate::Ctx;
use crate::admin::begin;

/// Who proposes to remove what looks like an attack. No caller is called so: theirs have a colon.
pub(super) const SCANNER: &str = "scanner";
/// Who offers newer starters to those who have changed theirs.
pub(super) const STARTERS: &str = "starters";

/// Where a submission was found: among the caller's own, or another user's.
pub(super) struct Reached {
    /// The call, on behalf of the user whose skill it is.
    pub(super) ctx: Ctx,
    /// Whether the caller is an admin who looks at another user's.
    pub(super) as_admin: bool,
}

/// Finds whose submission this is: the caller's own user's, or, for an admin who says why, any of the tenant.
///
/// # Errors
/// `NotFound`; `Forbidden` without a reason.
pub(super) async fn reach(ctx: &Ctx, id: Uuid, reason: Option<&str>) -> Result<Reached> {
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
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &principal, user, "submissions.reach").await?;
    let entry = NewEntry { action: "submission.read", target: &id.to_string(), detail: json!({ "reason": reason }) };
    audit::record(&mut tx, entry, ctx.now()).await?;
    tx.commit().await?;
    Ok(Reached { ctx: Ctx { principal, ..ctx.clone() }, as_admin: true })
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
    pub(super) fn sees_text(&self) -> bool {
        self.require_reviewer().is_ok()
    }

    /// Refuses all but those who may decide on what waits here.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(super) fn require_reviewer(&self) -> Result<()> {
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

    /// Refuses the submitter, who must not decide on its own change.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(super) fn require_other_than(&self, submission: &Submission) -> Result<()> {
        if credential(&submission.submitter) == credential(self.ctx.principal.actor()) {
            return Err(Error::Forbidden("a reviewer who did not submit it"));
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
