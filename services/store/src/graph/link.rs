//! Stores the entities that a memory mentions, and relates skills that memories mention together.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{EntityKind, SHARED_FOR_AFFINITY, canonical};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{MemoryId, SkillId, new_id};
use uuid::Uuid;

use super::ENTITIES;
use super::relate::ForgetNamesakes;
use crate::WriteTx;
use crate::vault::statement;
use crate::vault::value::uuids;

/// A memory and its entities.
#[derive(Debug, Clone)]
pub struct Link<'a> {
    pub memory: MemoryId,
    /// Entities by kind and name. Entities of kind `skill` are looked up by name; unknown skills are left out.
    pub entities: &'a [(EntityKind, String)],
    /// Skills with texts that may mention these entities. If an entity is new, these texts are read again.
    pub may_name: &'a [SkillId],
    pub now: DateTime<Utc>,
}

/// Maximum number of common memories that are counted. A relation has its full strength at this number.
const MOST_COUNTED: i64 = 20;

/// Maximum number of entities per memory, because each is compared with all others.
const NAMED: i64 = 64;

// The statement does not see the mentions that it inserts itself. So it counts the earlier common memories and adds
// one. Tainted memories create no relations. Otherwise authors of untrusted pages could choose the relations of a
// skill.
statement! {
    write LinkMemory {
        memory: Uuid, now: DateTime<Utc>, skills: Vec<String>, kinds: Vec<&'static str>, canonicals: Vec<String>,
        names: Vec<String>, ids: Vec<Uuid>, most: i64, most_counted: i64, least: i32,
        most_named: i64, may_name: Vec<Uuid>, task: &'static str,
    } -> (),
    "-- graph.link
    with memory as materialized (
        select m.memory_id, m.tainted from memories m where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3
    ), named_skills as materialized (
        select s.skill_id, s.name from memory, skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($5)
    ), entered as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, n.skill_id, 'skill', replace(n.name, '-', ' '), n.name, c.related_rules, $4
        from named_skills n
        join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
        on conflict (tenant_id, user_id, entity_id) do nothing
    ), room as (
        select count(*) < $10 as is_left from (
            select from entities e
            where e.tenant_id = $1 and e.user_id = $2 and e.kind <> 'skill' and cardinality($6::text[]) > 0 limit $10) taken
    ), given as materialized (
        select g.kind, g.canonical, g.name, g.id, memory.tainted, a.entity_id as alias_of
        from memory
        cross join unnest($6::text[], $7::text[], $8::text[], $9::uuid[]) as g (kind, canonical, name, id)
        left join entity_aliases a
            on a.tenant_id = $1 and a.user_id = $2 and a.kind = g.kind and a.canonical = g.canonical
    ), things as (
        insert into entities as e (tenant_id, user_id, entity_id, kind, canonical, name, tainted, created_at)
        select $1, $2, g.id, g.kind, g.canonical, g.name, g.tainted, $4
        from given g, room
        where g.alias_of is null and (room.is_left or exists (
            select from entities k
            where k.tenant_id = $1 and k.user_id = $2 and k.kind = g.kind and k.canonical = g.canonical))
        on conflict (tenant_id, user_id, kind, canonical) do update set tainted = e.tainted and excluded.tainted
        returning e.entity_id, e.xmax = 0 as is_new
    ), put as (
        insert into mentions (tenant_id, user_id, entity_id, memory_id)
        select $1, $2, n.entity_id, $3
        from (select skill_id as entity_id from named_skills
              union select entity_id from things
              union select alias_of from given where alias_of is not null) n
        where (select count(*) < $13 from (select from mentions m
                                           where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3
                                           limit $13) named)
        on conflict do nothing
        returning entity_id
    ), together as materialized (
        select skill_id from named_skills
        union
        select e.entity_id from mentions m
        join entities e on e.tenant_id = $1 and e.user_id = $2 and e.entity_id = m.entity_id and e.kind = 'skill'
        where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3
    ), shared as (
        select a.skill_id as low, b.skill_id as high, 1 + (
            select count(*) from (
                select from mentions x
                join mentions y on y.tenant_id = $1 and y.user_id = $2 and y.entity_id = b.skill_id
                    and y.memory_id = x.memory_id
                join memories t on t.tenant_id = $1 and t.user_id = $2 and t.memory_id = x.memory_id and not t.tainted
                where x.tenant_id = $1 and x.user_id = $2 and x.entity_id = a.skill_id and x.memory_id <> $3
                limit $11) counted)::integer as times
        from together a join together b on a.skill_id < b.skill_id
        where exists (select from memory where not tainted)
          and exists (select from put p where p.entity_id in (a.skill_id, b.skill_id))
    ), edges as (
        insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence,
            reinforced_at, said_by)
        select $1, $2, s.low, s.high, 'often_used_with', 'computed', tanh(0.5 * s.times), s.times, 1, $4, s.low
        from shared s
        where s.times >= $12
          and not exists (
              select from (
                  select r.source, r.confidence from relations r
                  where r.tenant_id = $1 and r.user_id = $2 and r.from_id = s.low and r.to_id = s.high offset 0) r
              where r.source <> 'computed' and r.confidence > 0.5)
          and not exists (
              select from (
                  select r.source, r.confidence from relations r
                  where r.tenant_id = $1 and r.user_id = $2 and r.from_id = s.high and r.to_id = s.low offset 0) r
              where r.source <> 'computed' and r.confidence > 0.5)
        on conflict (tenant_id, user_id, from_id, to_id, type, source, said_by) do update
        set strength = excluded.strength, mentions = excluded.mentions, reinforced_at = excluded.reinforced_at
        returning 1
    ), unread as materialized (
        select g.id from unnest($14::uuid[]) as g (id) where exists (select from things where is_new)
    ), outdated as (
        update entities e set read_by = least(e.read_by, 0) - 1 from unread u
        where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = u.id
        returning e.entity_id
    ), unknown as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, s.skill_id, 'skill', replace(s.name, '-', ' '), s.name, -1, $4
        from skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and not s.lent
          and s.skill_id = any (array(select id from unread except select entity_id from outdated))
          and not exists (select from named_skills n where n.skill_id = s.skill_id)
        on conflict do nothing
    ), enqueued as materialized (
        select app.enqueue($15, '{}', 'all', true) from (select from unread limit 1) u
    )
    select from enqueued"
}

/// Stores the entities of a memory, together with COMMIT. The memory may be created in this transaction. If two
/// skills have three common memories, they become related unless they already are.
pub fn link(tx: &mut WriteTx, link: &Link<'_>) {
    let (skills, things): (Vec<_>, Vec<_>) = link.entities.iter().partition(|(kind, _)| *kind == EntityKind::Skill);
    let mut skills: Vec<String> = skills.into_iter().map(|(_, name)| name.clone()).collect();
    skills.sort_unstable();
    skills.dedup();
    let mut given: Vec<(&'static str, String, String)> =
        things.into_iter().map(|(kind, name)| (kind.as_str(), canonical(name), name.clone())).collect();
    given.sort_unstable();
    given.dedup_by(|a, b| (a.0, &a.1) == (b.0, &b.1));
    skills.truncate(NAMED as usize);
    // The lock makes earlier common memories of other requests visible, and prevents concurrent deletion of the
    // mentioned skills.
    tx.lock_user();
    if !skills.is_empty() {
        tx.send_ahead(ForgetNamesakes { names: skills.clone() });
    }
    tx.send_ahead(LinkMemory {
        memory: link.memory.0,
        now: link.now,
        skills,
        kinds: given.iter().map(|(kind, ..)| *kind).collect(),
        canonicals: given.iter().map(|(_, canonical, _)| canonical.clone()).collect(),
        ids: given.iter().map(|_| new_id()).collect(),
        names: given.into_iter().map(|(.., name)| name).collect(),
        most: ENTITIES,
        most_counted: MOST_COUNTED,
        least: SHARED_FOR_AFFINITY,
        most_named: NAMED,
        may_name: uuids(link.may_name.iter().copied()),
        task: task::RELATE_SKILLS,
    });
}
