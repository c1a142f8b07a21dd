//! Finds memories and skills that are one hop away from those that recall found.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{RelationSource, RelationType};
use knowhow_domain::{MemoryId, Result, SkillId};
use uuid::Uuid;

use super::relations::{FADED_OUT, strength_now};
use crate::vault::value::uuids;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// Maximum number of hops per entity, and per direction of relations.
const OF_EACH: i64 = 8;

/// Found memories and skills to start from.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub memories: &'a [MemoryId],
    pub skills: &'a [SkillId],
}

/// A hop from a found memory or skill to another one.
#[derive(Debug, Clone)]
pub struct Hop {
    /// Id of the found memory or skill.
    pub from: Uuid,
    /// Id of the connected memory or skill.
    pub to: Uuid,
    pub is_memory: bool,
    /// Connection of the two: a common entity, a mentioned skill, or a relation.
    pub via: HopConnection,
    /// Strength of the hop, 0 to 1. For a relation, its own strength. For a common entity, it decreases with the
    /// number of memories that mention the entity.
    pub strength: f32,
}

/// Connection between the two ends of a hop.
#[derive(Debug, Clone)]
pub enum HopConnection {
    /// Name of the common entity, or of the mentioned skill itself.
    Named(String),
    /// A relation between two skills.
    Related(RelationType),
}

row! {
    struct HopRow {
        from_id: Uuid, to_id: Uuid, is_memory: bool, via: Option<String>, kind: Option<Word<RelationType>>,
        source: Option<Word<RelationSource>>, strength: f32, reinforced_at: Option<DateTime<Utc>>,
    }
}

// The entity of a skill has the id of the skill. So memories that mention a skill and skills that mention an entity
// are found in one way. The more memories mention an entity, the weaker the connection. Relations from tainted texts
// are left out before the limit applies.
statement! {
    read ListHops { memories: Vec<Uuid>, skills: Vec<Uuid>, of_each: i64 } -> HopRow,
    "-- graph.list_hops
    with named as materialized (
        select m.memory_id as from_id, m.entity_id
        from unnest($3::uuid[]) as g (id)
        join mentions m on m.tenant_id = $1 and m.user_id = $2 and m.memory_id = g.id
        union
        select m.skill_id, m.entity_id
        from unnest($4::uuid[]) as g (id)
        join skill_mentions m on m.tenant_id = $1 and m.user_id = $2 and m.skill_id = g.id
        union
        select g.id, g.id from unnest($4::uuid[]) as g (id)
    ), things as materialized (
        select e.entity_id, e.name, e.kind, (1 / (1 + ln(greatest(1, n.memories))))::real as strength
        from (select distinct entity_id from named) d
        join entities e on e.tenant_id = $1 and e.user_id = $2 and e.entity_id = d.entity_id
        cross join lateral (
            select count(*) as memories from (
                select from mentions m
                where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = e.entity_id limit 200) m) n
    )
    select n.from_id, l.to_id, l.is_memory, t.name as via, null as kind, null as source, t.strength,
           null::timestamptz as reinforced_at
    from named n
    join things t on t.entity_id = n.entity_id
    cross join lateral (
        (select m.memory_id as to_id, true as is_memory from mentions m
         where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = n.entity_id
         order by m.memory_id desc limit $5)
        union all
        (select m.skill_id, false from skill_mentions m
         where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = n.entity_id
         order by m.skill_id limit $5)
        union all
        (select n.entity_id, false where t.kind = 'skill')) l
    where l.to_id <> n.from_id
    union all
    select g.id, r.to_id, false, null, r.kind, r.source, r.strength, r.reinforced_at
    from unnest($4::uuid[]) as g (id)
    cross join lateral (
        (select o.to_id, o.type as kind, o.source, o.strength, o.reinforced_at from trusted_relations o
         where o.tenant_id = $1 and o.user_id = $2 and o.from_id = g.id
         order by o.strength desc, o.to_id limit $5)
        union all
        (select i.from_id, i.type, i.source, i.strength, i.reinforced_at from trusted_relations i
         where i.tenant_id = $1 and i.user_id = $2 and i.to_id = g.id
         order by i.strength desc, i.from_id limit $5)) r"
}

/// Lists memories and skills that are one hop away from `start`, unordered.
pub async fn list_hops(db: &Database, principal: &Principal, start: Start<'_>, now: DateTime<Utc>) -> Result<Vec<Hop>> {
    let (memories, skills) = (uuids(start.memories.iter().copied()), uuids(start.skills.iter().copied()));
    let rows = read(db, principal, ListHops { memories, skills, of_each: OF_EACH }).await?;
    Ok(rows.into_iter().filter_map(|row| row.seen(now)).collect())
}

impl HopRow {
    /// Returns the hop with its current strength; `None` for a relation that has faded out.
    fn seen(self, now: DateTime<Utc>) -> Option<Hop> {
        let strength = match (&self.source, self.reinforced_at) {
            (Some(source), Some(since)) => strength_now(source.0, self.strength, since, now),
            _ => self.strength,
        };
        let via = match (self.via, self.kind) {
            (Some(name), _) => HopConnection::Named(name),
            (None, Some(kind)) => HopConnection::Related(kind.0),
            (None, None) => return None,
        };
        let hop = Hop { from: self.from_id, to: self.to_id, is_memory: self.is_memory, via, strength };
        (strength >= FADED_OUT).then_some(hop)
    }
}
