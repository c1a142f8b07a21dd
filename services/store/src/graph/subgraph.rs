//! A part of the graph around entities, for the console.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{EntityKind, RelationSource, RelationType};
use knowhow_domain::{EntityId, Result};
use uuid::Uuid;

use super::relations::{FADED_OUT, strength_now};
use crate::vault::value::uuids;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// An entity of the graph.
#[derive(Debug, Clone)]
pub struct Node {
    pub id: EntityId,
    pub kind: EntityKind,
    pub name: String,
    /// Number of memories that mention the entity.
    pub memories: i64,
    pub tainted: bool,
}

row! { Node { id: Uuid = entity_id, kind: Word<EntityKind>, name: String, memories: i64, tainted: bool } }

/// An edge between two entities: a relation, or a link through memories that mention both.
#[derive(Debug, Clone)]
pub struct Edge {
    pub from: EntityId,
    pub to: EntityId,
    /// Type of the relation; `None` if the entities are only linked by memories that mention both.
    pub kind: Option<RelationType>,
    pub source: Option<RelationSource>,
    /// Strength of the edge, 0 to 1.
    pub strength: f32,
    /// Number of times that texts state the relation, or number of memories that mention both entities.
    pub mentions: i32,
}

row! {
    struct EdgeRow {
        from_id: Uuid, to_id: Uuid, kind: Option<Word<RelationType>>, source: Option<Word<RelationSource>>, strength: f32,
        mentions: i32, reinforced_at: Option<DateTime<Utc>>,
    }
}

// Reads the strongest relations of an entity, and the strongest connections by common memories.
statement! {
    read ListEdges { around: Vec<Uuid>, types: Vec<&'static str>, with_memories: bool, of_each: i64, most: i64 } -> EdgeRow,
    "-- graph.list_edges
    select distinct n.from_id, n.to_id, n.kind, n.source, n.strength, n.mentions, n.reinforced_at
    from unnest($3::uuid[]) a (id)
    cross join lateral (
        (select r.from_id, r.to_id, r.type as kind, r.source, r.strength, r.mentions, r.reinforced_at
         from relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.from_id = a.id and r.type = any ($4)
         order by r.strength desc, r.to_id limit $6)
        union all
        (select r.from_id, r.to_id, r.type, r.source, r.strength, r.mentions, r.reinforced_at
         from relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.to_id = a.id and r.type = any ($4)
         order by r.strength desc, r.from_id limit $6)
        union all
        (select least(a.id, o.entity_id), greatest(a.id, o.entity_id), null, null,
                tanh(0.5 * count(*))::real, count(*)::integer, null
         from (select m.memory_id from mentions m
               where $5 and m.tenant_id = $1 and m.user_id = $2 and m.entity_id = a.id
               order by m.memory_id desc limit 200) m
         cross join lateral (
             select n.entity_id from mentions n
             where n.tenant_id = $1 and n.user_id = $2 and n.memory_id = m.memory_id offset 0) o
         where o.entity_id <> a.id
         group by o.entity_id
         order by count(*) desc, o.entity_id limit $6)) n
    order by n.strength desc, n.from_id, n.to_id
    limit $7"
}

/// Lists the edges of entities, strongest first.
pub async fn list_edges(
    db: &Database,
    principal: &Principal,
    around: &[EntityId],
    asked: &AskedEdges<'_>,
) -> Result<Vec<Edge>> {
    let rows = read(
        db,
        principal,
        ListEdges {
            around: uuids(around.iter().copied()),
            types: asked.types.iter().map(|kind| kind.as_str()).collect(),
            with_memories: asked.with_memories,
            of_each: asked.of_each,
            most: asked.most,
        },
    )
    .await?;
    Ok(rows.into_iter().filter_map(|row| row.seen(asked.now)).collect())
}

/// Filter and limits for edges.
#[derive(Debug, Clone)]
pub struct AskedEdges<'a> {
    /// Types of relations.
    pub types: &'a [RelationType],
    /// Whether entities with common memories count as connected.
    pub with_memories: bool,
    /// Maximum number of edges per entity and direction.
    pub of_each: i64,
    /// Maximum number of edges in total.
    pub most: i64,
    pub now: DateTime<Utc>,
}

impl EdgeRow {
    /// Returns the edge with its strength at `now`; `None` if the relation has faded out.
    fn seen(self, now: DateTime<Utc>) -> Option<Edge> {
        let (kind, source) = (self.kind.map(|word| word.0), self.source.map(|word| word.0));
        let strength = match (source, self.reinforced_at) {
            (Some(source), Some(since)) => strength_now(source, self.strength, since, now),
            _ => self.strength,
        };
        let (from, to, mentions) = (EntityId(self.from_id), EntityId(self.to_id), self.mentions);
        (strength >= FADED_OUT).then_some(Edge { from, to, kind, source, strength, mentions })
    }
}

statement! {
    read ListNodes { ids: Vec<Uuid> } -> Node,
    "-- graph.list_nodes
    select e.entity_id, e.kind, e.name, e.tainted or coalesce(s.tainted, false) as tainted,
           (select count(*) from mentions m
            where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = e.entity_id) as memories
    from unnest($3::uuid[]) a (id)
    cross join lateral (
        select o.entity_id, o.kind, o.name, o.tainted from entities o
        where o.tenant_id = $1 and o.user_id = $2 and o.entity_id = a.id offset 0) e
    left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = e.entity_id"
}

/// Reads entities by their ids, unordered. Missing entities are skipped.
pub async fn list_nodes(db: &Database, principal: &Principal, ids: &[EntityId]) -> Result<Vec<Node>> {
    read(db, principal, ListNodes { ids: uuids(ids.iter().copied()) }).await
}

row! { struct EntityIdRow { entity_id: Uuid } }

statement! {
    read ListStrongest { most: i64 } -> EntityIdRow,
    "-- graph.list_strongest
    select r.entity_id from (
        select o.from_id as entity_id, o.strength from relations o where o.tenant_id = $1 and o.user_id = $2
        union all
        select i.to_id, i.strength from relations i where i.tenant_id = $1 and i.user_id = $2) r
    group by r.entity_id
    order by sum(r.strength) desc, r.entity_id
    limit $3"
}

/// Lists the entities with the highest total strength of their relations.
pub async fn list_strongest(db: &Database, principal: &Principal, most: i64) -> Result<Vec<EntityId>> {
    let rows = read(db, principal, ListStrongest { most }).await?;
    Ok(rows.into_iter().map(|row| EntityId(row.entity_id)).collect())
}
