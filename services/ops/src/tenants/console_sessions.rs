//! Logins to the console, and logouts.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Error, Result};
use knowhow_store::ConsoleSecret;
use knowhow_store::tenants::console_sessions::{self, SessionTimes};

use crate::Ctx;

/// Maximum duration of a session.
const LONGEST: TimeDelta = TimeDelta::hours(12);

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

/// Ends a session of the caller.
pub async fn end_console_session(ctx: &Ctx, secret: &ConsoleSecret) -> Result<()> {
    console_sessions::end(&ctx.app.db, &ctx.principal, secret).await
}
