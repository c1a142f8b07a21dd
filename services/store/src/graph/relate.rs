//! Replaces the relations that a skill's text states, after the text has changed.

mod reading;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

pub use reading::{ExtractionRun, ReadState, Related, StatedRelation, UnreadSkill};

use self::reading::UnreadSkillRow;
use crate::vault::value::uuids;
use crate::vault::{read, statement};
use crate::{Database, Principal, Window, WriteTx};

// The entity of a deleted skill must not block its name for another skill.
statement! {
    write ForgetNamesakes { names: Vec<String> } -> (),
    "-- graph.forget_namesakes
    with namesakes as materialized (
        select e.entity_id, e.name from entities e
        where e.tenant_id = $1 and e.user_id = $2 and e.kind = 'skill'
          and e.canonical = any (array(select replace(n, '-', ' ') from unnest($3::text[]) n))
          and not exists (select from skill_states s
                          where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = e.entity_id and s.name = e.name)
    ), hinted as (
        insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence, evidence)
        select $1, $2, r.said_by, n.name, r.type, r.mentions, r.confidence, r.evidence
        from namesakes n
        join relations r on r.tenant_id = $1 and r.user_id = $2 and n.entity_id in (r.from_id, r.to_id)
        where r.source = 'extracted' and not exists (select from namesakes m where m.entity_id = r.said_by)
        on conflict do nothing
    )
    delete from entities e using namesakes n
    where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = n.entity_id"
}

// Relations to unknown names are stored as hints. Hints from other skills that name this skill become relations. A mere
// reference has a confidence of 0.4: it leaves computed relations, and its hint has no evidence, because many words
// look like names.
statement! {
    write RelateSkill {
        skill: Uuid, rules: i32, now: DateTime<Utc>, types: Vec<&'static str>, names: Vec<String>,
        subjects: Vec<Option<String>>, mentions: Vec<i32>, confidences: Vec<f32>, evidence: Vec<String>,
        things: Vec<Uuid>, digest: Vec<u8>, read_by: i32,
    } -> (),
    "-- graph.relate
    with own as materialized (
        select s.skill_id, s.name from skill_states s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.document_digest = $13
          and coalesce((select e.read_by from entities e
                        where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = $3), 0) = $14
    ), stated as materialized (
        select g.type, g.name, g.mentions, g.confidence, g.evidence, s.skill_id as other,
               g.type in ('complements', 'often_used_with') as is_symmetric
        from own
        cross join unnest($6::text[], $7::text[], $8::text[], $9::integer[], $10::real[], $11::text[])
            as g (type, name, subject, mentions, confidence, evidence)
        left join skill_states s on s.tenant_id = $1 and s.user_id = $2 and s.name = g.name
        where g.name <> own.name and not exists (
            select from skill_states o
            where o.tenant_id = $1 and o.user_id = $2 and o.name = g.subject and o.skill_id <> own.skill_id)
    ), said as materialized (
        select * from stated s
        where s.confidence > 0.5
           or not exists (select from stated t where t.name = s.name and t.confidence > 0.5)
    ), entered as (
        insert into entities as e (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, own.skill_id, 'skill', replace(own.name, '-', ' '), own.name, $4, $5 from own
        on conflict (tenant_id, user_id, entity_id) do update
        set canonical = excluded.canonical, name = excluded.name, read_by = $4
    ), others as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
        select distinct $1, $2, s.other, 'skill', replace(s.name, '-', ' '), s.name, $5::timestamptz
        from said s where s.other is not null
        on conflict (tenant_id, user_id, entity_id) do nothing
    ), wanted as materialized (
        select case when is_symmetric then least($3, other) else $3 end as from_id,
               case when is_symmetric then greatest($3, other) else other end as to_id,
               type, sum(mentions)::integer as mentions, max(confidence) as confidence, min(evidence) as evidence
        from said where other is not null
        group by 1, 2, 3
    ), taken_back as (
        delete from relations r
        where r.tenant_id = $1 and r.user_id = $2 and r.source = 'extracted' and r.said_by = $3
          and (r.from_id = $3 or r.to_id = $3) and exists (select from own)
          and not exists (select from wanted w where (w.from_id, w.to_id, w.type) = (r.from_id, r.to_id, r.type))
    ), kept as (
        insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence,
            evidence, reinforced_at, said_by)
        select $1, $2, from_id, to_id, type, 'extracted', confidence, mentions, confidence, evidence, $5, $3 from wanted
        on conflict (tenant_id, user_id, from_id, to_id, type, source, said_by) do update
        set strength = excluded.strength, mentions = excluded.mentions, confidence = excluded.confidence,
            evidence = excluded.evidence, reinforced_at = excluded.reinforced_at
    ), hints_taken_back as (
        delete from relation_hints h
        where h.tenant_id = $1 and h.user_id = $2 and h.from_id = $3 and exists (select from own)
          and not exists (select from said s where s.other is null and (s.name, s.type) = (h.to_name, h.type))
    ), hinted as (
        insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence, evidence)
        select $1, $2, $3, name, type, sum(mentions), max(confidence), min(evidence) filter (where confidence > 0.5)
        from said where other is null
        group by name, type
        on conflict (tenant_id, user_id, from_id, to_name, type) do update
        set mentions = excluded.mentions, confidence = excluded.confidence, evidence = excluded.evidence
    ), answered as (
        delete from relation_hints h
        where h.tenant_id = $1 and h.user_id = $2 and h.to_name = (select own.name from own) and h.from_id <> $3
        returning h.from_id, h.type, h.mentions, h.confidence, h.evidence,
                  h.type in ('complements', 'often_used_with') as is_symmetric
    ), followed as (
        insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence,
            evidence, reinforced_at, said_by)
        select $1, $2, case when is_symmetric then least(from_id, $3) else from_id end,
               case when is_symmetric then greatest(from_id, $3) else $3 end, type, 'extracted', confidence, mentions,
               confidence, evidence, $5, from_id
        from answered
        on conflict do nothing
        returning from_id, to_id, confidence
    ), computed as (
        delete from relations r using (select from_id, to_id from wanted where confidence > 0.5
                                       union select from_id, to_id from followed where confidence > 0.5) w
        where r.tenant_id = $1 and r.user_id = $2 and r.source = 'computed'
          and (r.from_id, r.to_id) = (least(w.from_id, w.to_id), greatest(w.from_id, w.to_id))
    ), not_named as (
        delete from skill_mentions m
        where m.tenant_id = $1 and m.user_id = $2 and m.skill_id = $3 and m.entity_id <> all ($12) and exists (select from own)
    ), named as (
        insert into skill_mentions (tenant_id, user_id, skill_id, entity_id)
        select $1, $2, own.skill_id, t.entity_id
        from own
        cross join unnest($12::uuid[]) as g (id)
        join entities t on t.tenant_id = $1 and t.user_id = $2 and t.entity_id = g.id
        on conflict do nothing
    )
    select from own"
}

statement! {
    read ListUnread { after: Uuid, rules: i32, limit: i64 } -> UnreadSkillRow,
    "-- graph.list_unread
    select s.skill_id, s.name, s.document, s.document_digest, e.entity_id is not null as is_known,
           coalesce(e.read_by, 0) as read_by
    from skill_states s
    left join entities e on e.tenant_id = $1 and e.user_id = $2 and e.entity_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id > $3 and not s.lent and coalesce(e.read_by, 0) < $4
    order by s.skill_id
    limit $5"
}

/// Lists the user's next skills, ordered by id, if their texts were not read with these rules.
pub async fn list_unread(
    db: &Database,
    principal: &Principal,
    rules: i32,
    window: Window<SkillId>,
) -> Result<Vec<UnreadSkill>> {
    let asked = ListUnread { after: window.behind.0, rules, limit: window.limit };
    let rows = read(db, principal, asked).await?;
    let unread = |row: UnreadSkillRow| UnreadSkill {
        skill: SkillId(row.skill_id),
        name: row.name,
        document: row.document.into(),
        is_known: row.is_known,
        read: ReadState { digest: row.document_digest, read_by: row.read_by },
    };
    Ok(rows.into_iter().map(unread).collect())
}

/// Stores the relations that skills' texts state, together with COMMIT. Skips skills that were deleted or marked as
/// unread in the meantime. A stated relation replaces a computed relation between the same skills.
pub fn relate(tx: &mut WriteTx, related: Vec<Related<'_>>, reading: ExtractionRun) {
    tx.lock_user();
    let mut names: BTreeSet<String> = related.iter().map(|of| of.name.to_owned()).collect();
    names.extend(related.iter().flat_map(|of| of.stated.iter().map(|relation| relation.name.clone())));
    if !names.is_empty() {
        tx.send_ahead(ForgetNamesakes { names: names.into_iter().collect() });
    }
    for Related { skill, read, stated, things, .. } in related {
        let names: Vec<String> = stated.iter().map(|relation| relation.name.clone()).collect();
        tx.send_ahead(RelateSkill {
            skill: skill.0,
            rules: reading.rules,
            now: reading.now,
            types: stated.iter().map(|relation| relation.kind.as_str()).collect(),
            names,
            mentions: stated.iter().map(|relation| relation.mentions).collect(),
            confidences: stated.iter().map(|relation| relation.confidence).collect(),
            subjects: stated.iter().map(|relation| relation.subject.clone()).collect(),
            evidence: stated.into_iter().map(|relation| relation.evidence).collect(),
            things: uuids(things),
            digest: read.digest,
            read_by: read.read_by,
        });
    }
}

statement! {
    write OutdateRelations { skill: Uuid, task: &'static str, is_bulk: bool } -> (),
    "-- graph.outdate
    with outdated as (
        update entities set read_by = least(read_by, 0) - 1 where tenant_id = $1 and user_id = $2 and entity_id = $3
    )
    select app.enqueue($4, '{}', 'all', $5)"
}

/// Marks a skill's text as unread and enqueues the job that reads it, together with COMMIT.
pub(crate) fn outdate(tx: &mut WriteTx, skill: SkillId, is_bulk: bool) {
    tx.send_ahead(OutdateRelations { skill: skill.0, task: task::RELATE_SKILLS, is_bulk });
}
