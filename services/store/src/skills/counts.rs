//! Use counts of skills, which change without a new revision. One small statement checks whether a cached answer is
//! current and reads the current counts.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use super::{LoadUse, Revisions};
use crate::graph::{Neighbour, write_and_list_relations};
use crate::learning::examples::Lesson;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// Number of uses of a skill and time of the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of loads and of reported uses.
    pub times_used: i64,
    /// Time of the last use; `None` if the skill was never used.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// The revisions of a user, and the use counts at that moment.
#[derive(Debug, Clone, Default)]
pub struct RevisionCounts {
    /// Current revisions. Data cached at other revisions is outdated.
    pub revisions: Revisions,
    counts: HashMap<SkillId, Count>,
}

impl RevisionCounts {
    /// Returns the count of a skill; the default if it was never used.
    pub fn count(&self, skill: SkillId) -> Count {
        self.counts.get(&skill).copied().unwrap_or_default()
    }
}

row! { Count { times_used: i64, last_used_at: Option<DateTime<Utc>> } }

// The counts are arrays, because decoding one row is faster than one row per skill.
row! {
    struct RevisionCountsRow {
        skills: Option<Vec<Uuid>>, times: Option<Vec<i64>>, last_uses: Option<Vec<Option<DateTime<Utc>>>>,
    }
}

statement! {
    read CheckCounts {} -> (Revisions, RevisionCountsRow),
    "-- counts.check
    select c.revision, c.examples_revision, u.skills, u.times, u.last_uses
    from user_catalogs c
    cross join (
        select array_agg(g.skill_id) as skills, array_agg(g.times_used) as times, array_agg(g.last_used_at) as last_uses
        from skill_usage g
        where g.tenant_id = $1 and g.user_id = $2 and (g.times_used > 0 or g.last_used_at is not null)) u
    where c.tenant_id = $1 and c.user_id = $2"
}

// Counts a load like `skills.load`, but without reading the skill. Counts only if the row's stamp is unchanged.
statement! {
    count CountLoad { skill: Uuid, now: DateTime<Utc>, stamp: i64, version: i32 } -> Count,
    "-- counts.count_load
    with counted as (
        update skill_usage u set times_used = u.times_used + 1, last_used_at = $4
        from skills s
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3
          and s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.xmin::text::bigint = $5
        returning u.times_used, u.last_used_at
    ), event as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
        select $1, $2, ($4::timestamptz at time zone 'UTC')::date, $3, 'view', '', $6, $4
        from counted
        on conflict (tenant_id, user_id, day, skill_id, kind, use_digest) do update
        set times = e.times + 1, version = excluded.version, at = excluded.at
    )
    select times_used, last_used_at from counted"
}

// A load in a session is recorded for the graph and may add an example to the skill. This doubles the cost of the
// statement.
statement! {
    count CountLoadInSession<'a> {
        skill: Uuid, now: DateTime<Utc>, session: &'a str, taught_since: Option<DateTime<Utc>>, stamp: i64,
        version: i32,
    } -> (Count, Option<Lesson>),
    "-- counts.count_load_in_session
    with counted as (
        update skill_usage u set times_used = u.times_used + 1, last_used_at = $4
        from skills s
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3
          and s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.xmin::text::bigint = $7
        returning u.skill_id, u.times_used, u.last_used_at
    ), event as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
        select $1, $2, ($4::timestamptz at time zone 'UTC')::date, $3, 'view', '', $8, $4
        from counted
        on conflict (tenant_id, user_id, day, skill_id, kind, use_digest) do update
        set times = e.times + 1, version = excluded.version, at = excluded.at
    ), pending as (
        insert into pending_mentions (tenant_id, user_id, session_id, skill_id)
        select $1, $2, o.session_id, c.skill_id
        from counted c
        cross join lateral (select s.session_id from sessions s
                            where s.tenant_id = $1 and s.user_id = $2 and s.session_id = app.find_session($5)
                              and s.ended_at is null) o
        where (select count(*) < 32 from (select from pending_mentions p
                                          where p.tenant_id = $1 and p.user_id = $2 and p.session_id = o.session_id
                                          limit 32) noted)
        on conflict do nothing
    )
    select u.times_used, u.last_used_at, l.session_id, l.turn, l.message
    from counted u
    left join lateral (
        select c.session_id, c.turn, c.message from app.current_lesson($5, $6) c
        where $6::timestamptz is not null offset 0) l on true"
}

/// Returns the revisions, and the counts of all used skills.
pub async fn check_counts(db: &Database, principal: &Principal) -> Result<RevisionCounts> {
    let Some((revisions, row)) = read(db, principal, CheckCounts {}).await?.pop() else {
        return Ok(RevisionCounts::default());
    };
    let RevisionCountsRow { skills, times, last_uses } = row;
    let counts = times.unwrap_or_default().into_iter().zip(last_uses.unwrap_or_default());
    let counts = counts.map(|(times_used, last_used_at)| Count { times_used, last_used_at });
    Ok(RevisionCounts { revisions, counts: skills.unwrap_or_default().into_iter().map(SkillId).zip(counts).collect() })
}

/// A skill as cached by the caller.
#[derive(Debug, Clone, Copy)]
pub struct KnownState<'a> {
    pub id: SkillId,
    pub name: &'a str,
    pub version: i32,
    /// Stamp of the text, see [`SkillStamp`](super::SkillStamp).
    pub stamp: i64,
}

/// Result of loading a cached skill.
#[derive(Debug)]
pub struct CountedLoad {
    /// Use count of the skill, including this use.
    pub count: Count,
    /// The message that may become an example of the skill, if requested.
    pub lesson: Option<Lesson>,
    /// Relations of the skill, if requested.
    pub relations: Vec<Neighbour>,
}

/// Counts a load of a cached skill. Returns `None` without counting if the skill has changed.
pub async fn count_load(
    db: &Database,
    principal: &Principal,
    known: KnownState<'_>,
    used: LoadUse<'_>,
) -> Result<Option<CountedLoad>> {
    let (LoadUse { session, taught_since, now, .. }, related_to) = (used, used.relations_of(known.name));
    let KnownState { id: SkillId(skill), version, stamp, .. } = known;
    let Some(session) = session else {
        let (mut counted, relations) =
            write_and_list_relations(db, principal, CountLoad { skill, now, stamp, version }, related_to).await?;
        return Ok(counted.pop().map(|count| CountedLoad { count, lesson: None, relations }));
    };
    let load = CountLoadInSession { skill, now, session, taught_since, stamp, version };
    let (mut counted, relations) = write_and_list_relations(db, principal, load, related_to).await?;
    Ok(counted.pop().map(|(count, lesson)| CountedLoad { count, lesson, relations }))
}
