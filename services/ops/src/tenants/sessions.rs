//! Sessions of a user, for the tenant's admins to list and end. The messages of a session are visible only to the
//! user.

use knowhow_domain::{Error, Result, Session, SessionId, UserId};
use knowhow_store::TenantTx;
use knowhow_store::sessions::{self, SessionFilter};
use knowhow_store::tenants::users;

use super::{begin, check_named, note_read_of};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, window};

/// Filters for a list of sessions.
#[derive(Debug, Clone, Default)]
pub struct ListUserSessions {
    /// The user, by external id.
    pub user: String,
    /// `true` for open sessions only, `false` for ended sessions only; `None` for both.
    pub open: Option<bool>,
    pub page: PageQuery,
}

/// Lists a user's sessions, newest first.
pub async fn list_user_sessions(ctx: &Ctx, query: &ListUserSessions) -> Result<Page<Session>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<SessionId>()?.unwrap_or(SessionId::LAST));
    let user = find(ctx, &query.user, Some("session.read")).await?;
    let there = ctx.principal.looking_at(user, &query.user)?;
    let filter = SessionFilter { is_open: query.open, ..SessionFilter::default() };
    let rows = sessions::list(&ctx.app.db, &there, &filter, window(before, limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// Ends a user's session; its summary is made as usual. An ended session stays unchanged.
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
