//! Uses that callers report. (`skills/load.rs` counts loads.)

use chrono::{DateTime, Utc};
use knowhow_domain::{Outcome, Result, SkillId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

#[derive(Debug, Clone)]
pub struct Use<'a> {
    pub skill: SkillId,
    pub version: i32,
    /// The caller's key for the conversation, if given.
    pub session_key: Option<&'a str>,
    /// The caller's id for the memory that records the use, if given.
    pub memory_id: Option<&'a str>,
    /// Outcome of the use: `success`, `failure` or `partial`; `None` if it is not known yet.
    pub outcome: Option<Outcome>,
    /// Time of the use. Uses are counted per UTC day.
    pub now: DateTime<Utc>,
}

/// Maximum number of reported uses per user and UTC day.
pub const USES_PER_DAY: i64 = 5_000;

row! { struct UsageCountRow { counted: bool, is_left: bool, times_used: i64 } }

statement! {
    write CountUse {
        skill: Uuid, version: i32, session_key: Option<String>, memory_id: Option<String>, outcome: Option<String>,
        now: DateTime<Utc>, most: i64,
    } -> UsageCountRow,
    "-- usage.count
    with usage as materialized (
        select u.skill_id from skill_usage u where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3 for update
    ), this as (
        select usage.skill_id, ($8::timestamptz at time zone 'UTC')::date as day,
               substr(sha256(convert_to(jsonb_build_array($5::text, $6::text)::text, 'UTF8')), 1, 16) as use_digest
        from usage
    ), room as (
        select count(*) < $9 as is_left from (
            select from usage_events e, this
            where e.tenant_id = $1 and e.user_id = $2 and e.day = this.day and e.kind = 'used' limit $9) today
    ), event as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, outcome, at,
            outcome_at)
        select $1, $2, this.day, this.skill_id, 'used', this.use_digest, $4, $7, $8,
               case when $7::text is not null then $8::timestamptz end
        from this, room
        where room.is_left or exists (
            select from usage_events k where k.tenant_id = $1 and k.user_id = $2 and k.day = this.day
                and k.skill_id = this.skill_id and k.kind = 'used' and k.use_digest = this.use_digest)
        on conflict (tenant_id, user_id, day, skill_id, kind, use_digest)
        do update set outcome = excluded.outcome, outcome_at = excluded.outcome_at, told_later = true
        where e.outcome is null and excluded.outcome is not null
        returning not e.told_later as fresh
    ), counted as (
        update skill_usage u set
            times_used = u.times_used + case when event.fresh then 1 else 0 end,
            last_used_at = greatest(u.last_used_at, $8),
            successes = u.successes + case when $7 = 'success' then 1 else 0 end,
            failures = u.failures + case when $7 = 'failure' then 1 else 0 end,
            partials = u.partials + case when $7 = 'partial' then 1 else 0 end
        from event
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3
        returning u.times_used
    ), pending as (
        insert into pending_mentions (tenant_id, user_id, session_id, skill_id)
        select $1, $2, o.session_id, u.skill_id
        from usage u
        cross join lateral (select s.session_id from sessions s
                            where s.tenant_id = $1 and s.user_id = $2 and s.session_id = app.find_session($5)
                              and s.ended_at is null and $5::text is not null) o
        where (select count(*) < 32 from (select from pending_mentions p
                                          where p.tenant_id = $1 and p.user_id = $2 and p.session_id = o.session_id
                                          limit 32) noted)
        on conflict do nothing
    )
    select coalesce((select fresh from event), false) as counted,
           (select is_left from room) as is_left,
           coalesce((select times_used from counted),
                    (select times_used from skill_usage
                     where tenant_id = $1 and user_id = $2 and skill_id = $3), 0) as times_used"
}

/// Counts a use once per skill, session key, memory and UTC day. An outcome reported later is added to the counted use.
/// Returns whether this use was counted, and the skill's number of uses. Returns `None` if the user has reached the
/// daily maximum.
pub async fn count(tx: &mut WriteTx, used: &Use<'_>) -> Result<Option<(bool, i64)>> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let count = CountUse {
        skill: used.skill.0,
        version: used.version,
        session_key: own(used.session_key),
        memory_id: own(used.memory_id),
        outcome: used.outcome.map(|outcome| outcome.as_str().to_owned()),
        now: used.now,
        most: USES_PER_DAY,
    };
    let counted = tx.write(count).await?.into_iter().next();
    Ok(counted.filter(|row| row.is_left || row.counted).map(|row| (row.counted, row.times_used)))
}
