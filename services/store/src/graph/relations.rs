//! The relations of a skill, from this skill's point of view.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Relation, RelationDirection, RelationSource, RelationType, computed_strength, idle_days};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use super::RELATIONS_PER_SKILL;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// Strength below which a computed relation is hidden.
pub(crate) const FADED_OUT: f32 = 0.05;

row! {
    struct RelationRow {
        kind: Word<RelationType>, source: Word<RelationSource>, name: String, is_from: bool, strength: f32, mentions: i32,
        confidence: f32, evidence: Option<String>, reinforced_at: DateTime<Utc>, tainted: bool,
    }
}

// The rows are grouped, because two texts may state the same relation.
statement! {
    read ListRelations { skill: Uuid, limit: i64 } -> RelationRow,
    "-- graph.list_relations
    select r.type as kind, r.source, e.name, r.from_id = $3 as is_from, max(r.strength) as strength,
           sum(r.mentions)::integer as mentions, max(r.confidence) as confidence, min(r.evidence) as evidence,
           max(r.reinforced_at) as reinforced_at, bool_or(r.source = 'extracted' and coalesce(s.tainted, false)) as tainted
    from (select * from relations o where o.tenant_id = $1 and o.user_id = $2 and o.from_id = $3
          union all
          select * from relations i where i.tenant_id = $1 and i.user_id = $2 and i.to_id = $3) r
    join entities e on e.tenant_id = $1 and e.user_id = $2
        and e.entity_id = case when r.from_id = $3 then r.to_id else r.from_id end
    left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = r.said_by
    group by r.type, r.source, e.name, r.from_id = $3
    order by max(r.strength) desc, e.name, r.type, r.source
    limit $4"
}

/// Lists the relations of a skill, strongest first, at most 200.
pub async fn list_relations(
    db: &Database,
    principal: &Principal,
    skill: SkillId,
    now: DateTime<Utc>,
) -> Result<Vec<Relation>> {
    let rows = read(db, principal, ListRelations { skill: skill.0, limit: RELATIONS_PER_SKILL }).await?;
    let mut relations: Vec<Relation> = rows.into_iter().map(|row| row.seen(now)).collect();
    relations.retain(|relation| relation.strength >= FADED_OUT);
    relations.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.skill.cmp(&b.skill)));
    Ok(relations)
}

impl RelationRow {
    fn seen(self, now: DateTime<Utc>) -> Relation {
        let (kind, source) = (self.kind.0, self.source.0);
        let direction = match (kind.is_symmetric(), self.is_from) {
            (true, _) => RelationDirection::Both,
            (false, true) => RelationDirection::Out,
            (false, false) => RelationDirection::In,
        };
        Relation {
            kind,
            skill: self.name,
            direction,
            source,
            strength: strength_now(source, self.strength, self.reinforced_at, now),
            confidence: self.confidence,
            mentions: self.mentions,
            evidence: self.evidence,
            tainted: self.tainted,
            reinforced_at: self.reinforced_at,
        }
    }
}

/// Returns the strength of a relation at `now`. Computed relations fade over time.
pub(crate) fn strength_now(source: RelationSource, strength: f32, since: DateTime<Utc>, now: DateTime<Utc>) -> f32 {
    match source {
        RelationSource::Computed => computed_strength(strength, idle_days(since, now)),
        RelationSource::Declared | RelationSource::Extracted => strength,
    }
}
