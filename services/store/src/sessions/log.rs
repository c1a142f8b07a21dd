//! Statements on the log of a session, beside its turns: replies, taint, feedback, the end, and lists.

use chrono::{DateTime, Utc};
use knowhow_domain::job::task;
use knowhow_domain::{Channel, FeedbackKind, Message, MessageId, Result, Session, SessionId, Speaker, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::open::find_in;
use crate::vault::{Word, read, row, statement, write};
use crate::{Database, Principal, Window, WriteTx, examples};

row! {
    Message {
        id: Uuid = message_id, turn: i32, speaker: Word<Speaker>, text: String = content, tool_calls: i32,
        at: DateTime<Utc>,
    }
}

row! { struct JobsRow { jobs: i64 } }

statement! {
    read ListMessages { session: Uuid, after: Uuid, limit: i64 } -> Message,
    "-- sessions.list_messages
    select m.message_id, m.turn, m.speaker, m.content, m.tool_calls, m.at from messages m
    where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.message_id > $4
    order by m.message_id
    limit $5"
}

statement! {
    read ListLastMessages { session: Uuid, limit: i64, characters: i32 } -> Message,
    "-- sessions.list_last_messages
    select message_id, turn, speaker, content, tool_calls, at from (
        select m.message_id, m.turn, m.speaker, left(m.content, $5) as content, m.tool_calls, m.at from messages m
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
           s.previous_session_id, s.started_at, s.last_message_at, s.ended_at, s.tools
    from sessions s
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id < $3
      and ($4::text is null or s.key = $4) and ($5::text is null or s.channel = $5)
      and ($6::boolean is null or (s.ended_at is null) = $6)
    order by s.session_id desc
    limit $7"
}

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedReply {
    /// It belongs to this turn.
    InTurn(i32),
    /// The turn has as many as can be.
    TooMany,
    /// The conversation's log takes no more bytes.
    LogFull,
}

/// A reply of the agent, and what its session's log has room for.
#[derive(Debug, Clone, Copy)]
pub struct NewReply<'a> {
    pub session: SessionId,
    /// What the agent says.
    pub text: &'a str,
    /// How many tools it has called for it.
    pub tool_calls: i32,
    /// When silence has ended a session of each channel: one without a message since then is over.
    pub silent_since: &'a [(Channel, DateTime<Utc>)],
    /// When it is logged.
    pub now: DateTime<Utc>,
    /// Most replies to a message.
    pub most_replies: i32,
    /// Most bytes of a session's log.
    pub most_bytes: i64,
}

row! { struct ReplyRow { too_many: bool, log_full: bool, turn: Option<i32> } }

statement! {
    write AddReply {
        session: Uuid, now: DateTime<Utc>, message_id: Uuid, text: String, tool_calls: i32, channels: Vec<&'static str>,
        silent_since: Vec<DateTime<Utc>>, most_replies: i32, most_bytes: i64,
    } -> ReplyRow,
    "-- sessions.add_reply
    with open as (
        select s.session_id, s.turn_replies >= $10 as too_many, s.log_bytes + octet_length($6::text) > $11 as log_full
        from sessions s
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is null
          and not exists (select from unnest($8::text[], $9::timestamptz[]) as over (channel, since)
                          where over.channel = s.channel and s.last_message_at < over.since)
    ), talked as (
        update sessions s set last_message_at = greatest(s.last_message_at, $4), turn_replies = s.turn_replies + 1,
            log_bytes = s.log_bytes + octet_length($6::text)
        from open o
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is null
          and not o.too_many and not o.log_full
        returning s.turns as number
    ), logged as (
        insert into messages (tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, at)
        select $1, $2, $3, $5, number, 'agent', $6::text, $7, $4 from talked
        returning turn
    )
    select o.too_many as too_many, o.log_full as log_full, l.turn as turn from open o left join logged l on true"
}

/// Logs what the agent said; `None` where no such session is open, or silence has ended it. Two at the same moment may pass a limit by one.
///
/// # Errors
/// `Unavailable`.
pub async fn add_reply(tx: &mut WriteTx, new: &NewReply<'_>) -> Result<Option<LoggedReply>> {
    let (channels, silent_since) = new.silent_since.iter().map(|(channel, since)| (channel.as_str(), *since)).unzip();
    let reply = AddReply {
        session: new.session.0,
        now: new.now,
        message_id: new_id(),
        text: new.text.to_owned(),
        tool_calls: new.tool_calls,
        channels,
        silent_since,
        most_replies: new.most_replies,
        most_bytes: new.most_bytes,
    };
    Ok(tx.write(reply).await?.into_iter().next().and_then(|row| match (row.turn, row.too_many, row.log_full) {
        (Some(turn), ..) => Some(LoggedReply::InTurn(turn)),
        (None, true, _) => Some(LoggedReply::TooMany),
        (None, _, true) => Some(LoggedReply::LogFull),
        // Ended while this waited for its row.
        (None, ..) => None,
    }))
}

/// Messages, in their order.
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

/// How much of a conversation is read.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt {
    /// Most messages, the last ones.
    pub messages: i64,
    /// Most characters of each, the first ones.
    pub characters: i32,
}

/// The last messages, in their order.
///
/// # Errors
/// `Unavailable`.
pub async fn list_last_messages(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    excerpt: Excerpt,
) -> Result<Vec<Message>> {
    let Excerpt { messages: limit, characters } = excerpt;
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

/// Marks a session as tainted for good, with everything that was written in it and made or copied of that. Removes the
/// examples that were learned in it. Returns the session as it is then; `None`, and does nothing, if it is not the caller's.
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
    // An entry stays small, whatever the sources are called.
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

/// A judgement of a session.
#[derive(Debug, Clone, Copy)]
pub struct Feedback<'a> {
    pub kind: FeedbackKind,
    /// For `quality`: `good`, `fair` or `poor`.
    pub value: Option<&'a str>,
    pub note: Option<&'a str>,
}

/// Most judgements of one session.
pub const FEEDBACK: i64 = 100;

statement! {
    write AddFeedback {
        session: Uuid, kind: String, value: Option<String>, note: Option<String>, feedback_id: Uuid,
        now: DateTime<Utc>, audit_id: Uuid, actor: String, most: i64,
    } -> (),
    "-- sessions.add_feedback
    with judged as (
        update sessions s set quality = case when $4::text = 'quality' then $5 else s.quality end
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and $11 > (
            select count(*) from session_feedback f
            where f.tenant_id = $1 and f.user_id = $2 and f.session_id = $3)
        returning s.turns as number
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $9, $8, $10, 'session.feedback', $3::uuid::text, jsonb_build_object('kind', $4::text) from judged
    )
    insert into session_feedback (tenant_id, user_id, session_id, feedback_id, kind, value, note, turn, at)
    select $1, $2, $3, $7, $4, $5, $6, number, $8 from judged
    returning feedback_id"
}

/// A session, and whether another judgement of it was stored.
pub struct Judged {
    /// The session as it is then.
    pub session: Session,
    /// Whether the judgement was stored: not where the session has as many as it may have.
    pub is_kept: bool,
}

/// Stores a judgement; `None` where the session is not the caller's. A
/// judgement of kind `quality` becomes the session's quality. A correction or a thumbs-down removes the examples that
/// skills learned in that turn.
///
/// # Errors
/// `Unavailable`.
pub async fn add_feedback(
    tx: &mut WriteTx,
    session: SessionId,
    feedback: Feedback<'_>,
    now: DateTime<Utc>,
) -> Result<Option<Judged>> {
    let unlearns = matches!(feedback.kind, FeedbackKind::Correction | FeedbackKind::ThumbsDown);
    if unlearns {
        tx.lock_user();
    }
    let add = AddFeedback {
        session: session.0,
        kind: feedback.kind.as_str().to_owned(),
        value: feedback.value.map(str::to_owned),
        note: feedback.note.map(str::to_owned),
        feedback_id: new_id(),
        now,
        audit_id: new_id(),
        actor: tx.actor(),
        most: FEEDBACK,
    };
    let added = tx.send_ahead(add);
    let Some(found) = find_in(tx, session).await? else { return Ok(None) };
    if unlearns {
        examples::remove_of_turn(tx, session);
    }
    Ok(Some(Judged { session: found.session, is_kept: !added.take()?.is_empty() }))
}

/// Ends a session, and has its summary made. `false` where it is not the caller's, and for one that is over already.
///
/// # Errors
/// `Unavailable`.
pub async fn end(db: &Database, principal: &Principal, session: SessionId, now: DateTime<Utc>) -> Result<bool> {
    let end = End { session: session.0, now, task: task::SUMMARIZE_CONVERSATION };
    Ok(write(db, principal, end).await?.iter().any(|row| row.jobs > 0))
}

/// Selects the sessions of a list.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter<'a> {
    pub key: Option<&'a str>,
    /// Only sessions on this channel.
    pub channel: Option<Channel>,
    pub is_open: Option<bool>,
}

/// Sessions, the newest first.
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
