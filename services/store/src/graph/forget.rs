//! Deletes a skill from the graph in the transaction of its deletion: its entity, relations and mentions.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::statement;

// Relations that other skills' texts state become hints for a future skill with this name.
statement! {
    write ForgetSkill { skill: Uuid, name: String } -> (),
    "-- graph.forget_skill
    with hinted as (
        insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence, evidence)
        select $1, $2, r.said_by, $4, r.type, r.mentions, r.confidence, r.evidence
        from relations r
        where r.tenant_id = $1 and r.user_id = $2 and r.source = 'extracted' and r.said_by <> $3
          and (r.to_id = $3 or r.from_id = $3)
        on conflict do nothing
    )
    delete from entities e where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = $3"
}

/// Deletes a skill from the graph with the next round trip.
pub(crate) fn forget(tx: &mut WriteTx, skill: SkillId, name: &str) {
    tx.send_ahead(ForgetSkill { skill: skill.0, name: name.to_owned() });
}
