//! Inputs of a reflection: the conversations of a day, the days of a week, or the weeks of a month.

mod conversation;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use knowhow_domain::{Cadence, ReflectionState, ReflectionText, Result, SessionId, SkillId};
use tokio_postgres::types::Json;
use uuid::Uuid;

pub use conversation::DayConversation;

use self::conversation::ConversationRow;
use crate::across::reflections::BEGUN;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};
use knowhow_domain::first_id_of;

/// Duration of silence after which a conversation counts as finished.
const REST: TimeDelta = TimeDelta::hours(1);

/// Returns a lower bound for the ids of conversations with messages on this day or later.
fn first_of(day: NaiveDate) -> Uuid {
    first_id_of(day.and_time(NaiveTime::MIN).and_utc() - BEGUN)
}

// The day ends at midnight. Conversations that were not finished at the previous day's reflection belong to this day.
// The row of a use does not name its conversation. A use is attributed to a conversation that used the skill, if the
// outcome was reported during it. Tainted skills are not listed for an untainted conversation, because their names
// are untrusted text.
statement! {
    read ListConversations<'a> {
        day: NaiveDate, at_rest_since: DateTime<Utc>, time_zone: &'a str, most: i64, first: Uuid,
    } -> ConversationRow,
    "-- reflections.list_conversations
    with day as (
        select $3::date::timestamp at time zone z.zone as begins, ($3::date + 1)::timestamp at time zone z.zone as ends
        from (select app.zone(coalesce((select l.time_zone from learning l where l.tenant_id = $1 and l.user_id = $2), $5))
              as zone) z
    ), span as (
        select least(d.begins, b.finished_at - interval '1 hour') as since, d.ends, b.finished_at as told_at,
               coalesce(b.session_ids, '{}') as told
        from day d
        left join reflections b on b.tenant_id = $1 and b.user_id = $2 and b.cadence = 'daily' and b.period = $3::date - 1
                               and b.state in ('made', 'quiet')
    )
    select s.session_id, s.started_at, s.tainted_by, c.summary, s.quality, coalesce(f.corrections, 0) as corrections,
           coalesce(f.thumbs_up, 0) as thumbs_up, coalesce(f.thumbs_down, 0) as thumbs_down,
           coalesce(f.notes, '{}') as notes, coalesce(o.skills, '{}') as outcome_skills,
           coalesce(o.outcomes, '{}') as outcomes, coalesce(o.versions, '{}') as outcome_versions, u.used
    from span
    join sessions s on s.tenant_id = $1 and s.user_id = $2 and s.session_id >= $7 and s.last_message_at >= span.since and s.last_message_at < span.ends
    left join conversation_summaries c on c.tenant_id = $1 and c.user_id = $2 and c.session_id = s.session_id
    left join lateral (
        select j.* from session_judgements j
        where j.tenant_id = $1 and j.user_id = $2 and j.session_id = s.session_id offset 0) f on true
    cross join lateral (
        select array(select i from unnest(s.injected) i
                     union
                     select p.skill_id from pending_mentions p
                     where p.tenant_id = $1 and p.user_id = $2 and p.session_id = s.session_id
                     union
                     select n.entity_id from memories m
                     join mentions n on n.tenant_id = $1 and n.user_id = $2 and n.memory_id = m.memory_id
                     where m.tenant_id = $1 and m.user_id = $2 and m.conversation = s.session_id
                     order by 1) as used) u
    left join lateral (
        select array_agg(k.name order by e.at) as skills, array_agg(e.outcome order by e.at) as outcomes,
               array_agg(e.version order by e.at) as versions
        from usage_events e
        join skills k on k.tenant_id = $1 and k.user_id = $2 and k.skill_id = e.skill_id
        where e.tenant_id = $1 and e.user_id = $2 and e.kind = 'used' and e.outcome is not null
          and e.skill_id = any (u.used) and e.day >= (s.started_at at time zone 'UTC')::date
          and coalesce(e.outcome_at, e.at) between s.started_at
                                              and coalesce(s.ended_at, s.last_message_at) + interval '1 hour'
          and (not k.tainted or s.tainted_by <> '{}')) o on true
    where (s.ended_at is not null or s.last_message_at < $4)
      and not (s.session_id = any (span.told) and s.last_message_at <= span.told_at)
    order by s.last_message_at desc, s.session_id desc
    limit $6"
}

/// A day to reflect on, and the current time.
#[derive(Debug, Clone, Copy)]
pub struct DayOf<'a> {
    pub day: NaiveDate,
    pub now: DateTime<Utc>,
    /// The tenant's time zone, for users without their own.
    pub time_zone: &'a str,
    /// Maximum number of conversations; the newest are read.
    pub most: i64,
}

/// Lists the finished conversations of a day, newest first. Leaves out conversations that are in the previous day's
/// reflection.
pub async fn list_conversations(db: &Database, principal: &Principal, of: DayOf<'_>) -> Result<Vec<DayConversation>> {
    let DayOf { day, now, time_zone, most } = of;
    let asked = ListConversations { day, at_rest_since: now - REST, time_zone, most, first: first_of(day) };
    Ok(read(db, principal, asked).await?.into_iter().map(DayConversation::from).collect())
}

row! {
    struct BelowRow {
        period: NaiveDate, state: Option<Word<ReflectionState>>, texts: Json<Vec<ReflectionText>>,
        session_ids: Vec<Uuid>, has_talk: bool,
    }
}

/// A part of a longer period: a day of a week, or a week of a month.
#[derive(Debug, Clone)]
pub struct PeriodPart {
    pub period: NaiveDate,
    /// State of the part's reflection, if there is one.
    pub state: Option<ReflectionState>,
    pub texts: Vec<ReflectionText>,
    /// Conversations that the part's reflection is based on.
    pub sessions: Vec<SessionId>,
    /// Whether a conversation finished in this part.
    pub has_talk: bool,
}

statement! {
    read ListBelow<'a> { cadence: &'static str, periods: Vec<NaiveDate>, time_zone: &'a str, first: Uuid, days: i32 } -> BelowRow,
    "-- reflections.list_below
    select p.period, r.state, t.texts, coalesce(r.session_ids, '{}') as session_ids,
           exists (select from sessions s
                   where s.tenant_id = $1 and s.user_id = $2 and s.session_id >= $6
                     and s.last_message_at >= p.period::timestamp at time zone z.zone
                     and s.last_message_at < (p.period + $7::integer)::timestamp at time zone z.zone) as has_talk
    from unnest($4::date[]) as p (period)
    cross join (select app.zone(coalesce(
        (select l.time_zone from learning l where l.tenant_id = $1 and l.user_id = $2), $5)) as zone) z
    left join reflections r on r.tenant_id = $1 and r.user_id = $2 and r.cadence = $3 and r.period = p.period
        and r.period = any ($4::date[])
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('memory', m.memory_id, 'text', m.content, 'tainted', m.tainted)
                                  order by array_position(r.memory_ids, m.memory_id)), '[]') as texts
        from memories m where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = any (r.memory_ids)) t
    order by p.period"
}

/// Days or weeks to read, in order.
#[derive(Debug, Clone, Copy)]
pub struct BelowOf<'a> {
    pub cadence: Cadence,
    pub periods: &'a [NaiveDate],
    /// The tenant's time zone, for users without their own.
    pub time_zone: &'a str,
}

/// Returns the reflections of these periods, one per period and in their order.
pub async fn list_below(db: &Database, principal: &Principal, of: BelowOf<'_>) -> Result<Vec<PeriodPart>> {
    let BelowOf { cadence, periods, time_zone } = of;
    let Some(first) = periods.first() else { return Ok(Vec::new()) };
    let days = i32::try_from((cadence.last_day(*first) - *first).num_days() + 1).unwrap_or(1);
    let periods = periods.to_vec();
    let asked = ListBelow { cadence: cadence.as_str(), time_zone, first: first_of(*first), days, periods };
    let below = |row: BelowRow| PeriodPart {
        period: row.period,
        state: row.state.map(|state| state.0),
        texts: row.texts.0,
        sessions: row.session_ids.into_iter().map(SessionId).collect(),
        has_talk: row.has_talk,
    };
    Ok(read(db, principal, asked).await?.into_iter().map(below).collect())
}

row! { struct SessionSkillsRow { session_id: Uuid, started_at: DateTime<Utc>, used: Vec<Uuid>, tainted: bool } }

statement! {
    read ListUsed { sessions: Vec<Uuid> } -> SessionSkillsRow,
    "-- reflections.list_used
    select s.session_id, s.started_at, s.injected as used, s.tainted_by <> '{}' as tainted
    from sessions s
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = any ($3)
    order by s.session_id"
}

/// A conversation that a reflection is based on.
#[derive(Debug, Clone)]
pub struct ReflectedSession {
    pub id: SessionId,
    pub started_at: DateTime<Utc>,
    /// Skills that turns of the conversation included in full.
    pub used: Vec<SkillId>,
    /// Whether the conversation has read untrusted content.
    pub is_tainted: bool,
}

/// Lists the conversations that still exist, in the order given.
pub async fn list_used(db: &Database, principal: &Principal, sessions: &[SessionId]) -> Result<Vec<ReflectedSession>> {
    let sessions = sessions.iter().map(|session| session.0).collect();
    let session_of = |row: SessionSkillsRow| ReflectedSession {
        id: SessionId(row.session_id),
        started_at: row.started_at,
        used: row.used.into_iter().map(SkillId).collect(),
        is_tainted: row.tainted,
    };
    Ok(read(db, principal, ListUsed { sessions }).await?.into_iter().map(session_of).collect())
}
