//! Conversations of a user, as the tenant's admins see and end them. What was said in them is the user's alone.

use knowhow_domain::{Error, Result, Session, SessionId, UserId};
use knowhow_store::sessions::{self, SessionFilter};
use knowhow_store::{TenantTx, users};

use super::{begin, check_named, note_read_of};
use crate::Ctx;
use crate::page::{Page, PageQuery, window};

/// Of whom, and which.
#[derive(Debug, Clone, Default)]
pub struct ListUserSessions {
    /// The user, by external id.
    pub user: String,
    /// Only open ones, or only those that are over.
    pub open: Option<bool>,
    /// The page to read.
    pub page: PageQuery,
}

/// Lists a user's sessions, the newest first.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn list_user_sessions(ctx: &Ctx, query: &ListUserSessions) -> Result<Page<Session>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<SessionId>()?.unwrap_or(SessionId::LAST));
    let user = find(ctx, &query.user, Some("session.read")).await?;
    let there = ctx.principal.looking_at(user, &query.user)?;
    let filter = SessionFilter { is_open: query.open, ..SessionFilter::default() };
    let rows = sessions::list(&ctx.app.db, &there, &filter, window(before, limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// Ends a user's session; its summary is made as ever. One that is over stays as it is.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn end_user_session(ctx: &Ctx, external_id: &str, session: SessionId) -> Result<()> {
    let user = find(ctx, external_id, None).await?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.end_session").await?;
    sessions::end_by_admin(&mut tx, session, ctx.now()).await?;
    tx.commit().await
}

async fn find(ctx: &Ctx, external_id: &str, noted_as: Option<&str>) -> Result<UserId> {
    check_named(ctx, external_id)?;
    let mut tx = begin(ctx).await?;
    let user = users::find_id(&mut tx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    if let Some(action) = noted_as {
        note_read_of(&ctx.app, &mut tx, action, Some(external_id)).await?;
    }
    tx.commit().await?;
    Ok(user)
}
