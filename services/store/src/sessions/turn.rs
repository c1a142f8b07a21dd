//! A turn: one statement reads its initial state, one writes its result.

mod state;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SessionId, SkillId, SnapshotId, new_id};
use uuid::Uuid;

pub use state::{LastMessages, StoredTurn, TurnState};

use self::state::TurnStateRow;
use super::exchange::{MESSAGE_CHARS, REPLY_CHARS};
use crate::skills::Revisions;
use crate::skills::starters;
use crate::vault::value::uuids;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

row! { struct TurnRequestRow { request_digest: Vec<u8> } }

row! { struct NumberRow { number: i32 } }

// The last message and reply are only read on request ($5). Messages are searched backwards from the last one, and a
// turn has few of them.
//
// Each session has a snapshot. The join is still an outer one, to prevent a plan that starts with the snapshots and
// searches the sessions of each. Postgres may choose and cache such a plan while the tables are empty.
statement! {
    read FindState<'a> {
        session: Uuid, turn_key: Option<&'a str>, with_exchange: bool, message_chars: i32, reply_chars: i32,
    } -> (TurnStateRow, Option<(TurnRequestRow, StoredTurn)>),
    "-- sessions.read_turn
    select s.channel, s.max_turns, s.turns, s.inline_top, s.listed, s.injected, s.last_message_at, s.ended_at, c.revision,
           t.request_digest, t.answer, c.examples_revision, s.tainted_by <> '{}' as is_tainted, s.tools,
           s.snapshot_id, n.created_at as snapshot_created_at, n.omitted, c.starters_at is not null as lent,
           exists (select from skills k where k.tenant_id = $1 and k.user_id = $2 and k.tainted)
               or exists (select from tainted_passages p where p.tenant_id = $1 and p.user_id = $2) as knows_taint,
           (select r.from_id from relations r where r.tenant_id = $1 and r.user_id = $2
            order by r.from_id limit 1) is not null as has_relations,
           coalesce(c.marked_at > t.created_at, false) as is_marked_since, t.answer_digest, s.log_bytes,
           s.turn_replies as replies,
           case when $5 and s.turn_replies > 0 then
               (select left(m.content, $6) from messages m
                where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.turn = s.turns and m.speaker = 'user'
                order by m.message_id desc limit 1) end as last_message,
           case when $5 and s.turn_replies > 0 then
               (select right(m.content, $7) from messages m
                where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.turn = s.turns and m.speaker = 'agent'
                order by m.message_id desc limit 1) end as last_reply
    from sessions s
    left join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = s.snapshot_id
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    left join turns t on t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3 and t.turn_key = $4
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3"
}

statement! {
    read FindTurn { session: Uuid, turn: i32 } -> StoredTurn,
    "-- sessions.find_turn
    select t.answer, t.answer_digest, coalesce(c.marked_at > t.created_at, false) as is_marked_since
    from turns t
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    where t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3 and t.turn = $4"
}

// The session's row orders concurrent turns: the second turn finds its number used, and writes no rows.
//
// A turn that starts from cached state passes the snapshot ($18). It is written only if all its assumptions hold, so
// that `read_turn` would have returned the same state. The session's settings do not change after its first message,
// and the shown skills change only with its turns.
//
// A skill that the previous turn offered by name counts as ignored if none of the user's sessions has used it since.
// Skills that were reported as not applicable do not count. A starter without a row has no counts yet.
statement! {
    write WriteTurn<'a> {
        session: Uuid, turns: i32, now: DateTime<Utc>, listed: Vec<Uuid>, injected: Vec<Uuid>,
        tainted_by: &'a [String], message_id: Uuid, message: &'a str, tool_calls: i32, turn_key: Option<&'a str>,
        request_digest: &'a [u8], answer: &'a str, used: Vec<Uuid>, versions: Vec<i32>, answer_digest: Option<&'a [u8]>,
        snapshot: Option<Uuid>, most_log_bytes: i64, revision: i64, examples_revision: Option<i64>, has_relations: bool,
        silent_since: Option<DateTime<Utc>>, max_turns: Option<i32>, offered: Vec<Uuid>, untaught: Vec<Uuid>,
        replies: Option<i32>,
    } -> NumberRow,
    "-- sessions.write_turn
    with before as materialized (
        select s.offered, t.created_at as offered_at
        from sessions s
        join turns t on t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3 and t.turn = $4
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3
    ), turned as (
        update sessions s
        set turns = s.turns + 1, turn_replies = 0, turn_calls = 0, turn_max_turns = $24, last_message_at = $5,
            log_bytes = s.log_bytes + octet_length($10::text) + octet_length($14::text), listed = $6, injected = $7,
            offered = array(select o from unnest($25::uuid[]) o where o <> all ($15)),
            tainted_by = case when $8::text[] <@ s.tainted_by or cardinality(s.tainted_by) >= 64 then s.tainted_by
                              else array(select distinct unnest(s.tainted_by || $8) order by 1) end
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.turns = $4 and s.ended_at is null
          and ($18::uuid is null
               or s.snapshot_id = $18 and s.tainted_by = '{}' and s.log_bytes <= $19 and s.last_message_at >= $23
                   and ($27::integer is null or s.turn_replies = $27)
                   and exists (select from user_catalogs c
                               where c.tenant_id = $1 and c.user_id = $2 and c.revision = $20 and c.starters_at is null
                                 and ($21::bigint is null or c.examples_revision = $21))
                   and not exists (select from turns t where t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3
                                   and t.turn_key = $12)
                   and not exists (select from skills k where k.tenant_id = $1 and k.user_id = $2 and k.tainted)
                   and not exists (select from tainted_passages p where p.tenant_id = $1 and p.user_id = $2)
                   and ($22 or (select r.from_id from relations r where r.tenant_id = $1 and r.user_id = $2
                                order by r.from_id limit 1) is null))
        returning s.turns as number
    ), logged as (
        insert into messages (tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, at)
        select $1, $2, $3, $9, number, 'user', $10::text, $11, $5 from turned
    ), kept as (
        insert into turns (tenant_id, user_id, session_id, turn, turn_key, request_digest, answer, answer_digest, created_at)
        select $1, $2, $3, number, $12, $13, $14::text, $17, $5 from turned
    ), counted as (
        update skill_usage u set times_used = u.times_used + 1, last_used_at = greatest(u.last_used_at, $5)
        from turned
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = any ($15)
        returning u.skill_id
    ), untaught as (
        insert into failed_lessons (tenant_id, user_id, session_id, turn, skill_id)
        select $1, $2, $3, number, skill_id from turned cross join unnest($26::uuid[]) as x (skill_id)
        on conflict do nothing
    ), events as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
        select $1, $2, ($5::timestamptz at time zone 'UTC')::date, skill_id, 'view', '', w.version, $5
        from counted join unnest($15::uuid[], $16::integer[]) as w (skill_id, version) using (skill_id)
        on conflict (tenant_id, user_id, day, skill_id, kind, use_digest) do update
        set times = e.times + 1, version = excluded.version, at = excluded.at
    ), offers as (
        insert into skill_offers as f (tenant_id, user_id, day, skill_id, offered, ignored)
        select $1, $2, ($5::timestamptz at time zone 'UTC')::date, o.skill_id, count(*) filter (where o.offered_at is null),
               count(*) filter (where o.offered_at is not null)
        from turned
        cross join (
            select n.skill_id, null::timestamptz as offered_at from unnest($25::uuid[]) n (skill_id)
            union all
            select l.skill_id, b.offered_at from before b cross join unnest(b.offered) l (skill_id)
            where l.skill_id <> all ($15)
              and not exists (select from failed_lessons r
                              where r.tenant_id = $1 and r.user_id = $2 and r.session_id = $3 and r.turn = $4
                                and r.skill_id = l.skill_id and r.inapplicable)) o
        join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = o.skill_id
            and (o.offered_at is null or u.last_used_at is null or u.last_used_at < o.offered_at)
        group by o.skill_id
        order by o.skill_id
        on conflict (tenant_id, user_id, day, skill_id) do update
        set offered = f.offered + excluded.offered, ignored = f.ignored + excluded.ignored
    )
    select number from turned"
}

/// A turn and the state to read for it.
#[derive(Debug, Clone, Copy)]
pub struct TurnToRead<'a> {
    pub session: SessionId,
    /// Idempotency key of the turn, if the request has one.
    pub turn_key: Option<&'a str>,
    /// Whether to read the previous exchange too.
    pub with_exchange: bool,
}

/// Reads the initial state of a turn; `None` if the session is not the caller's.
pub async fn read_turn(db: &Database, principal: &Principal, turn: TurnToRead<'_>) -> Result<Option<TurnState>> {
    let TurnToRead { session, turn_key, with_exchange } = turn;
    let (message_chars, reply_chars) = (MESSAGE_CHARS, REPLY_CHARS);
    let find = FindState { session: session.0, turn_key, with_exchange, message_chars, reply_chars };
    let rows = read(db, principal, find).await?;
    Ok(rows.into_iter().next().map(|(row, repeated)| TurnState {
        channel: row.channel.0,
        max_turns: row.max_turns,
        turns: row.turns,
        is_tainted: row.is_tainted,
        inline_top: row.inline_top,
        tools: row.tools.0,
        snapshot: SnapshotId(row.snapshot_id),
        snapshot_created_at: row.snapshot_created_at,
        snapshot_omitted: row.omitted,
        listed: row.listed.into_iter().map(SkillId).collect(),
        injected: row.injected.into_iter().map(SkillId).collect(),
        last_message_at: row.last_message_at,
        ended_at: row.ended_at,
        lent: row.lent,
        knows_taint: row.knows_taint,
        has_relations: row.has_relations,
        revisions: Revisions { skills: row.revision, examples: row.examples_revision },
        log_bytes: row.log_bytes,
        last: LastMessages { message: row.last_message, reply: row.last_reply, replies: row.replies },
        repeated: repeated.map(|(request, kept)| (request.request_digest, kept)),
    }))
}

/// Returns the answer to a turn; `None` if the turn does not exist.
pub async fn find_turn(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    turn: i32,
) -> Result<Option<StoredTurn>> {
    Ok(read(db, principal, FindTurn { session: session.0, turn }).await?.into_iter().next())
}

/// State that a turn assumes from a cache. Used only for sessions without taint, and only if all of the user's starters
/// have rows (see `skills/starters.rs`).
#[derive(Debug, Clone, Copy)]
pub struct Assumed {
    /// Snapshot of the session.
    pub snapshot: SnapshotId,
    /// Revision of the user's skills.
    pub revision: i64,
    /// Revision of the examples, if the turn depends on them.
    pub examples_revision: Option<i64>,
    /// Whether any of the user's skills are related.
    pub has_relations: bool,
    /// Maximum size of the session's log, in bytes, at which the message still fits.
    pub most_log_bytes: i64,
    /// Time limit: the session is over if its last message is older than this.
    pub silent_since: DateTime<Utc>,
    /// Number of replies logged since the last message; `None` if the turn does not depend on them.
    pub replies: Option<i32>,
}

/// The state that a turn is based on.
#[derive(Debug, Clone, Copy)]
pub struct ReadTurn {
    pub session: SessionId,
    /// Number of the session's turns when its state was read.
    pub turns: i32,
    /// Whether the user had starters without rows, see `skills/starters.rs`.
    pub lent: bool,
    /// State that the turn assumed from a cache; `None` if the state was read.
    pub assumed: Option<Assumed>,
}

/// A turn to write.
#[derive(Debug, Clone)]
pub struct WrittenTurn<'a> {
    pub message: &'a str,
    /// Number of tools called by the agent since the previous turn.
    pub tool_calls: i32,
    /// Budget of this turn, if it overrides the session's.
    pub max_turns: Option<i32>,
    /// Idempotency key of the turn, if the request has one.
    pub turn_key: Option<&'a str>,
    pub request_digest: &'a [u8],
    /// The stored answer, see [`StoredTurn`].
    pub answer: &'a str,
    /// SHA-256 of the bytes sent to the client; `None` if `answer` contains exactly these bytes, see [`StoredTurn`].
    pub answer_digest: Option<&'a [u8]>,
    /// Skills shown by name so far.
    pub listed: &'a [SkillId],
    /// Skills shown in full so far.
    pub injected: &'a [SkillId],
    /// Skills included in full by this turn, with their versions. Including a skill counts as a use.
    pub used: &'a [(SkillId, i32)],
    /// Skills that this turn offers by name or includes in full.
    pub offered: &'a [SkillId],
    /// Skills that the message forbids or asks about. The message never becomes an example of these skills.
    pub untaught: &'a [SkillId],
    /// Untrusted sources read since the previous turn.
    pub tainted_by: &'a [String],
    pub now: DateTime<Utc>,
}

/// Writes a turn. Returns `false`, without any change, if the session has changed since its state was read or if an
/// assumption does not hold.
pub async fn write_turn(
    db: &Database,
    principal: &Principal,
    read_turn: ReadTurn,
    written: &WrittenTurn<'_>,
) -> Result<bool> {
    if read_turn.lent && !written.used.is_empty() {
        starters::settle_alone(db, principal).await?;
    }
    let (used, versions) = written.used.iter().map(|(skill, version)| (skill.0, version)).unzip();
    let assumed = read_turn.assumed;
    let turn = WriteTurn {
        session: read_turn.session.0,
        turns: read_turn.turns,
        now: written.now,
        listed: uuids(written.listed.iter().copied()),
        injected: uuids(written.injected.iter().copied()),
        tainted_by: written.tainted_by,
        message_id: new_id(),
        message: written.message,
        tool_calls: written.tool_calls,
        turn_key: written.turn_key,
        request_digest: written.request_digest,
        answer: written.answer,
        used,
        versions,
        answer_digest: written.answer_digest,
        snapshot: assumed.map(|assumed| assumed.snapshot.0),
        most_log_bytes: assumed.map_or(0, |assumed| assumed.most_log_bytes),
        revision: assumed.map_or(0, |assumed| assumed.revision),
        examples_revision: assumed.and_then(|assumed| assumed.examples_revision),
        has_relations: assumed.is_none_or(|assumed| assumed.has_relations),
        silent_since: assumed.map(|assumed| assumed.silent_since),
        max_turns: written.max_turns,
        offered: uuids(written.offered.iter().copied()),
        untaught: uuids(written.untaught.iter().copied()),
        replies: assumed.and_then(|assumed| assumed.replies),
    };
    Ok(write(db, principal, turn).await?.iter().any(|row| row.number > read_turn.turns))
}
