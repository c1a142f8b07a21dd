//! Loading through the pipelined door: the whole skill with or without a count, the raw file, one resource, and what
//! to say where there is nothing.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Scope, SkillId};
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{SkillKey, SkillState, cut, resources, text};
use crate::door::{Durability, Params, read};
use crate::error::refuse_read;
use crate::examples::Lesson;
use crate::{Database, Principal, starters};

/// A skill with its counts.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The state.
    pub skill: SkillState,
    /// Uses, this one included where it counted.
    pub times_used: i64,
    /// The last of them.
    pub last_used_at: Option<DateTime<Utc>>,
    /// What the use teaches, where that was asked for.
    pub lesson: Option<Lesson>,
}

/// A stored file as it is.
#[derive(Debug, Clone)]
pub struct RawFile {
    /// The bytes.
    pub content: Vec<u8>,
    /// Their SHA-256.
    pub digest: Vec<u8>,
    /// Whether text of the skill came from what is not to be trusted, and nobody has approved it.
    pub tainted: bool,
}

// `offset 0` keeps the two conditions before the function, which is then not called for a load in no session.
const LOAD: &str = "-- skills.load
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
           u.times_used, u.last_used_at, s.made_summary, s.tainted, l.session_id, l.turn, l.message, s.lent
    from found s
    left join counted u on true
    left join lateral (
        select c.session_id, c.turn, c.message from app.current_lesson($5, $6) c
        where $5::text is not null and $6::timestamptz is not null offset 0) l on true";

const PEEK: &str = "-- skills.peek
    select s.skill_id, s.name, s.description, s.summary, s.category, s.tags, s.triggers, s.see_also, s.role, s.attributes,
           s.source, s.pinned, s.enriched, s.importance, s.decay_rate, s.version, s.digest, s.frontmatter_at_byte,
           s.frontmatter_end_at_byte, s.content_at_byte, s.resources, s.created_at, s.updated_at, s.document,
           u.times_used, u.last_used_at, s.made_summary, s.tainted
    from skill_states s
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3";

const RAW: &str = "-- skills.raw
    select s.document, s.document_digest, s.tainted
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3";

const RESOURCE: &str = "-- skills.resource
    select r.content, r.digest, s.tainted
    from skills s
    cross join lateral jsonb_to_recordset(s.resources) as e (path text, digest text)
    join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = decode(e.digest, 'hex')
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3 and e.path = $4";

const NAME_OF: &str = "-- skills.name_of
    select s.name from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3";

const EXPLAIN_MISS: &str = "-- skills.explain_miss
    select s.name, d.name is not null as moved
    from skill_states s
    left join skill_redirects d
        on d.tenant_id = $1 and d.user_id = $2 and d.skill_id = s.skill_id and d.name = $3
    where s.tenant_id = $1 and s.user_id = $2
    order by d.name nulls last, s.name
    limit 5000";

/// Loads a skill for work: one more use, also in the count of its day. With `taught_since`, also the lesson of the session's current
/// turn, where the session has spoken since then.
///
/// # Errors
/// `Unavailable`.
pub async fn load(
    db: &Database,
    principal: &Principal,
    key: &SkillKey,
    (session, taught_since): (Option<&str>, Option<DateTime<Utc>>),
    now: DateTime<Utc>,
) -> Result<Option<Loaded>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let params: Params<'_> = &[&tenant, &user, &name, &now, &session, &taught_since];
    let mut rows = read(db, principal, Durability::Counts, LOAD, params).await?;
    let is_lent = rows.first().map(|row| row.try_get(31)).transpose().map_err(refuse_read)? == Some(true);
    // Whoever may only read makes no rows.
    if is_lent && principal.require(Scope::SkillsWrite).is_ok() {
        // There is no row to count at; it is made once in the life of a user.
        starters::settle_alone(db, principal).await?;
        rows = read(db, principal, Durability::Counts, LOAD, params).await?;
    }
    let Some(row) = rows.first() else { return Ok(None) };
    let lesson = lesson(row).map_err(refuse_read)?;
    Ok(Some(Loaded { lesson, ..loaded(row)? }))
}

fn lesson(row: &Row) -> Result<Option<Lesson>, tokio_postgres::Error> {
    let Some(session) = row.try_get(28)? else { return Ok(None) };
    Ok(Some(Lesson { session, turn: row.try_get(29)?, message: row.try_get(30)? }))
}

/// Reads a skill without counting.
///
/// # Errors
/// `Unavailable`.
pub async fn peek(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<Loaded>> {
    let rows = read_by_key(db, principal, key, PEEK).await?;
    rows.first().map(loaded).transpose()
}

/// Reads a skill's SKILL.md, byte for byte.
///
/// # Errors
/// `Unavailable`.
pub async fn raw(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<RawFile>> {
    let rows = read_by_key(db, principal, key, RAW).await?;
    rows.first().map(raw_file).transpose()
}

/// Reads one resource file.
///
/// # Errors
/// `Unavailable`.
pub async fn find_resource(
    db: &Database,
    principal: &Principal,
    key: &SkillKey,
    path: &str,
) -> Result<Option<RawFile>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, RESOURCE, &[&tenant, &user, &name, &path]).await?;
    rows.first().map(raw_file).transpose()
}

/// What a name that is no skill may have meant.
#[derive(Debug, Default)]
pub struct Misses {
    /// The skill that absorbed the one of this name.
    pub successor: Option<String>,
    /// All names of the user (at most 5,000).
    pub names: Vec<String>,
}

/// Looks for a successor and for names to offer.
///
/// # Errors
/// `Unavailable`.
pub async fn explain_miss(db: &Database, principal: &Principal, name: &str) -> Result<Misses> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, EXPLAIN_MISS, &[&tenant, &user, &name]).await?;
    let mut misses = Misses::default();
    for row in &rows {
        let name: String = row.try_get(0).map_err(refuse_read)?;
        if row.try_get::<_, bool>(1).map_err(refuse_read)? {
            misses.successor = Some(name.clone());
        }
        misses.names.push(name);
    }
    Ok(misses)
}

/// Statements look skills up by name, in one round trip. An id costs one more, to find its name.
async fn name_of<'k>(db: &Database, principal: &Principal, key: &'k SkillKey) -> Result<Option<Cow<'k, str>>> {
    let id = match key {
        SkillKey::Name(name) => return Ok(Some(Cow::Borrowed(name))),
        SkillKey::Id(id) => id.0,
    };
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, NAME_OF, &[&tenant, &user, &id]).await?;
    rows.first().map(|row| row.try_get::<_, String>(0).map(Cow::Owned).map_err(refuse_read)).transpose()
}

async fn read_by_key(db: &Database, principal: &Principal, key: &SkillKey, sql: &'static str) -> Result<Vec<Row>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(Vec::new()) };
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    read(db, principal, Durability::Full, sql, &[&tenant, &user, &name]).await
}

fn raw_file(row: &Row) -> Result<RawFile> {
    let read = || -> Result<RawFile, tokio_postgres::Error> {
        Ok(RawFile { content: row.try_get(0)?, digest: row.try_get(1)?, tainted: row.try_get(2)? })
    };
    read().map_err(refuse_read)
}

fn loaded(row: &Row) -> Result<Loaded> {
    let document: Vec<u8> = row.try_get(23).map_err(refuse_read)?;
    let manifest: Value = row.try_get(20).map_err(refuse_read)?;
    let (document, resources) = (text(document)?, resources(manifest)?);
    let read = || -> Result<Loaded, tokio_postgres::Error> {
        Ok(Loaded {
            skill: SkillState {
                id: SkillId(row.try_get::<_, Uuid>(0)?),
                name: row.try_get(1)?,
                description: row.try_get(2)?,
                summary: row.try_get(3)?,
                made_summary: row.try_get(26)?,
                category: row.try_get(4)?,
                tags: row.try_get(5)?,
                triggers: row.try_get(6)?,
                see_also: row.try_get(7)?,
                role: row.try_get(8)?,
                attributes: row.try_get(9)?,
                source: row.try_get(10)?,
                pinned: row.try_get(11)?,
                enriched: row.try_get(12)?,
                importance: row.try_get(13)?,
                decay_rate: row.try_get(14)?,
                version: row.try_get(15)?,
                tainted: row.try_get(27)?,
                digest: row.try_get(16)?,
                cuts: [cut(row.try_get(17)?), cut(row.try_get(18)?), cut(row.try_get(19)?)],
                resources,
                document,
                created_at: row.try_get(21)?,
                updated_at: row.try_get(22)?,
            },
            times_used: row.try_get::<_, Option<i64>>(24)?.unwrap_or_default(),
            last_used_at: row.try_get(25)?,
            lesson: None,
        })
    };
    read().map_err(refuse_read)
}
