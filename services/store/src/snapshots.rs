//! Snapshots: immutable rows, and which of them a session that begins now is given.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Form, Result, SnapshotId, new_id, prompt};
use serde_json::Value;
use uuid::Uuid;

use crate::skills::{PromptColumns, PromptRow};
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

/// A snapshot as it was rendered.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub id: SnapshotId,
    /// SHA-256 of the text.
    pub sha256: Vec<u8>,
    /// The block for the prompt.
    pub text: String,
    /// What of the index was shortened and left out.
    pub omitted: Value,
    /// When these bytes were first rendered.
    pub created_at: DateTime<Utc>,
}

/// The snapshot that sessions are given now.
#[derive(Debug, Clone)]
pub struct CurrentSnapshot {
    pub snapshot: Snapshot,
    /// When it was last found to be what the user's data give.
    pub rendered_at: DateTime<Utc>,
    /// Whether nothing that it may show has been taken away since.
    pub is_whole: bool,
    /// Skills that were saved since, by name; the first 200.
    pub stale: Vec<String>,
}

row! {
    Snapshot {
        id: Uuid = snapshot_id, sha256: Vec<u8>, text: String = content, omitted: Value, created_at: DateTime<Utc>,
    }
}

row! { struct CurrentRow { rendered_at: DateTime<Utc>, is_whole: bool, stale: Vec<String> } }

statement! {
    count FindCurrent<'a> { index_budget: i32, now: DateTime<Utc>, form: &'a str } -> (Snapshot, CurrentRow),
    "-- snapshots.find_current
    with touched as (
        update current_snapshots set used_at = $4
        where tenant_id = $1 and user_id = $2 and index_budget = $3 and form = $5 and used_at < $4::timestamptz - interval '10 minutes'
    )
    select n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, c.rendered_at, c.revision >= u.snapshot_floor as is_whole,
           case when u.revision > c.revision then array(
               select k.name::text from skill_states k
               where k.tenant_id = $1 and k.user_id = $2 and k.updated_at > c.rendered_at
               order by k.name limit 200) else '{}' end as stale
    from current_snapshots c
    join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = c.snapshot_id
    join user_catalogs u on u.tenant_id = $1 and u.user_id = $2
    where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $3 and c.form = $5"
}

row! { struct PartRow { part: i32, text: String, at: Option<DateTime<Utc>>, revision: Option<i64> } }

// One statement is one moment: all parts are of the same state. What a tainted session wrote is no instruction: souls,
// memories and titles are not in the prompt, skills are marked there.
statement! {
    read ReadParts {} -> (PartRow, Option<PromptColumns>),
    "-- snapshots.read_parts
    with core as (
        select m.content, m.created_at from memories m
        where m.tenant_id = $1 and m.user_id = $2 and m.core and not m.tainted
        order by m.created_at, m.memory_id limit 100
    ), soul as (
        select s.content from souls s
        where s.tenant_id = $1 and s.user_id = $2 and not s.tainted order by s.version desc limit 1
    ), past as (
        select c.title, c.ended_at from conversation_summaries c
        where c.tenant_id = $1 and c.user_id = $2 and not c.tainted order by c.ended_at desc, c.session_id desc limit 3
    )
    select 0 as part, '' as text, null::timestamptz as at, u.revision, null::text as summary, null::text as made_summary,
           null::text as description, null::real as importance, null::boolean as pinned, null::bigint as times_used,
           null::timestamptz as active_at, null::boolean as tainted
    from user_catalogs u where u.tenant_id = $1 and u.user_id = $2
    union all
    select 1, s.name, null, null, s.summary, s.made_summary, s.description, s.importance, s.pinned,
           coalesce(g.times_used, 0), greatest(g.last_used_at, s.updated_at), s.tainted
    from skill_states s
    left join skill_usage g on g.tenant_id = $1 and g.user_id = $2 and g.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2
      and coalesce(s.attributes -> 'disable_model_invocation', s.frontmatter -> 'disable-model-invocation')
          is distinct from 'true'
    union all select 2, content, null, null, null, null, null, null, null, null, null, null from soul
    union all select 3, content, created_at, null, null, null, null, null, null, null, null, null from core
    union all select 4, title, ended_at, null, null, null, null, null, null, null, null, null from past
    order by part, at, text"
}

statement! {
    write PutSnapshot<'a> {
        index_budget: i32, sha256: &'a [u8], id: Uuid, text: &'a str, omitted: &'a Value, now: DateTime<Utc>,
        revision: i64, is_asked: bool, kept_kinds: i64, form: &'a str, rendered_by: &'a str,
    } -> Snapshot,
    "-- snapshots.put
    with known as (
        select n.* from snapshots n
        where n.tenant_id = $1 and n.user_id = $2 and n.sha256 = $4
        order by n.snapshot_id desc limit 1
    ), unused as (
        delete from snapshots n where n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id in (
            select o.snapshot_id from snapshots o
            where o.tenant_id = $1 and o.user_id = $2 and o.sha256 <> $4
              and o.created_at < $8::timestamptz - interval '10 minutes'
              and not exists (select from sessions s where s.tenant_id = $1 and s.user_id = $2
                              and s.snapshot_id = o.snapshot_id)
              and not exists (select from current_snapshots c where c.tenant_id = $1 and c.user_id = $2
                              and c.snapshot_id = o.snapshot_id)
            limit 8)
    ), made as (
        insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
        select $1, $2, $5, $4, $6, $7, $8 where not exists (select from known)
        returning *
    ), wanted as (
        select * from known union all select * from made
    ), current as (
        insert into current_snapshots as c (tenant_id, user_id, index_budget, form, snapshot_id, revision, rendered_at, used_at,
            rendered_by)
        select $1, $2, $3, $12, snapshot_id, $9, $8, $8, $13 from wanted
        on conflict (tenant_id, user_id, index_budget, form) do update
        set snapshot_id = excluded.snapshot_id, revision = excluded.revision, rendered_at = excluded.rendered_at,
            rendered_by = excluded.rendered_by,
            used_at = case when $10 then excluded.used_at else c.used_at end
        where c.tenant_id = $1 and c.user_id = $2 and c.revision <= excluded.revision
    ), evicted as (
        delete from current_snapshots where tenant_id = $1 and user_id = $2 and (index_budget, form) in (
            select c.index_budget, c.form from current_snapshots c
            where c.tenant_id = $1 and c.user_id = $2 and (c.index_budget, c.form) <> ($3, $12)
            order by c.used_at desc offset $11)
    )
    select n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at from wanted n"
}

/// Which of a user's snapshots: those of another index are other texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotKind {
    /// Characters of the index.
    pub index_budget: i32,
    /// What the agent is told.
    pub form: Form,
}

/// The user's current snapshot of a kind. It counts as activity of the user.
///
/// # Errors
/// `Unavailable`.
pub async fn find_current(
    db: &Database,
    principal: &Principal,
    kind: SnapshotKind,
    now: DateTime<Utc>,
) -> Result<Option<CurrentSnapshot>> {
    let found = FindCurrent { index_budget: kind.index_budget, now, form: kind.form.as_str() };
    let rows = write(db, principal, found).await?;
    Ok(rows.into_iter().next().map(|(snapshot, row)| CurrentSnapshot {
        snapshot,
        rendered_at: row.rendered_at,
        is_whole: row.is_whole,
        stale: row.stale,
    }))
}

/// What a snapshot is made of, as of one moment.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// The user's revision then.
    pub revision: i64,
    /// All skills, by name.
    pub skills: Vec<PromptRow>,
    pub soul: Option<String>,
    /// Core memories, oldest first.
    pub memories: Vec<String>,
    /// The last conversations, oldest first: title and end.
    pub conversations: Vec<(String, DateTime<Utc>)>,
}

/// Reads all parts in one statement.
///
/// # Errors
/// `Unavailable`.
pub async fn read_parts(db: &Database, principal: &Principal) -> Result<Parts> {
    let mut parts = Parts::default();
    for (PartRow { part, text, at, revision }, skill) in read(db, principal, ReadParts {}).await? {
        let lacks =
            |column| Error::internal(format!("inconsistent row of snapshots.read_parts: part {part} lacks '{column}'"));
        match part {
            0 => parts.revision = revision.ok_or_else(|| lacks("revision"))?,
            1 => parts.skills.push(skill.ok_or_else(|| lacks("description"))?.named(text)),
            2 => parts.soul = Some(text),
            3 => parts.memories.push(text),
            _ => parts.conversations.push((text, at.ok_or_else(|| lacks("at"))?)),
        }
    }
    Ok(parts)
}

/// A snapshot to keep.
#[derive(Debug, Clone)]
pub struct NewSnapshot<'a> {
    /// SHA-256 of the text.
    pub sha256: [u8; 32],
    pub text: &'a str,
    /// What of the index was shortened and left out.
    pub omitted: &'a Value,
    /// The revision its parts were read at.
    pub revision: i64,
    /// When they were read.
    pub now: DateTime<Utc>,
    /// Whether somebody asked for it, so that the user counts as active.
    pub is_asked: bool,
    /// Whether snapshots of other kinds are not current any more.
    pub is_alone: bool,
}

/// Kinds of a user's snapshots, beside the one that is rendered, that are kept current: each is rendered anew all day.
const OTHER_KINDS: i64 = 3;

/// Makes `new` the user's current snapshot of its kind. If its bytes equal the current one's, that row stays. A
/// snapshot of an older revision never replaces one of a newer revision.
///
/// # Errors
/// `Unavailable`.
pub async fn put(
    db: &Database,
    principal: &Principal,
    kind: SnapshotKind,
    new: &NewSnapshot<'_>,
) -> Result<Option<Snapshot>> {
    let NewSnapshot { text, omitted, revision, now, is_asked, is_alone, .. } = *new;
    let put = PutSnapshot {
        index_budget: kind.index_budget,
        sha256: new.sha256.as_slice(),
        id: new_id(),
        text,
        omitted,
        now,
        revision,
        is_asked,
        kept_kinds: if is_alone { 0 } else { OTHER_KINDS },
        form: kind.form.as_str(),
        rendered_by: prompt::wording(),
    };
    Ok(write(db, principal, put).await?.into_iter().next())
}
