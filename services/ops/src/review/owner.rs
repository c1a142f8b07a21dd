//! Determines the owner of submissions and texts, and checks the caller's access to them.

use knowhow_domain::{Error, Result, Scope, SubmissionId};
use knowhow_store::review::submissions;
use knowhow_store::tenants::audit::{self, NewEntry};
use knowhow_store::tenants::users;
use knowhow_store::{Principal, TenantTx, check_external_id};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::Ctx;
use crate::tenants::begin;

/// Submitter of removals that the scanner proposes. Names of callers contain a colon, so no caller has this name.
pub(super) const SCANNER: &str = "scanner";
/// Submitter of offers of newer starters.
pub(crate) const STARTERS: &str = "starters";

/// The owner of accessed data: the caller, or another user if an admin accesses that user's data.
pub(crate) struct AccessedOwner {
    /// The context of the call, with the owner as its user.
    pub(crate) ctx: Ctx,
    /// Whether an admin accesses another user's data.
    pub(super) as_admin: bool,
}

/// Returns the owner of a submission: the caller's own user or, for an admin with a reason, any user of the tenant.
///
/// # Errors
/// `NotFound`; `Forbidden` if an admin gives no reason.
pub(super) async fn access_submission_owner(
    ctx: &Ctx,
    id: SubmissionId,
    reason: Option<&str>,
) -> Result<AccessedOwner> {
    if ctx.principal.user().is_ok() {
        let own = submissions::find(&ctx.app.db, &ctx.principal, id).await?;
        if own.is_some() {
            return Ok(AccessedOwner { ctx: ctx.clone(), as_admin: false });
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

/// Continues an admin's call on behalf of the user of `principal`, and records the access in the audit log.
async fn as_user(ctx: &Ctx, principal: Principal, entry: NewEntry<'_>) -> Result<AccessedOwner> {
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &principal, principal.user()?, "review.reach").await?;
    audit::record(&mut tx, entry, ctx.now()).await?;
    tx.commit().await?;
    Ok(AccessedOwner { ctx: Ctx { principal, ..ctx.clone() }, as_admin: true })
}

/// Selects the owner of texts; by default the caller.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// Return the texts of this user, by external id. Only for admins, with a reason in the header `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
}

/// Returns the caller's own user, or the user that an admin names. The admin's access is recorded as `action` in the
/// audit log.
///
/// # Errors
/// `Forbidden` if another user's data is requested and the caller is not an admin with the scope `review`, or gives
/// no reason; `NotFound` if that user does not exist.
pub(crate) async fn access_user(ctx: &Ctx, whose: &Whose, action: &'static str) -> Result<AccessedOwner> {
    let Some(name) = whose.user.as_deref() else {
        return Ok(AccessedOwner { ctx: ctx.clone(), as_admin: false });
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

/// Returns the admin's reason for accessing a user's data.
///
/// # Errors
/// `Malformed` if the reason is missing.
pub(super) fn require_reason(reason: Option<&str>) -> Result<&str> {
    reason.ok_or_else(|| {
        let detail = "send the header Knowhow-Reason with the reason for this access to another user's data, 8 to 200 characters";
        Error::Malformed(detail.into())
    })
}

/// Returns whether the caller may decide on changes of the context's user.
pub fn may_review(ctx: &Ctx) -> bool {
    AccessedOwner { ctx: ctx.clone(), as_admin: false }.require_reviewer().is_ok()
}

impl AccessedOwner {
    /// Returns whether the caller may see the proposed text and the findings.
    pub(crate) fn sees_text(&self) -> bool {
        self.require_reviewer().is_ok()
    }

    /// Checks that the caller may decide on the user's submissions.
    pub(crate) fn require_reviewer(&self) -> Result<()> {
        let principal = &self.ctx.principal;
        principal.require(Scope::Review)?;
        if self.as_admin || principal.require_admin().is_ok() || principal.settings().users_review {
            return Ok(());
        }
        Err(Error::Denied(
            "only a reviewer decides: an admin of the tenant, or the user if the tenant's setting users_review is on",
        ))
    }

    /// Checks that the caller is an admin of the tenant. Decisions that affect all users need an admin.
    pub(super) fn require_admin(&self) -> Result<()> {
        self.ctx.principal.require(Scope::Review)?;
        self.ctx.principal.require_admin()
    }

    /// Rejects the caller if the caller is the author, because authors must not approve their own changes.
    pub(super) fn require_other_than(&self, author: &str) -> Result<()> {
        if credential(author) == credential(self.ctx.principal.actor()) {
            return Err(Error::Denied("you wrote this text, so another reviewer has to decide"));
        }
        Ok(())
    }
}

/// Returns the credential of an actor. An API key counts as the same actor for all users that it acts for.
fn credential(actor: &str) -> &str {
    actor.split_once(" for ").map_or(actor, |(key, _)| key)
}

/// Returns whether the caller is an admin of the tenant. Admins can see the submissions of all users.
pub(super) fn is_admin(principal: &Principal) -> bool {
    principal.require_admin().is_ok()
}
