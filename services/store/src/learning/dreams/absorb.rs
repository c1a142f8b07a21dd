//! Transfers data from an absorbed skill to the skill that absorbs it, and records the transfer for undo.

use knowhow_domain::{Result, SkillId};
use serde_json::Value;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { struct SurroundingsRow { kept: Value } }

statement! {
    read ReadSurroundings { skill: Uuid, into: Uuid } -> SurroundingsRow,
    "-- dreams.read_surroundings
    select jsonb_build_object(
        'state', (select to_jsonb(s) from skills s
                  where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3),
        'usage', (select to_jsonb(u) - '{tenant_id,user_id,skill_id}'::text[] from skill_usage u
                  where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3),
        'redirects', (select coalesce(jsonb_agg(d.name order by d.name), '[]') from skill_redirects d
                      where d.tenant_id = $1 and d.user_id = $2 and d.skill_id = $3),
        'relations', (select coalesce(jsonb_agg(to_jsonb(r) - '{tenant_id,user_id}'::text[]), '[]') from (
                          select o.* from relations o
                          where o.tenant_id = $1 and o.user_id = $2 and o.from_id = $3 and o.source = 'declared'
                          union all
                          select i.* from relations i
                          where i.tenant_id = $1 and i.user_id = $2 and i.to_id = $3 and i.source = 'declared') r),
        'mentions', (select coalesce(jsonb_agg(m.memory_id), '[]') from mentions m
                     where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = $3),
        'examples', (select coalesce(jsonb_agg(e.example_id), '[]') from skill_examples e
                     where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3),
        'into_created_at', (select s.created_at from skills s
                            where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4),
        'into_last_used_at', (select u.last_used_at from skill_usage u
                              where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $4)) as kept"
}

row! { struct AbsorbedRow { mentions: Vec<Uuid>, relations: Value } }

/// Data for undoing a merge: both skills before the merge, and the data that the absorbing skill got.
#[derive(Debug, Clone)]
pub struct Absorbed {
    /// Data that the absorbed skill loses when it is archived, and previous values of the absorbing skill.
    pub kept: Value,
    /// Memories that did not mention the absorbing skill before.
    pub mentions: Vec<Uuid>,
    /// Declared relations that the absorbing skill did not have before.
    pub relations: Value,
}

// If both skills were used on one day, the uses stay separate. Each transferred use gets its own digest and records
// its previous one.
statement! {
    write AbsorbSkill { skill: Uuid, into: Uuid } -> AbsorbedRow,
    "-- dreams.absorb
    with counted as (
        update skill_usage t
        set times_used = t.times_used + f.times_used, last_used_at = greatest(t.last_used_at, f.last_used_at),
            successes = t.successes + f.successes, failures = t.failures + f.failures, partials = t.partials + f.partials
        from skill_usage f
        where t.tenant_id = $1 and t.user_id = $2 and t.skill_id = $4
          and f.tenant_id = $1 and f.user_id = $2 and f.skill_id = $3
    ), moved as (
        update usage_events e
        set skill_id = $4, via = coalesce(e.via, '{}') || $3::uuid, via_digest = coalesce(e.via_digest, '{}') || e.use_digest,
            use_digest = substr(sha256(e.use_digest || decode(replace($3::text, '-', ''), 'hex')), 1, 16)
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3
    ), moved_days as (
        update usage_days d set skill_id = $4, via = d.via || $3::uuid
        where d.tenant_id = $1 and d.user_id = $2 and d.skill_id = $3
    ), aged as (
        update skills t set created_at = least(t.created_at, f.created_at)
        from skills f
        where t.tenant_id = $1 and t.user_id = $2 and t.skill_id = $4
          and f.tenant_id = $1 and f.user_id = $2 and f.skill_id = $3 and f.created_at < t.created_at
          and t.source in ('agent', 'dream', 'reflection') and not t.pinned
    ), entered as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, s.skill_id, 'skill', replace(s.name, '-', ' '), s.name, 0, s.updated_at
        from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4
        on conflict (tenant_id, user_id, entity_id) do nothing
    ), named as (
        insert into mentions (tenant_id, user_id, entity_id, memory_id)
        select $1, $2, $4, m.memory_id from mentions m
        where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = $3
        on conflict do nothing
        returning memory_id
    ), related as (
        insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence, evidence,
            reinforced_at, said_by)
        select $1, $2, case when w.is_symmetric then least(w.one, w.other) else w.one end,
               case when w.is_symmetric then greatest(w.one, w.other) else w.other end, w.type, 'declared', w.strength,
               w.mentions, w.confidence, w.evidence, w.reinforced_at,
               case when w.is_symmetric then least(w.one, w.other) else w.one end
        from (select r.*, r.type in ('complements', 'often_used_with') as is_symmetric,
                     case when r.from_id = $3 then $4 else r.from_id end as one,
                     case when r.to_id = $3 then $4 else r.to_id end as other
              from (select o.* from relations o
                    where o.tenant_id = $1 and o.user_id = $2 and o.from_id = $3 and o.source = 'declared'
                    union all
                    select i.* from relations i
                    where i.tenant_id = $1 and i.user_id = $2 and i.to_id = $3 and i.source = 'declared') r) w
        where w.one <> w.other
        on conflict do nothing
        returning from_id, to_id, type, said_by
    )
    select array(select memory_id from named) as mentions,
           coalesce((select jsonb_agg(to_jsonb(r)) from related r), '[]') as relations"
}

/// Transfers the uses, mentions and declared relations of a skill to the skill that absorbs it. Also transfers the
/// creation time if it is earlier. Both skills must be locked. The caller archives the absorbed skill next.
pub async fn absorb(tx: &mut WriteTx, skill: SkillId, into: SkillId) -> Result<Absorbed> {
    // The read runs before the write, so it returns the previous state.
    let before = tx.send_ahead(ReadSurroundings { skill: skill.0, into: into.0 });
    let got = tx.write(AbsorbSkill { skill: skill.0, into: into.0 }).await?.pop();
    let kept = before.take()?.pop().map_or(Value::Null, |row| row.kept);
    let (mentions, relations) = got.map_or((Vec::new(), Value::Null), |row| (row.mentions, row.relations));
    Ok(Absorbed { kept, mentions, relations })
}
