//! Entities mentioned by memories.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Entity, EntityKind, canonical};
use knowhow_domain::{EntityId, Result};
use uuid::Uuid;

use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, Window};

row! {
    Entity {
        id: Uuid = entity_id, kind: Word<EntityKind>, name: String, memories: i64, tainted: bool, created_at: DateTime<Utc>,
    }
}

statement! {
    read ListEntities { q: Option<String>, kind: Option<&'static str>, behind: Uuid, limit: i64 } -> Entity,
    "-- graph.list_entities
    select e.entity_id, e.kind, e.name, e.tainted, e.created_at,
           (select count(*) from mentions m
            where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = e.entity_id) as memories
    from entities e
    where e.tenant_id = $1 and e.user_id = $2 and e.entity_id < $5 and ($4::text is null or e.kind = $4)
      and ($3::text is null or strpos(e.canonical, $3) > 0 or exists (
          select from entity_aliases a
          where a.tenant_id = $1 and a.user_id = $2 and a.entity_id = e.entity_id and strpos(a.canonical, $3) > 0))
    order by e.entity_id desc
    limit $6"
}

/// Filter for entities.
#[derive(Debug, Clone, Default)]
pub struct EntityFilter<'a> {
    /// Part of the name or of an alias, compared in the form of [`canonical`]. `None` for all names.
    pub q: Option<&'a str>,
    /// Kind of the entities; `None` for all kinds.
    pub kind: Option<EntityKind>,
}

/// Lists the user's entities, newest first.
pub async fn list_entities(
    db: &Database,
    principal: &Principal,
    filter: &EntityFilter<'_>,
    page: Window<EntityId>,
) -> Result<Vec<Entity>> {
    let (q, kind) = (filter.q.map(canonical), filter.kind.map(EntityKind::as_str));
    read(db, principal, ListEntities { q, kind, behind: page.behind.0, limit: page.limit }).await
}
