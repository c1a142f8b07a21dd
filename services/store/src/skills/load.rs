//! Loads a whole skill with its counts, with or without counting a use.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Scope};
use uuid::Uuid;

use super::{SkillKey, SkillRow, SkillState};
use crate::graph::{Neighbour, RelationLimits, write_and_list_relations};
use crate::learning::examples::Lesson;
use crate::skills::starters;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// A skill with its counts.
#[derive(Debug, Clone)]
pub struct SkillWithCounts {
    pub skill: SkillState,
    /// Number of uses, including this one if the load counted.
    pub times_used: i64,
    /// Time of the last use; `None` if the skill was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Stamp of the row, see [`SkillStamp`](super::SkillStamp). While it is unchanged, all members except the counts
    /// are unchanged. `None` if the skill has no row or was not read from it.
    pub stamp: Option<i64>,
    /// The message that may become an example of the skill, if requested.
    pub lesson: Option<Lesson>,
    /// Relations of the skill, if requested.
    pub relations: Vec<Neighbour>,
}

row! { struct LoadedUsesRow { times_used: i64, last_used_at: Option<DateTime<Utc>> } }

row! { struct SkillStampRow { stamp: Option<i64>, lent: bool } }

row! { Lesson { session: Uuid = session_id, turn: i32, message: String } }

row! { struct SuccessorNameRow { name: String } }

statement! {
    count Load<'a> { name: &'a str, now: DateTime<Utc> } -> ((SkillRow, LoadedUsesRow), SkillStampRow),
    "-- skills.load
    with found as (
        select * from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.name = $3
    ), counted as (
        update skill_usage u set times_used = u.times_used + 1, last_used_at = $4
        from found f
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = f.skill_id
        returning u.times_used, u.last_used_at
    ), event as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
        select $1, $2, ($4::timestamptz at time zone 'UTC')::date, f.skill_id, 'view', '', f.version, $4
        from found f, counted
        on conflict (tenant_id, user_id, day, skill_id, kind, use_digest) do update
        set times = e.times + 1, version = excluded.version, at = excluded.at
    )
    select s.skill_id, s.name, s.description, s.summary, s.category, s.tags, s.triggers, s.see_also, s.role, s.attributes,
           s.source, s.pinned, s.enriched, s.importance, s.decay_rate, s.version, s.digest, s.frontmatter_at_byte,
           s.frontmatter_end_at_byte, s.content_at_byte, s.resources, s.created_at, s.updated_at, s.document,
           coalesce(u.times_used, 0) as times_used, u.last_used_at, s.made_summary, s.tainted,
           s.made_description, s.made_triggers, s.made_by, s.lent,
           (select o.xmin::text::bigint from skills o
            where o.tenant_id = $1 and o.user_id = $2 and o.skill_id = s.skill_id) as stamp
    from found s
    left join counted u on true"
}

// A load in a session is recorded for the graph and may add an example to the skill. `offset 0` makes Postgres check
// the condition before it calls the function.
statement! {
    count LoadInSession<'a> {
        name: &'a str, now: DateTime<Utc>, session: &'a str, taught_since: Option<DateTime<Utc>>,
    } -> ((SkillRow, LoadedUsesRow), (Option<Lesson>, SkillStampRow)),
    "-- skills.load_in_session
    with found as (
        select * from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.name = $3
    ), counted as (
        update skill_usage u set times_used = u.times_used + 1, last_used_at = $4
        from found f
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = f.skill_id
        returning u.skill_id, u.times_used, u.last_used_at
    ), event as (
        insert into usage_events as e (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
        select $1, $2, ($4::timestamptz at time zone 'UTC')::date, f.skill_id, 'view', '', f.version, $4
        from found f, counted
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
    select s.skill_id, s.name, s.description, s.summary, s.category, s.tags, s.triggers, s.see_also, s.role, s.attributes,
           s.source, s.pinned, s.enriched, s.importance, s.decay_rate, s.version, s.digest, s.frontmatter_at_byte,
           s.frontmatter_end_at_byte, s.content_at_byte, s.resources, s.created_at, s.updated_at, s.document,
           coalesce(u.times_used, 0) as times_used, u.last_used_at, s.made_summary, s.tainted, s.made_description, s.made_triggers, s.made_by,
           l.session_id, l.turn, l.message, s.lent,
           (select o.xmin::text::bigint from skills o
            where o.tenant_id = $1 and o.user_id = $2 and o.skill_id = s.skill_id) as stamp
    from found s
    left join counted u on true
    left join lateral (
        select c.session_id, c.turn, c.message from app.current_lesson($5, $6) c
        where $6::timestamptz is not null offset 0) l on true"
}

statement! {
    read Peek<'a> { name: &'a str } -> ((SkillRow, LoadedUsesRow), SkillStampRow),
    "-- skills.peek
    select s.skill_id, s.name, s.description, s.summary, s.category, s.tags, s.triggers, s.see_also, s.role, s.attributes,
           s.source, s.pinned, s.enriched, s.importance, s.decay_rate, s.version, s.digest, s.frontmatter_at_byte,
           s.frontmatter_end_at_byte, s.content_at_byte, s.resources, s.created_at, s.updated_at, s.document,
           coalesce(u.times_used, 0) as times_used, u.last_used_at, s.made_summary, s.tainted, s.made_description, s.made_triggers, s.made_by,
           s.lent,
           (select o.xmin::text::bigint from skills o
            where o.tenant_id = $1 and o.user_id = $2 and o.skill_id = s.skill_id) as stamp
    from skill_states s
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3"
}

statement! {
    read NameOf { id: Uuid } -> SuccessorNameRow,
    "-- skills.name_of
    select s.name from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

/// A use of a skill.
#[derive(Debug, Clone, Copy)]
pub struct LoadUse<'a> {
    pub session: Option<&'a str>,
    /// If set, the load also returns the lesson: the message of the session's current turn. The session must have
    /// been active since this time.
    pub taught_since: Option<DateTime<Utc>>,
    /// Maximum number of relations to return per direction, without computed relations. `None` returns no relations.
    pub relations: Option<i64>,
    pub now: DateTime<Utc>,
}

impl LoadUse<'_> {
    /// Returns the parameters for reading the relations of the skill, if requested.
    pub(super) fn relations_of<'n>(&self, name: &'n str) -> Option<(&'n str, RelationLimits)> {
        self.relations.map(|most| (name, RelationLimits { most, now: self.now }))
    }
}

/// Loads a skill for an agent and counts the use, in total and for the day.
pub async fn load(
    db: &Database,
    principal: &Principal,
    key: &SkillKey,
    used: LoadUse<'_>,
) -> Result<Option<SkillWithCounts>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    let mut found = load_once(db, principal, &name, used).await?;
    // A caller with read access only must not create rows.
    if found.as_ref().is_some_and(|(_, is_lent)| *is_lent) && principal.require(Scope::SkillsWrite).is_ok() {
        // A starter without a row cannot be counted. The rows are created once per user.
        starters::settle_alone(db, principal).await?;
        found = load_once(db, principal, &name, used).await?;
    }
    Ok(found.map(|(loaded, _)| loaded))
}

/// Loads a skill. Also returns whether it is a starter without a row.
async fn load_once(
    db: &Database,
    principal: &Principal,
    name: &str,
    used: LoadUse<'_>,
) -> Result<Option<(SkillWithCounts, bool)>> {
    let (LoadUse { session, taught_since, now, .. }, related_to) = (used, used.relations_of(name));
    let Some(session) = session else {
        let (mut found, relations) = write_and_list_relations(db, principal, Load { name, now }, related_to).await?;
        return Ok(found.pop().map(|((skill, used), stamp_row)| {
            (SkillWithCounts { relations, ..loaded(skill, used, &stamp_row) }, stamp_row.lent)
        }));
    };
    let load = LoadInSession { name, now, session, taught_since };
    let (mut found, relations) = write_and_list_relations(db, principal, load, related_to).await?;
    Ok(found.pop().map(|((skill, used), (lesson, stamp_row))| {
        (SkillWithCounts { lesson, relations, ..loaded(skill, used, &stamp_row) }, stamp_row.lent)
    }))
}

/// Reads a skill without counting.
pub async fn peek(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<SkillWithCounts>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    Ok(read(db, principal, Peek { name: &name })
        .await?
        .into_iter()
        .next()
        .map(|((skill, used), stamp_row)| loaded(skill, used, &stamp_row)))
}

/// Returns the skill's name. Statements find skills by name in one round trip. If the key is an id, finding the name
/// costs another round trip.
pub(super) async fn name_of<'k>(
    db: &Database,
    principal: &Principal,
    key: &'k SkillKey,
) -> Result<Option<Cow<'k, str>>> {
    let id = match key {
        SkillKey::Name(name) => return Ok(Some(Cow::Borrowed(name))),
        SkillKey::Id(id) => id.0,
    };
    let rows = read(db, principal, NameOf { id }).await?;
    Ok(rows.into_iter().next().map(|row| Cow::Owned(row.name)))
}

fn loaded(skill: SkillRow, used: LoadedUsesRow, stamp_row: &SkillStampRow) -> SkillWithCounts {
    let LoadedUsesRow { times_used, last_used_at } = used;
    let (skill, stamp) = (SkillState::from(skill), stamp_row.stamp);
    SkillWithCounts { skill, times_used, last_used_at, stamp, lesson: None, relations: Vec::new() }
}
