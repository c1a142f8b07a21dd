//! Reads the inputs of a snapshot in one consistent state.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result};

use crate::skills::{PromptColumns, PromptRow};
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct PartRow { part: i32, text: String, at: Option<DateTime<Utc>>, revision: Option<i64> } }

// A single statement reads all parts, so they belong to one state. Tainted texts must not become instructions. So
// tainted souls, memories and titles are left out of the prompt, and tainted skills are marked in it.
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

/// Inputs of a snapshot, in one consistent state.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Revision of the user's catalogue.
    pub revision: i64,
    /// All skills, by name.
    pub skills: Vec<PromptRow>,
    pub soul: Option<String>,
    /// Core memories, oldest first.
    pub memories: Vec<String>,
    /// The last conversations, oldest first, each with its title and end time.
    pub conversations: Vec<(String, DateTime<Utc>)>,
}

/// Reads all inputs in one statement.
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
