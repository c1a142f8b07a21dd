//! Lists sessions and their messages, a page at a time.

use knowhow_domain::{Channel, Message, MessageId, Result, Scope, Session, SessionId};
use knowhow_store::sessions::{self, SessionFilter};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::open::{OpenedSession, view};
use super::{missing, session_id};
use crate::Ctx;
use crate::context::page::{self, Page, check_filter, window};

/// Filters for a list of sessions.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSessions {
    /// Only sessions of this key.
    #[param(max_length = 255)]
    pub key: Option<String>,
    /// Only sessions on this channel.
    pub channel: Option<Channel>,
    /// Only open sessions (`true`), or only ended ones (`false`).
    pub open: Option<bool>,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Selects the messages of a session.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMessages {
    /// The session id. It comes from the path, not from the query.
    #[serde(skip)]
    #[param(ignore)]
    pub session: String,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Lists sessions, newest first.
///
/// # Errors
/// `Malformed` if the limit or cursor is invalid.
pub async fn list_sessions(ctx: &Ctx, query: &ListSessions) -> Result<Page<Session>> {
    ctx.principal.require(Scope::Sessions)?;
    let limit = page::limit(query.limit)?;
    let before = page::after::<SessionId>(query.cursor.as_deref())?.unwrap_or(SessionId::LAST);
    check_filter("key", query.key.as_deref(), 255)?;
    let filter = SessionFilter { key: query.key.as_deref(), channel: query.channel, is_open: query.open };
    let rows = sessions::list(&ctx.app.db, &ctx.principal, &filter, window(before, limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// Returns a session with its snapshot.
pub async fn get_session(ctx: &Ctx, session: &str) -> Result<OpenedSession> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(session)?;
    let found = sessions::find(&ctx.app.db, &ctx.principal, session).await?.ok_or_else(missing)?;
    view(ctx, found, true).await
}

/// Lists the messages of a session, from user and agent, oldest first.
///
/// # Errors
/// `NotFound` if the user has no such session; `Malformed` if the limit or cursor is invalid.
pub async fn list_messages(ctx: &Ctx, query: &ListMessages) -> Result<Page<Message>> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&query.session)?;
    let (limit, after) =
        (page::limit(query.limit)?, page::after::<MessageId>(query.cursor.as_deref())?.unwrap_or(MessageId::FIRST));
    let rows = sessions::list_messages(&ctx.app.db, &ctx.principal, session, window(after, limit)).await?;
    if rows.is_empty() {
        sessions::find(&ctx.app.db, &ctx.principal, session).await?.ok_or_else(missing)?;
    }
    Page::of(rows, limit, |last| last.id)
}

/// Number of recent messages.
const RECENT: i64 = 20;

/// Lists the user's latest messages of up to 2,000 bytes over all sessions, newest first.
pub async fn list_recent_texts(ctx: &Ctx) -> Result<Vec<String>> {
    ctx.principal.require(Scope::Sessions)?;
    sessions::list_recent_texts(&ctx.app.db, &ctx.principal, RECENT).await
}
