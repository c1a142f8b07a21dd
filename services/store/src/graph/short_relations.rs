//! Relations in short form, for explaining suggestions and for loading one skill.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{RelationSource, RelationType};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use super::relations::{FADED_OUT, strength_now};
use crate::vault::statement::Write;
use crate::vault::value::uuids;
use crate::vault::{Word, read, read_and_write, row, statement, write};
use crate::{Database, Principal};

/// A skill's relation in short form. Relations to tainted skills or from tainted texts are left out, because this
/// form has no taint marks.
#[derive(Debug, Clone)]
pub struct Neighbour {
    pub skill: SkillId,
    pub kind: RelationType,
    /// Name of the other skill.
    pub other: String,
    /// Whether the relation starts at this skill.
    pub is_from: bool,
    /// Whether the relation was declared or extracted. `false` if it was computed.
    pub is_said: bool,
}

row! {
    struct SurroundingRow {
        skill_id: Uuid, kind: Word<RelationType>, source: Word<RelationSource>, name: String, is_from: bool, strength: f32,
        reinforced_at: DateTime<Utc>,
    }
}

// Tainted skills are left out before the limit applies, and so are mere references by other skills.
statement! {
    read ListSurroundings { skills: Vec<Uuid>, of_each: i64 } -> SurroundingRow,
    "-- graph.list_surroundings
    select a.id as skill_id, n.kind, n.source, e.name, n.is_from, n.strength, n.reinforced_at
    from unnest($3::uuid[]) as a (id)
    cross join lateral (
        (select r.to_id as other_id, r.type as kind, r.source, true as is_from, r.strength, r.reinforced_at
         from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.from_id = a.id
           and not exists (select from skills k
                           where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = r.to_id and k.tainted)
         order by r.strength desc, r.to_id limit $4)
        union all
        (select r.from_id, r.type, r.source, false, r.strength, r.reinforced_at from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.to_id = a.id and r.confidence > 0.5
           and not exists (select from skills k
                           where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = r.from_id and k.tainted)
         order by r.strength desc, r.from_id limit $4)) n
    join entities e on e.tenant_id = $1 and e.user_id = $2 and e.entity_id = n.other_id
    order by n.strength desc, e.name"
}

statement! {
    read ListNamedRelations { name: String, most: i64 } -> SurroundingRow,
    "-- graph.list_named_relations
    select s.entity_id as skill_id, n.kind, n.source, e.name, n.is_from, n.strength, n.reinforced_at
    from entities s
    cross join lateral (
        (select r.to_id as other_id, r.type as kind, r.source, true as is_from, r.strength, r.reinforced_at
         from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.from_id = s.entity_id and r.source <> 'computed'
           and not exists (select from skills k
                           where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = r.to_id and k.tainted)
         order by r.strength desc, r.to_id limit $4)
        union all
        (select r.from_id, r.type, r.source, false, r.strength, r.reinforced_at from trusted_relations r
         where r.tenant_id = $1 and r.user_id = $2 and r.to_id = s.entity_id and r.source <> 'computed'
           and r.confidence > 0.5
           and not exists (select from skills k
                           where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = r.from_id and k.tainted)
         order by r.strength desc, r.from_id limit $4)) n
    join entities e on e.tenant_id = $1 and e.user_id = $2 and e.entity_id = n.other_id
    where s.tenant_id = $1 and s.user_id = $2 and s.kind = 'skill' and s.canonical = replace($3, '-', ' ') and s.name = $3
    order by n.kind, e.name"
}

/// Lists the strongest relations of skills, at most `seen.most` per skill and direction, strongest first.
pub async fn list_surroundings(
    db: &Database,
    principal: &Principal,
    skills: &[SkillId],
    seen: RelationLimits,
) -> Result<Vec<Neighbour>> {
    let asked = ListSurroundings { skills: uuids(skills.iter().copied()), of_each: seen.most };
    Ok(read(db, principal, asked).await?.into_iter().filter_map(|row| row.seen(seen.now)).collect())
}

/// Runs a write. If `related_to` names a skill, also lists its declared and extracted relations in the same round
/// trip.
pub(crate) async fn write_and_list_relations<W: Write>(
    db: &Database,
    principal: &Principal,
    statement: W,
    related_to: Option<(&str, RelationLimits)>,
) -> Result<(Vec<W::Row>, Vec<Neighbour>)> {
    let Some((name, seen)) = related_to else { return Ok((write(db, principal, statement).await?, Vec::new())) };
    let asked = ListNamedRelations { name: name.to_owned(), most: seen.most };
    let (found, rows) = read_and_write(db, principal, asked, statement).await?;
    Ok((rows, found.into_iter().filter_map(|row| row.seen(seen.now)).collect()))
}

/// Maximum number of relations per direction, and the current time for fading.
#[derive(Debug, Clone, Copy)]
pub struct RelationLimits {
    pub most: i64,
    pub now: DateTime<Utc>,
}

impl SurroundingRow {
    fn seen(self, now: DateTime<Utc>) -> Option<Neighbour> {
        let (kind, source) = (self.kind.0, self.source.0);
        let is_felt = strength_now(source, self.strength, self.reinforced_at, now) >= FADED_OUT;
        is_felt.then(|| Neighbour {
            skill: SkillId(self.skill_id),
            kind,
            other: self.name,
            is_from: self.is_from,
            is_said: source != RelationSource::Computed,
        })
    }
}
