//! A deleted skill leaves the graph in its transaction: its entity, what it has to do with others, and where it is named.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::statement;

// What other texts say of it waits for a skill of that name again.
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

/// Takes a skill out of the graph, together with what is sent next.
pub(crate) fn forget(tx: &mut WriteTx, skill: SkillId, name: &str) {
    tx.send_ahead(ForgetSkill { skill: skill.0, name: name.to_owned() });
}
