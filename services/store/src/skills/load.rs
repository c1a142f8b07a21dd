//! Loading: the whole skill with its counts, as one more use or without one.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Scope};
use uuid::Uuid;

use super::{SkillKey, SkillRow, SkillState};
use crate::examples::Lesson;
use crate::graph::{Neighbour, Seen, write_and_list_relations};
use crate::vault::{read, row, statement};
use crate::{Database, Principal, starters};

/// A skill with its counts.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub skill: SkillState,
    /// Uses, this one included where it counted.
    pub times_used: i64,
    /// The last of them.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The stamp of its row, see [`Stamp`](super::Stamp): while it is the same, so is all of this but the counts. `None`
    /// where it has no row, or was not read from it.
    pub stamp: Option<i64>,
    /// What the use teaches, where that was asked for.
    pub lesson: Option<Lesson>,
    /// Its relations, where they were asked for.
    pub relations: Vec<Neighbour>,
}

row! { struct UsedRow { times_used: i64, last_used_at: Option<DateTime<Utc>> } }

row! { struct StandingRow { stamp: Option<i64>, lent: bool } }

row! { Lesson { session: Uuid = session_id, turn: i32, message: String } }

row! { struct NameRow { name: String } }

statement! {
    count Load<'a> { name: &'a str, now: DateTime<Utc> } -> ((SkillRow, UsedRow), StandingRow),
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

// In a session it is noted for the graph, and may teach. `offset 0` keeps the condition before the function.
statement! {
    count LoadInSession<'a> {
        name: &'a str, now: DateTime<Utc>, session: &'a str, taught_since: Option<DateTime<Utc>>,
    } -> ((SkillRow, UsedRow), (Option<Lesson>, StandingRow)),
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
    read Peek<'a> { name: &'a str } -> ((SkillRow, UsedRow), StandingRow),
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
    read NameOf { id: Uuid } -> NameRow,
    "-- skills.name_of
    select s.name from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

/// A use of a skill.
#[derive(Debug, Clone, Copy)]
pub struct LoadUse<'a> {
    /// The session that it is loaded in.
    pub session: Option<&'a str>,
    /// Where the session has spoken since then, the lesson of its current turn comes along.
    pub taught_since: Option<DateTime<Utc>>,
    /// How many of its relations come along at most in each direction, of those that somebody said.
    pub relations: Option<i64>,
    /// When it is loaded.
    pub now: DateTime<Utc>,
}

impl LoadUse<'_> {
    /// The relations that are wanted, of the skill of this name.
    pub(super) fn relations_of<'n>(&self, name: &'n str) -> Option<(&'n str, Seen)> {
        self.relations.map(|most| (name, Seen { most, now: self.now }))
    }
}

/// Loads a skill for work: one more use, also in the count of its day.
///
/// # Errors
/// `Unavailable`.
pub async fn load(db: &Database, principal: &Principal, key: &SkillKey, used: LoadUse<'_>) -> Result<Option<Loaded>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    let mut found = load_once(db, principal, &name, used).await?;
    // A caller that may only read must cause no rows.
    if found.as_ref().is_some_and(|(_, is_lent)| *is_lent) && principal.require(Scope::SkillsWrite).is_ok() {
        // There is no row to count at; it is made once in the life of a user.
        starters::settle_alone(db, principal).await?;
        found = load_once(db, principal, &name, used).await?;
    }
    Ok(found.map(|(loaded, _)| loaded))
}

/// Loads a skill, and says whether it is lent.
async fn load_once(
    db: &Database,
    principal: &Principal,
    name: &str,
    used: LoadUse<'_>,
) -> Result<Option<(Loaded, bool)>> {
    let (LoadUse { session, taught_since, now, .. }, related_to) = (used, used.relations_of(name));
    let Some(session) = session else {
        let (mut found, relations) = write_and_list_relations(db, principal, Load { name, now }, related_to).await?;
        return Ok(found
            .pop()
            .map(|((skill, used), standing)| (Loaded { relations, ..loaded(skill, used, &standing) }, standing.lent)));
    };
    let load = LoadInSession { name, now, session, taught_since };
    let (mut found, relations) = write_and_list_relations(db, principal, load, related_to).await?;
    Ok(found.pop().map(|((skill, used), (lesson, standing))| {
        (Loaded { lesson, relations, ..loaded(skill, used, &standing) }, standing.lent)
    }))
}

/// Reads a skill without counting.
///
/// # Errors
/// `Unavailable`.
pub async fn peek(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<Loaded>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    Ok(read(db, principal, Peek { name: &name })
        .await?
        .into_iter()
        .next()
        .map(|((skill, used), standing)| loaded(skill, used, &standing)))
}

/// Statements look skills up by name, in one round trip. An id costs one more, to find its name.
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

fn loaded(skill: SkillRow, used: UsedRow, standing: &StandingRow) -> Loaded {
    let UsedRow { times_used, last_used_at } = used;
    let (skill, stamp) = (SkillState::from(skill), standing.stamp);
    Loaded { skill, times_used, last_used_at, stamp, lesson: None, relations: Vec::new() }
}
