//! Logins to the console, and logouts.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::ConsoleSecret;
use knowhow_store::tenants::console_sessions::{self, SessionTimes, StatedReason};
use serde_json::json;

use super::view::{self, ViewUser};
use crate::Ctx;

/// Maximum duration of a session.
const LONGEST: TimeDelta = TimeDelta::hours(12);
/// Time after which an admin has to give the reason again.
const REASON: TimeDelta = TimeDelta::minutes(30);

/// Starts a session of the caller, and returns its secret. It ends after twelve hours, or when the caller's credential
/// expires.
///
/// # Errors
/// `Denied` for an operator, `Malformed` for a credential without a user.
pub async fn start_console_session(ctx: &Ctx, expires_at: Option<DateTime<Utc>>) -> Result<ConsoleSecret> {
    if ctx.principal.is_operator() {
        return Err(Error::Denied("the console opens for users and admins of a tenant, not for operators"));
    }
    ctx.principal.user()?;
    let (secret, now) = (ConsoleSecret::generate()?, ctx.now());
    let longest = now + LONGEST;
    let times = SessionTimes { now, ends_at: expires_at.map_or(longest, |expiry| expiry.min(longest)) };
    console_sessions::start(&ctx.app.db, &ctx.principal, &secret, times).await?;
    Ok(secret)
}

/// Stores the time of a session's last request.
pub async fn note_console_use(ctx: &Ctx, secret: &ConsoleSecret) -> Result<()> {
    console_sessions::note_use(&ctx.app.db, &ctx.principal, secret, ctx.now()).await
}

/// Stores an admin's reason to read the changes of other users in the session, for half an hour. `None` removes it.
///
/// # Errors
/// `Forbidden` unless the caller is an admin with the right to review; `Malformed` for a reason that is too short or too long.
pub async fn state_console_reason(ctx: &Ctx, secret: &ConsoleSecret, reason: Option<&str>) -> Result<()> {
    ctx.principal.require_admin()?;
    ctx.principal.require(Scope::Review)?;
    let ends_at = ctx.now() + REASON;
    let reason = reason.map(check_reason).transpose()?;
    let stated = reason.map(|reason| StatedReason { reason, ends_at, viewed: None });
    console_sessions::state_reason(&ctx.app.db, &ctx.principal, secret, stated).await
}

/// Lets an admin read the pages of one user in this session, for half an hour. The audit log records it once.
///
/// # Errors
/// As [`view_user`](super::view_user).
pub async fn view_user_in_console(ctx: &Ctx, secret: &ConsoleSecret, view: ViewUser<'_>) -> Result<()> {
    let user = view::check(ctx, view).await?;
    let (reason, ends_at) = (view.reason.trim(), ctx.now() + REASON);
    view::record(ctx, &user, json!({ "reason": reason, "until": ends_at })).await?;
    let stated = StatedReason { reason, ends_at, viewed: Some(user.id) };
    console_sessions::state_reason(&ctx.app.db, &ctx.principal, secret, Some(stated)).await
}

/// Ends a session of the caller.
pub async fn end_console_session(ctx: &Ctx, secret: &ConsoleSecret) -> Result<()> {
    console_sessions::end(&ctx.app.db, &ctx.principal, secret).await
}
