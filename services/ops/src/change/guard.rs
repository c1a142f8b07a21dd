//! Rejects changes that need a review but have no text, so they cannot be stored as a submission: importance,
//! relations, flags, examples, and deleted memories.

use knowhow_domain::{Error, Result};
use knowhow_store::{WriteTx, skills};

use super::review_policy::{is_reviewed, may_change_settings};
use crate::Ctx;

/// Rejects a change to a skill's settings that needs a review. A review is needed in a tainted session. If the tenant
/// reviews every change, a review is needed unless the caller is a reviewer.
///
/// # Errors
/// `Conflict` `needs-review`.
pub(crate) async fn guard_skill(ctx: &Ctx, tx: &mut WriteTx) -> Result<()> {
    if !may_change_settings(ctx) {
        return Err(refusal("this tenant reviews every change of a skill"));
    }
    guard_memory(ctx, tx).await
}

/// Rejects the change if one of the request's sessions is tainted or unknown, unless the tenant has turned reviews
/// off.
///
/// # Errors
/// `Conflict` `needs-review`.
pub(crate) async fn guard_memory(ctx: &Ctx, tx: &mut WriteTx) -> Result<()> {
    if !is_reviewed(ctx) {
        return Ok(());
    }
    match skills::refuse_tainted(tx, &ctx.call.named(None)).await {
        Err(Error::MustBeReviewed(_)) => Err(refusal("the session has read untrusted content, or is unknown")),
        done => done,
    }
}

fn refusal(reason: &str) -> Error {
    Error::Conflict { code: "needs-review", detail: format!("{reason}; a reviewer has to make this change") }
}
