//! Records that all of a user's skills were read for relations, and deletes data of deleted skills.

use knowhow_domain::Result;

use crate::vault::{row, statement, write};
use crate::{Database, Principal};

row! { struct RemovedRelationsRow { removed: i64 } }

// If a starter without a row was withdrawn, its entity still exists and is deleted here.
statement! {
    write FinishRelating { rules: i32, is_repair: bool } -> RemovedRelationsRow,
    "-- graph.finish_relating
    with lost as materialized (
        select e.entity_id, e.name from entities e
        where $4 and e.tenant_id = $1 and e.user_id = $2 and e.kind = 'skill' and not exists (
            select from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = e.entity_id)
    ), hinted as (
        insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence, evidence)
        select $1, $2, r.said_by, l.name, r.type, r.mentions, r.confidence, r.evidence
        from lost l
        join relations r on r.tenant_id = $1 and r.user_id = $2 and l.entity_id in (r.from_id, r.to_id)
        where r.source = 'extracted' and not exists (select from lost m where m.entity_id = r.said_by)
        on conflict do nothing
    ), gone as (
        delete from entities e using lost l
        where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = l.entity_id
        returning 1
    ), finished as (
        update user_catalogs set related_rules = $3 where tenant_id = $1 and user_id = $2 and related_rules < $3
    )
    select count(*) as removed from gone"
}

/// Records that all of the user's skills were read with these rules. If `is_repair`, also deletes entities of deleted
/// skills. Returns the number of deleted entities.
pub async fn finish_relating(db: &Database, principal: &Principal, rules: i32, is_repair: bool) -> Result<i64> {
    Ok(write(db, principal, FinishRelating { rules, is_repair }).await?.first().map_or(0, |row| row.removed))
}
