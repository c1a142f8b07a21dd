//! Names of all entities of a user, for finding them in skills' texts.

use knowhow_domain::{EntityId, Result};
use uuid::Uuid;

use super::ENTITIES;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct ThingRow { entity_id: Uuid, name: String } }

statement! {
    read ListThings { most: i64 } -> ThingRow,
    "-- graph.list_things
    (select e.entity_id, e.name from entities e
     where e.tenant_id = $1 and e.user_id = $2 and e.kind <> 'skill'
     order by e.entity_id
     limit $3)
    union all
    (select a.entity_id, a.name from entity_aliases a
     where a.tenant_id = $1 and a.user_id = $2
     order by a.entity_id
     limit $3)"
}

/// Lists the names and aliases of the user's entities that are not skills.
pub async fn list_things(db: &Database, principal: &Principal) -> Result<Vec<(EntityId, String)>> {
    let rows = read(db, principal, ListThings { most: ENTITIES }).await?;
    Ok(rows.into_iter().map(|row| (EntityId(row.entity_id), row.name)).collect())
}
