//! Opening a session: the one of the key that is open, or a new one.

use chrono::{DateTime, Utc};
use knowhow_domain::job::task;
use knowhow_domain::{Channel, ConversationSummary, Result, Session, SessionId, SnapshotId, Tools, new_id};
use uuid::Uuid;

use crate::snapshots::Snapshot;
use crate::vault::value::Summary;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

/// A session with what it began with.
#[derive(Debug, Clone)]
pub struct Opened {
    pub session: Session,
    pub snapshot: Snapshot,
    /// The summary of the conversation before, once it is made.
    pub previous_summary: Option<ConversationSummary>,
    /// Whether that had read what is not to be trusted.
    pub previous_tainted: bool,
    pub previous_started_at: Option<DateTime<Utc>>,
    /// Whether something that snapshots show was marked as untrusted since the session began.
    pub is_marked_since: bool,
}

/// The way to look up a session.
#[derive(Debug, Clone, Copy)]
pub enum SessionKey<'a> {
    /// By its id, open or over.
    Id(SessionId),
    /// The open one of a key.
    Open(&'a str),
}

row! {
    struct FoundRow {
        previous_summary: Option<Summary>, previous_tainted: bool, previous_started_at: Option<DateTime<Utc>>,
        is_marked_since: bool,
    }
}

row! { struct MadeRow { session_id: Option<Uuid>, is_reused: bool } }

statement! {
    read Find<'a> { id: Option<Uuid>, open: Option<&'a str> } -> (Session, (Snapshot, FoundRow)),
    "-- sessions.find
    select s.session_id, s.key, s.channel, s.max_turns, s.turns, s.index_budget, s.inline_top, s.tainted_by, s.quality,
           s.previous_session_id, s.started_at, s.last_message_at, s.ended_at, s.tools,
           n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, p.summary as previous_summary,
           coalesce(p.tainted or o.tainted_by <> '{}', o.tainted_by <> '{}', p.tainted, false) as previous_tainted,
           o.started_at as previous_started_at,
           coalesce(c.marked_at > greatest(n.created_at, s.started_at), false) as is_marked_since
    from sessions s
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = s.snapshot_id
    left join sessions o on o.tenant_id = $1 and o.user_id = $2 and o.session_id = s.previous_session_id
    left join conversation_summaries p
        on p.tenant_id = $1 and p.user_id = $2 and p.session_id = s.previous_session_id
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = coalesce($3, (
        select o.session_id from sessions o
        where o.tenant_id = $1 and o.user_id = $2 and o.key = $4 and o.ended_at is null))"
}

// Of too many conversations, or too large ones, the oldest that are over leave, some more than one at a time so that few
// sessions pay for it. One begins where that is enough, or what is open is within the bounds.
//
// The count makes closing happen before the insert looks for an open session of the key. One that has no message yet
// has not begun: it takes the new terms, and starts now. Unless the jobs are asked for, none is enqueued.
statement! {
    write Open<'a> {
        id: Uuid, key: &'a str, now: DateTime<Utc>, channel: &'a str, max_turns: i32, index_budget: i32,
        inline_top: bool, snapshot: Uuid, silent_since: DateTime<Utc>, tools: &'a str, begun_at: Option<DateTime<Utc>>,
        most_sessions: i64, most_bytes: i64, task: &'a str,
    } -> MadeRow,
    "-- sessions.open
    with closed as (
        update sessions o set ended_at = $5
        where o.tenant_id = $1 and o.user_id = $2 and o.key = $4 and o.ended_at is null and o.last_message_at < $11
        returning o.session_id
    ), reused as (
        update sessions s set channel = $6, max_turns = $7, index_budget = $8, inline_top = $9, snapshot_id = $10,
            started_at = $5, tools = $12
        where s.tenant_id = $1 and s.user_id = $2 and s.key = $4 and s.ended_at is null and s.last_message_at is null
        returning s.session_id
    ), previous as (
        select coalesce(
            (select session_id from closed),
            (select e.session_id from sessions e
             where e.tenant_id = $1 and e.user_id = $2 and e.key = $4 and e.ended_at is not null
             order by e.session_id desc limit 1)) as session_id
        from (select count(*) from closed) as closing
    ), kept as materialized (
        select count(*) as sessions,
               coalesce(sum(k.log_bytes), 0)::bigint + (
                   select coalesce(sum(n.bytes), 0)::bigint from snapshots n
                   where n.tenant_id = $1 and n.user_id = $2 and exists (
                       select from sessions u where u.tenant_id = $1 and u.user_id = $2
                           and u.snapshot_id = n.snapshot_id)) as bytes
        from sessions k where k.tenant_id = $1 and k.user_id = $2
    ), over as materialized (
        select o.session_id from sessions o, kept
        where (kept.sessions >= $14 or kept.bytes > $15)
          and o.tenant_id = $1 and o.user_id = $2 and o.ended_at is not null
        order by o.session_id limit 20
    ), left_out as (
        delete from sessions s using over
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = over.session_id
    ), room as (
        select kept.sessions < $14 and kept.bytes <= $15 or exists (select from over) as is_left from kept
    ), made as (
        insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top,
            snapshot_id, previous_session_id, started_at, tools, last_message_at)
        select $1, $2, $3, $4, $6, $7, $8, $9, $10, p.session_id, $5, $12, $13
        from previous p, room
        where room.is_left and not exists (select from reused)
        on conflict (tenant_id, user_id, key) where ended_at is null do nothing
        returning session_id
    )
    select m.session_id, m.is_reused
    from (select session_id, true as is_reused from reused
          union all select session_id, false from made
          union all select null, false from room where not is_left and not exists (select from reused)) m
    cross join (select count(app.enqueue($16, jsonb_build_object('session_id', session_id),
                                         session_id::text)) as jobs
                from closed) e
    where e.jobs >= 0"
}

/// A session of the caller's.
///
/// # Errors
/// `Unavailable`.
pub async fn find(db: &Database, principal: &Principal, key: SessionKey<'_>) -> Result<Option<Opened>> {
    let find = match key {
        SessionKey::Id(id) => Find { id: Some(id.0), open: None },
        SessionKey::Open(key) => Find { id: None, open: Some(key) },
    };
    let rows = read(db, principal, find).await?;
    Ok(rows.into_iter().next().map(|(session, (snapshot, row))| Opened {
        session,
        snapshot,
        previous_summary: row.previous_summary.map(Into::into),
        previous_tainted: row.previous_tainted,
        previous_started_at: row.previous_started_at,
        is_marked_since: row.is_marked_since,
    }))
}

statement! {
    write ReplaceSnapshot { session: Uuid, snapshot: Uuid } -> (),
    "-- sessions.replace_snapshot
    update sessions s set snapshot_id = $4
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.snapshot_id <> $4"
}

/// Gives a session another snapshot than it began with: what its own shows was marked as untrusted since.
///
/// # Errors
/// `Unavailable`.
pub async fn replace_snapshot(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    snapshot: SnapshotId,
) -> Result<()> {
    write(db, principal, ReplaceSnapshot { session: session.0, snapshot: snapshot.0 }).await?;
    Ok(())
}

/// The terms of a session.
#[derive(Debug, Clone)]
pub struct NewSession<'a> {
    /// Names the stream; a session of its own where there is none.
    pub key: Option<&'a str>,
    pub channel: Channel,
    pub max_turns: i32,
    pub index_budget: i32,
    pub inline_top: bool,
    pub tools: Tools,
    /// What it begins with.
    pub snapshot: SnapshotId,
    /// The key's open session is over where its last message is older.
    pub silent_since: DateTime<Utc>,
    /// When it is opened.
    pub now: DateTime<Utc>,
    /// Most sessions of the user that are kept, and most bytes of them.
    pub bounds: (i64, i64),
    /// Whether it has begun with being opened, without a message: a call comes from it already.
    pub has_begun: bool,
}

/// The outcome of opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedAs {
    New(SessionId),
    /// One that had been opened before without ever having a message.
    Reused(SessionId),
    /// None: the user has as many open sessions, or as large ones, as can be.
    Full,
}

/// Ends the key's session where it has been silent for too long, and opens one. `None` where another request has opened one
/// meanwhile.
///
/// # Errors
/// `Unavailable`.
pub async fn open(db: &Database, principal: &Principal, new: &NewSession<'_>) -> Result<Option<OpenedAs>> {
    let id = new_id();
    let own_key = id.to_string();
    let opened = write(
        db,
        principal,
        Open {
            id,
            key: new.key.unwrap_or(&own_key),
            now: new.now,
            channel: new.channel.as_str(),
            max_turns: new.max_turns,
            index_budget: new.index_budget,
            inline_top: new.inline_top,
            snapshot: new.snapshot.0,
            silent_since: new.silent_since,
            tools: new.tools.as_str(),
            begun_at: new.has_begun.then_some(new.now),
            most_sessions: new.bounds.0,
            most_bytes: new.bounds.1,
            task: task::SUMMARIZE_CONVERSATION,
        },
    )
    .await?;
    Ok(opened.into_iter().next().map(|row| match (row.session_id, row.is_reused) {
        (Some(id), true) => OpenedAs::Reused(SessionId(id)),
        (Some(id), false) => OpenedAs::New(SessionId(id)),
        (None, _) => OpenedAs::Full,
    }))
}
