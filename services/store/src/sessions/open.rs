//! Opens a session: continues the open session with the key, or creates one.

mod opened;

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Channel, Result, Session, SessionId, SnapshotForm, SnapshotId, Tools, new_id};
use uuid::Uuid;

pub(super) use opened::OpenedSessionRow;
pub use opened::{Opened, OpenedAs};

use crate::sessions::snapshots::Snapshot;
use crate::vault::{row, statement, write};
use crate::{Database, Principal};

row! { struct OpenedRow { goes_on: bool, is_reused: bool, rendered_at: Option<DateTime<Utc>> } }

// A single round trip handles all cases. If the key's session continues, the statement returns it. If it is over,
// another session begins with the current snapshot. If no snapshot is given and the current one is missing or too old,
// the statement makes no change and the caller renders one first.
//
// If the conversations exceed the limits in number or size, the oldest ended ones are deleted. Several are deleted at
// once, so that few requests bear the cost. A session begins if that is enough, or if the open sessions are within
// the limits.
//
// Counting reads all conversations, so it is not done each time. Each session stores the number of sessions that may
// begin before the next count: half of the remaining number, at most 30. Concurrent requests can therefore exceed the
// limit slightly. Counting is also skipped if it was just done and the limit was reached.
//
// The insert refers to the count, so that sessions are closed before the insert looks for an open session with the key.
// A session without a message has not begun yet: it gets the new terms and starts now. The subquery of jobs must be
// referenced, or no job would be enqueued.
//
// `is true` prevents the search for the key's last session from using the index of all ended sessions of the tenant.
// With few rows, Postgres estimates the same cost for that index as for the index of keys.
statement! {
    write Open<'a> {
        id: Uuid, key: &'a str, now: DateTime<Utc>, channel: &'a str, max_turns: i32, index_budget: i32,
        inline_top: bool, snapshot: Option<Uuid>, channels: &'a [&'a str], silent_since: &'a [DateTime<Utc>],
        tools: &'a str, begun_at: Option<DateTime<Utc>>, most_sessions: i64, most_bytes: i64, task: &'a str,
        form: &'a str, rendered_since: DateTime<Utc>, was_full: bool,
    } -> (OpenedRow, Option<(Session, (Snapshot, OpenedSessionRow))>),
    "-- sessions.open
    with gaps as materialized (
        select * from unnest($11::text[], $12::timestamptz[]) as g (channel, silent_since)
    ), catalog as materialized (
        select c.snapshot_floor, c.marked_at from user_catalogs c where c.tenant_id = $1 and c.user_id = $2
    ), gone_on as materialized (
        select s.* from sessions s join gaps g on g.channel = s.channel
        where s.tenant_id = $1 and s.user_id = $2 and s.key = $4 and s.ended_at is null
          and ($14::timestamptz is not null or s.last_message_at is not null)
          and coalesce(s.last_message_at >= g.silent_since, true)
    ), current as materialized (
        select coalesce($10::uuid, (
            select c.snapshot_id from current_snapshots c, catalog
            where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $8 and c.form = $18
              and c.revision >= catalog.snapshot_floor and c.rendered_at > $19)) as snapshot_id
        where not exists (select from gone_on)
    ), begun as materialized (
        select snapshot_id from current where snapshot_id is not null
    ), touched as (
        update current_snapshots c set used_at = $5
        from begun
        where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $8 and c.form = $18
          and c.used_at < $5::timestamptz - interval '10 minutes'
    ), closed as (
        update sessions o set ended_at = $5
        from gaps g, begun
        where o.tenant_id = $1 and o.user_id = $2 and o.key = $4 and o.ended_at is null
          and g.channel = o.channel and o.last_message_at < g.silent_since
        returning o.session_id
    ), reused as (
        update sessions s set channel = $6, max_turns = $7, index_budget = $8, inline_top = $9,
            snapshot_id = begun.snapshot_id, started_at = $5, tools = $13
        from begun
        where s.tenant_id = $1 and s.user_id = $2 and s.key = $4 and s.ended_at is null and s.last_message_at is null
        returning s.*
    ), previous as (
        select coalesce(
            (select session_id from closed),
            (select e.session_id from sessions e
             where e.tenant_id = $1 and e.user_id = $2 and e.key = $4 and (e.ended_at is not null) is true
             order by e.session_id desc limit 1)) as session_id
        from (select count(*) from closed) as closing, begun
    ), uncounted as materialized (
        select newest.room - 1 as beyond
        from begun cross join lateral (
            select l.room from sessions l where l.tenant_id = $1 and l.user_id = $2
            order by l.session_id desc limit 1) as newest
        where not $20 and newest.room > 0 and newest.room < $15::bigint
    ), due as materialized (
        select from begun where not $20 and not exists (select from uncounted)
    ), logs as materialized (
        select count(*) as sessions, coalesce(sum(k.log_bytes), 0)::bigint as bytes
        from sessions k where k.tenant_id = $1 and k.user_id = $2 and exists (select from due)
    ), kept as materialized (
        select logs.sessions, logs.bytes + (
            select coalesce(sum(n.bytes), 0)::bigint from snapshots n
            where n.tenant_id = $1 and n.user_id = $2 and exists (
                select from sessions u where u.tenant_id = $1 and u.user_id = $2
                    and u.snapshot_id = n.snapshot_id)) as bytes
        from logs, due
    ), over as materialized (
        select o.session_id from sessions o, kept
        where (kept.sessions >= $15 or kept.bytes > $16)
          and o.tenant_id = $1 and o.user_id = $2 and o.ended_at is not null
        order by o.session_id limit 40
    ), left_out as (
        delete from sessions s using over
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = over.session_id
    ), room as materialized (
        select case when kept.bytes <= $16 and kept.sessions - leaving.sessions < $15
                    then least(($15 - kept.sessions + leaving.sessions - 1) / 2, 30)::integer
                    when leaving.sessions > 0 then 0 end as beyond
        from kept, (select count(*) as sessions from over) as leaving
        union all select beyond from uncounted
        union all select null from begun where $20
    ), made as (
        insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top,
            snapshot_id, previous_session_id, started_at, tools, last_message_at, room)
        select $1, $2, $3, $4, $6, $7, $8, $9, begun.snapshot_id, p.session_id, $5, $13, $14, room.beyond
        from previous p, room, begun
        where room.beyond is not null and not exists (select from reused)
        on conflict (tenant_id, user_id, key) where ended_at is null do nothing
        returning *
    ), opened as (
        select true as goes_on, false as is_reused, g.* from gone_on g
        union all select false, true, r.* from reused r
        union all select false, false, m.* from made m
    ), outcome as (
        select goes_on, is_reused, session_id from opened
        union all select false, false, null from room where beyond is null and not exists (select from reused)
    )
    select u.goes_on, u.is_reused,
           case when not u.goes_on then (
               select c.rendered_at from current_snapshots c
               where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $8 and c.form = $18
                 and c.snapshot_id = s.snapshot_id) end as rendered_at,
           s.session_id, s.key, s.channel, s.max_turns, s.turns, s.index_budget, s.inline_top, s.tainted_by,
           s.quality, s.previous_session_id, s.started_at, s.last_message_at, s.ended_at, s.tools, s.budgets_spent,
           n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, p.summary as previous_summary,
           coalesce(p.tainted or o.tainted_by <> '{}', o.tainted_by <> '{}', p.tainted, false) as previous_tainted,
           o.started_at as previous_started_at,
           coalesce(catalog.marked_at > greatest(n.created_at, s.started_at), false) as is_marked_since
    from outcome u
    cross join catalog
    cross join (select count(app.enqueue($17, jsonb_build_object('session_id', session_id),
                                         session_id::text)) as jobs
                from closed) e
    left join opened s on s.session_id = u.session_id
    left join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = s.snapshot_id
    left join sessions o on o.tenant_id = $1 and o.user_id = $2 and o.session_id = s.previous_session_id
    left join conversation_summaries p
        on p.tenant_id = $1 and p.user_id = $2 and p.session_id = s.previous_session_id
    where e.jobs >= 0"
}

// `<>` would let Postgres use the index of snapshots to find the session, so this is `is distinct from`.
statement! {
    write ReplaceSnapshot { session: Uuid, snapshot: Uuid } -> (),
    "-- sessions.replace_snapshot
    update sessions s set snapshot_id = $4
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.snapshot_id is distinct from $4"
}

/// Replaces a session's snapshot after a part of it was marked as untrusted.
pub async fn replace_snapshot(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    snapshot: SnapshotId,
) -> Result<()> {
    write(db, principal, ReplaceSnapshot { session: session.0, snapshot: snapshot.0 }).await?;
    Ok(())
}

/// The terms of a session to open.
#[derive(Debug, Clone)]
pub struct NewSession<'a> {
    /// Key of the session. Without a key, the session gets a unique one.
    pub key: Option<&'a str>,
    pub channel: Channel,
    /// Iteration budget of the agent per message.
    pub max_turns: i32,
    pub index_budget: i32,
    pub inline_top: bool,
    pub tools: Tools,
    /// Form of the instructions for the agent in its snapshot.
    pub form: SnapshotForm,
    /// The snapshot to begin with; `None` for the current snapshot of its kind.
    pub snapshot: Option<SnapshotId>,
    /// Earliest rendering time of a current snapshot that may be used.
    pub rendered_since: DateTime<Utc>,
    /// Time for each channel: an open session with the key is over if its last message is older.
    pub silent_since: [(Channel, DateTime<Utc>); Channel::ALL.len()],
    pub now: DateTime<Utc>,
    /// Maximum number of the user's stored sessions, and their maximum total size in bytes.
    pub bounds: (i64, i64),
    /// Whether the session counts as begun without a message, because a call already belongs to it.
    pub has_begun: bool,
    /// Whether the limit was reached a moment ago, so that counting is skipped.
    pub was_full: bool,
}

/// Continues the key's session. If that session was silent for too long, ends it and opens another one. Returns
/// `None` without any change if there is no snapshot to begin with, or if a concurrent request has opened a session.
pub async fn open(db: &Database, principal: &Principal, new: &NewSession<'_>) -> Result<Option<OpenedAs>> {
    let id = new_id();
    let own_key = id.to_string();
    let channels = new.silent_since.map(|(channel, _)| channel.as_str());
    let silent_since = new.silent_since.map(|(_, since)| since);
    let open = Open {
        id,
        key: new.key.unwrap_or(&own_key),
        now: new.now,
        channel: new.channel.as_str(),
        max_turns: new.max_turns,
        index_budget: new.index_budget,
        inline_top: new.inline_top,
        snapshot: new.snapshot.map(|snapshot| snapshot.0),
        channels: &channels,
        silent_since: &silent_since,
        tools: new.tools.as_str(),
        begun_at: new.has_begun.then_some(new.now),
        most_sessions: new.bounds.0,
        most_bytes: new.bounds.1,
        task: task::SUMMARIZE_CONVERSATION,
        form: new.form.as_str(),
        rendered_since: new.rendered_since,
        was_full: new.was_full,
    };
    let opened = write(db, principal, open).await?.pop();
    Ok(opened.map(|(row, opened)| {
        match opened.map(|opened| Opened { rendered_at: row.rendered_at, ..opened.into() }) {
            None => OpenedAs::Full,
            Some(opened) if row.goes_on => OpenedAs::GoneOn(opened),
            Some(opened) if row.is_reused => OpenedAs::Reused(opened),
            Some(opened) => OpenedAs::New(opened),
        }
    }))
}
