//! A turn: one statement to read what it starts from, one to write what came of it.

mod state;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SessionId, SkillId, SnapshotId, new_id};
use uuid::Uuid;

pub use state::{KeptTurn, LastMessages, TurnState};

use self::state::StateRow;
use crate::skills::Revisions;
use crate::vault::value::uuids;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal, starters};

row! { struct RequestRow { request_digest: Vec<u8> } }

row! { struct NumberRow { number: i32 } }

// The last message and the last reply are read only for a message that refers back ($5). Messages are looked through from the
// last one on, of which a turn has few.
//
// Each session has a snapshot. The join is an outer one so that Postgres never begins with the snapshots, and asks for the
// sessions of each: a plan that is made while the tables are empty might, and is kept.
statement! {
    read FindState<'a> { session: Uuid, turn_key: Option<&'a str>, refers_back: bool } -> (StateRow, Option<(RequestRow, KeptTurn)>),
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
               (select left(m.content, 1000) from messages m
                where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.turn = s.turns and m.speaker = 'user'
                order by m.message_id desc limit 1) end as last_message,
           case when $5 and s.turn_replies > 0 then
               (select right(m.content, 4000) from messages m
                where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.turn = s.turns and m.speaker = 'agent'
                order by m.message_id desc limit 1) end as last_reply
    from sessions s
    left join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = s.snapshot_id
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    left join turns t on t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3 and t.turn_key = $4
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3"
}

statement! {
    read FindTurn { session: Uuid, turn: i32 } -> KeptTurn,
    "-- sessions.find_turn
    select t.answer, t.answer_digest, coalesce(c.marked_at > t.created_at, false) as is_marked_since
    from turns t
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    where t.tenant_id = $1 and t.user_id = $2 and t.session_id = $3 and t.turn = $4"
}

// The session's row decides which of two turns goes first: the other finds its number taken and writes nothing. A turn that
// goes by what its process kept of the session names the snapshot ($18), and is written only where all that it goes by is so:
// what `read_turn` would have told it. Its terms do not change once it has a message, and what was shown only with its turns.
// What the turn before offered by name, and no session of the user used since, was ignored. A lent starter has no counts yet.
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
            where l.skill_id <> all ($15)) o
        join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = o.skill_id
            and (o.offered_at is null or u.last_used_at is null or u.last_used_at < o.offered_at)
        group by o.skill_id
        order by o.skill_id
        on conflict (tenant_id, user_id, day, skill_id) do update
        set offered = f.offered + excluded.offered, ignored = f.ignored + excluded.ignored
    )
    select number from turned"
}

/// A turn whose state is to be read.
#[derive(Debug, Clone, Copy)]
pub struct TurnToRead<'a> {
    pub session: SessionId,
    /// Names the turn, so that it happens once.
    pub turn_key: Option<&'a str>,
    /// Whether its message refers to the exchange before it, so that this is read too.
    pub refers_back: bool,
}

/// Reads what a turn starts from; `None` for a session that is not the caller's.
///
/// # Errors
/// `Unavailable`.
pub async fn read_turn(db: &Database, principal: &Principal, turn: TurnToRead<'_>) -> Result<Option<TurnState>> {
    let TurnToRead { session, turn_key, refers_back } = turn;
    let rows = read(db, principal, FindState { session: session.0, turn_key, refers_back }).await?;
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

/// The answer of a turn; `None` where there was no such turn.
///
/// # Errors
/// `Unavailable`.
pub async fn find_turn(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    turn: i32,
) -> Result<Option<KeptTurn>> {
    Ok(read(db, principal, FindTurn { session: session.0, turn }).await?.into_iter().next())
}

/// What a turn goes by that was not read for it: a state without taint, and without starters that are lent.
#[derive(Debug, Clone, Copy)]
pub struct Assumed {
    /// The session's snapshot.
    pub snapshot: SnapshotId,
    /// The revision of the user's skills.
    pub revision: i64,
    /// That of what they learned, where it counts.
    pub examples_revision: Option<i64>,
    /// Whether any of the user's skills are related.
    pub has_relations: bool,
    /// Bytes that the session's log may have for the message to have room in it.
    pub most_log_bytes: i64,
    /// Since when it must have had a message for it not to be over.
    pub silent_since: DateTime<Utc>,
    /// How many replies the agent has logged since the last message; `None` if the turn does not depend on them.
    pub replies: Option<i32>,
}

/// Names the turn by the state that it started from.
#[derive(Debug, Clone, Copy)]
pub struct ReadTurn {
    pub session: SessionId,
    /// Turns that the session had when its state was read.
    pub turns: i32,
    /// Whether the user had starters that were lent.
    pub lent: bool,
    /// What the turn goes by, where its state was not read.
    pub assumed: Option<Assumed>,
}

/// A turn to write.
#[derive(Debug, Clone)]
pub struct WrittenTurn<'a> {
    pub message: &'a str,
    /// Tools that the agent called since the turn before.
    pub tool_calls: i32,
    /// The budget of this turn, if it overrides that of the session.
    pub max_turns: Option<i32>,
    /// Names the turn, so that it happens once.
    pub turn_key: Option<&'a str>,
    /// Digest of the request.
    pub request_digest: &'a [u8],
    /// The answer as it is stored, see [`KeptTurn`].
    pub answer: &'a str,
    /// SHA-256 of the bytes that go out, see [`KeptTurn`].
    pub answer_digest: Option<&'a [u8]>,
    /// Skills shown by name so far.
    pub listed: &'a [SkillId],
    /// Skills shown whole so far.
    pub injected: &'a [SkillId],
    /// Skills whose bodies this turn injects, which counts as use, with their versions.
    pub used: &'a [(SkillId, i32)],
    /// Skills that this turn names for the agent to load, or brings whole.
    pub offered: &'a [SkillId],
    /// Skills that the message forbids or asks about: it never becomes an example of them.
    pub untaught: &'a [SkillId],
    /// Sources that are not to be trusted and were read since the turn before.
    pub tainted_by: &'a [String],
    /// When the turn is written.
    pub now: DateTime<Utc>,
}

/// Writes a turn. `false` where the session has moved on since it was read, or something that the turn assumes is not so:
/// nothing is written then.
///
/// # Errors
/// `Unavailable`.
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
