//! Finds the skills most strongly related to given skills, which a turn includes as well.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::RelationSource;
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use super::relations::{FADED_OUT, strength_now};
use crate::vault::value::uuids;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// Maximum number of neighbours per skill and direction.
const OF_EACH: i64 = 8;

row! {
    struct NeighbourRow {
        skill_id: Uuid, other_id: Uuid, source: Word<RelationSource>, strength: f32, reinforced_at: DateTime<Utc>,
    }
}

// Relations from tainted texts and mere references by other skills are left out before the limit applies.
statement! {
    read ListNeighbours { skills: Vec<Uuid>, of_each: i64 } -> NeighbourRow,
    "-- graph.list_neighbours
    select a.id as skill_id, n.other_id, n.source, n.strength, n.reinforced_at
    from unnest($3::uuid[]) with ordinality a (id, place)
    cross join lateral (
        (select r.to_id as other_id, r.source, r.strength, r.reinforced_at from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.from_id = a.id
         order by r.strength desc, r.to_id limit $4)
        union all
        (select r.from_id, r.source, r.strength, r.reinforced_at from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.to_id = a.id and r.confidence > 0.5
         order by r.strength desc, r.from_id limit $4)) n
    order by a.place, n.strength desc, n.other_id"
}

/// Lists pairs of a skill and one of its neighbours, in the order of `skills`. For each skill, the strongest
/// neighbour comes first.
pub async fn list_neighbours(
    db: &Database,
    principal: &Principal,
    skills: &[SkillId],
    now: DateTime<Utc>,
) -> Result<Vec<(SkillId, SkillId)>> {
    let asked = ListNeighbours { skills: uuids(skills.iter().copied()), of_each: OF_EACH };
    let rows = read(db, principal, asked).await?;
    let is_felt = |row: &NeighbourRow| strength_now(row.source.0, row.strength, row.reinforced_at, now) >= FADED_OUT;
    Ok(rows.into_iter().filter(is_felt).map(|row| (SkillId(row.skill_id), SkillId(row.other_id))).collect())
}
