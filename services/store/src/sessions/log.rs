//! Statements on the log of a session: messages, taint, end, and lists. Turns, replies and feedback have their own
//! modules.

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Channel, Message, MessageId, Result, Session, SessionId, Speaker, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::find::find_in;
use crate::learning::examples;
use crate::vault::value::ToolCalls;
use crate::vault::{Word, read, row, statement, write};
use crate::{Database, Principal, Window, WriteTx};

row! {
    Message {
        id: Uuid = message_id, turn: i32, speaker: Word<Speaker>, text: String = content, tool_calls: i32,
        rounds: Option<i32>, tools: ToolCalls, budget_spent: bool, at: DateTime<Utc>,
    }
}

row! { struct JobsRow { jobs: i64 } }

statement! {
    read ListMessages { session: Uuid, after: Uuid, limit: i64 } -> Message,
    "-- sessions.list_messages
    select m.message_id, m.turn, m.speaker, m.content, m.tool_calls, m.rounds, m.tools, m.budget_spent, m.at
    from messages m
    where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.message_id > $4
    order by m.message_id
    limit $5"
}

row! { struct TextRow { content: String } }

statement! {
    read ListRecentTexts { sessions: i64, limit: i64, bytes: i32 } -> TextRow,
    "-- sessions.list_recent_texts
    select m.content
    from (
        select s.session_id from sessions s where s.tenant_id = $1 and s.user_id = $2
        order by s.session_id desc limit $3) latest
    cross join lateral (
        select m.message_id, m.content from messages m
        where m.tenant_id = $1 and m.user_id = $2 and m.session_id = latest.session_id and m.speaker = 'user'
          and octet_length(m.content) <= $5
        order by m.message_id desc limit $4) m
    order by m.message_id desc
    limit $4"
}

/// Number of latest sessions in which recent messages are searched.
const LATEST_SESSIONS: i64 = 20;
/// Maximum size of a recent message in bytes. Longer messages are left out.
const RECENT_BYTES: i32 = 2_000;

/// Lists texts of the user's latest messages over all sessions, newest first.
pub async fn list_recent_texts(db: &Database, principal: &Principal, limit: i64) -> Result<Vec<String>> {
    let recent = ListRecentTexts { sessions: LATEST_SESSIONS, limit, bytes: RECENT_BYTES };
    Ok(read(db, principal, recent).await?.into_iter().map(|row| row.content).collect())
}

/// A logged message from the user or the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedMessage {
    pub speaker: Speaker,
    /// The beginning of the text.
    pub text: String,
}

row! { LoggedMessage { speaker: Word<Speaker>, text: String = content } }

statement! {
    read ListLastMessages { session: Uuid, limit: i64, characters: i32 } -> LoggedMessage,
    "-- sessions.list_last_messages
    select speaker, content from (
        select m.message_id, m.speaker, left(m.content, $5) as content
        from messages m
        where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3
        order by m.message_id desc
        limit $4) last
    order by message_id"
}

statement! {
    write End<'a> { session: Uuid, now: DateTime<Utc>, task: &'a str } -> JobsRow,
    "-- sessions.end
    with ended as (
        update sessions s set ended_at = $4
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is null
        returning s.session_id
    )
    select count(app.enqueue($5, jsonb_build_object('session_id', session_id), session_id::text)) as jobs
    from ended"
}

statement! {
    read ListSessions<'a> {
        before: Uuid, key: Option<&'a str>, channel: Option<&'a str>, is_open: Option<bool>, limit: i64,
    } -> Session,
    "-- sessions.list
    select s.session_id, s.key, s.channel, s.max_turns, s.turns, s.index_budget, s.inline_top, s.tainted_by, s.quality,
           s.previous_session_id, s.started_at, s.last_message_at, s.ended_at, s.tools, s.budgets_spent
    from sessions s
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id < $3
      and ($4::text is null or s.key = $4) and ($5::text is null or s.channel = $5)
      and ($6::boolean is null or (s.ended_at is null) = $6)
    order by s.session_id desc
    limit $7"
}

/// Lists messages of a session, the oldest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list_messages(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    page: Window<MessageId>,
) -> Result<Vec<Message>> {
    read(db, principal, ListMessages { session: session.0, after: page.behind.0, limit: page.limit }).await
}

/// Limits on the part of a conversation that is read.
#[derive(Debug, Clone, Copy)]
pub struct ExcerptLimits {
    /// Maximum number of messages, counted from the last one.
    pub messages: i64,
    /// Maximum number of characters of each message, from its beginning.
    pub characters: i32,
}

/// Lists the last messages of a session, the oldest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list_last_messages(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    excerpt: ExcerptLimits,
) -> Result<Vec<LoggedMessage>> {
    let ExcerptLimits { messages: limit, characters } = excerpt;
    read(db, principal, ListLastMessages { session: session.0, limit, characters }).await
}

row! { struct MarkedRow { is_new: Option<bool> } }

statement! {
    write Taint {
        session: Uuid, sources: Vec<String>, now: DateTime<Utc>, audit_id: Uuid, actor: String, detail: Value,
    } -> MarkedRow,
    "-- sessions.taint
    with marked as materialized (
        select app.mark_session($3, $4, $5) as is_new
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $6, $5, $7, 'session.taint', $3::uuid::text, $8 from marked where is_new
    )
    select is_new from marked"
}

/// Taints a session permanently, with all data that was written in it, derived from it or copied from it. Removes the
/// examples that were learned in the session. Returns the session in its new state. Returns `None`, without a change,
/// if the session is not the caller's.
///
/// # Errors
/// `Unavailable`.
pub async fn taint(
    tx: &mut WriteTx,
    session: SessionId,
    sources: &[String],
    now: DateTime<Utc>,
) -> Result<Option<Session>> {
    let actor = tx.actor();
    // The source is truncated, so that an audit entry stays small.
    let detail =
        json!({"sources": sources.len(), "first": sources.first().map(|s| s.chars().take(80).collect::<String>())});
    let taint = Taint { session: session.0, sources: sources.to_vec(), now, audit_id: new_id(), actor, detail };
    let marked = tx.send_ahead(taint);
    let found = find_in(tx, session).await?;
    if marked.take()?.iter().any(|row| row.is_new == Some(true)) {
        examples::remove_of_session(tx, session);
    }
    Ok(found.map(|found| found.session))
}

/// Ends a session, and enqueues its summary. Returns `false` if the session is not the caller's or has already ended.
///
/// # Errors
/// `Unavailable`.
pub async fn end(db: &Database, principal: &Principal, session: SessionId, now: DateTime<Utc>) -> Result<bool> {
    let end = End { session: session.0, now, task: task::SUMMARIZE_CONVERSATION };
    Ok(write(db, principal, end).await?.iter().any(|row| row.jobs > 0))
}

/// Filters for a list of sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter<'a> {
    pub key: Option<&'a str>,
    /// Channel of the sessions; `None` for all channels.
    pub channel: Option<Channel>,
    pub is_open: Option<bool>,
}

/// Lists sessions, the newest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list(
    db: &Database,
    principal: &Principal,
    filter: &SessionFilter<'_>,
    page: Window<SessionId>,
) -> Result<Vec<Session>> {
    let SessionFilter { key, channel, is_open } = *filter;
    let channel = channel.map(Channel::as_str);
    let Window { behind: SessionId(before), limit } = page;
    read(db, principal, ListSessions { before, key, channel, is_open, limit }).await
}
