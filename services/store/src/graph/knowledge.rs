//! Data about one skill: memories that mention it, and its use by day.

use chrono::{DateTime, NaiveDate, Utc};
use knowhow_domain::{MemoryId, MemoryKind, Result, SkillId};
use uuid::Uuid;

use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// A memory that mentions a skill.
#[derive(Debug, Clone)]
pub struct LinkedMemory {
    pub id: MemoryId,
    pub kind: MemoryKind,
    pub content: String,
    pub tainted: bool,
    pub created_at: DateTime<Utc>,
}

row! {
    LinkedMemory {
        id: Uuid = memory_id, kind: Word<MemoryKind>, content: String, tainted: bool, created_at: DateTime<Utc>,
    }
}

statement! {
    read ListLinkedMemories { skill: Uuid, limit: i64 } -> LinkedMemory,
    "-- graph.list_linked_memories
    select m.memory_id, m.kind, m.content, m.tainted, m.created_at
    from mentions n
    join memories m on m.tenant_id = $1 and m.user_id = $2 and m.memory_id = n.memory_id
    where n.tenant_id = $1 and n.user_id = $2 and n.entity_id = $3
    order by n.memory_id desc
    limit $4"
}

/// Lists the newest memories that mention a skill.
pub async fn list_linked_memories(
    db: &Database,
    principal: &Principal,
    skill: SkillId,
    limit: i64,
) -> Result<Vec<LinkedMemory>> {
    read(db, principal, ListLinkedMemories { skill: skill.0, limit }).await
}

/// Number of uses of a skill on a UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayOfUse {
    pub day: NaiveDate,
    /// Number of loads, injections and reported uses.
    pub times: i64,
}

row! { DayOfUse { day: NaiveDate, times: i64 } }

statement! {
    read ListDaysOfUse { skill: Uuid, since: NaiveDate } -> DayOfUse,
    "-- graph.list_days_of_use
    select d.day, sum(d.times)::bigint as times from (
        select e.day, e.times from usage_events e
        where e.tenant_id = $1 and e.user_id = $2 and e.day >= $4 and e.skill_id = $3
        union all
        select u.day, u.times from usage_days u
        where u.tenant_id = $1 and u.user_id = $2 and u.day >= $4 and u.skill_id = $3) d
    group by d.day
    order by d.day"
}

/// Lists the days since `since` on which a skill was used, in order.
pub async fn list_days_of_use(
    db: &Database,
    principal: &Principal,
    skill: SkillId,
    since: NaiveDate,
) -> Result<Vec<DayOfUse>> {
    read(db, principal, ListDaysOfUse { skill: skill.0, since }).await
}
