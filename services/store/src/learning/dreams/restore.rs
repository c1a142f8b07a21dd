//! Restores a skill that a run archived: takes it out of the archive, and takes its data back from the absorbing
//! skill.

use chrono::{DateTime, Utc};
use knowhow_domain::{ArchiveId, Result, SkillId, new_id};
use serde_json::Value;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { struct RestoredBytesRow { bytes: i32 } }

statement! {
    write TakeArchived { archive: Uuid, now: DateTime<Utc> } -> RestoredBytesRow,
    "-- dreams.take_archived
    delete from archived_skills a
    where a.tenant_id = $1 and a.user_id = $2 and a.archive_id = $3 and a.purge_at > $4
    returning a.bytes"
}

/// Takes an entry that a run created out of the archive, and returns the number of bytes that it used there. Returns
/// `None` if the retention of the entry is over. The run's journal has the skill's state, because users cannot read the
/// archive.
pub async fn take_archived(tx: &mut WriteTx, archive: ArchiveId, now: DateTime<Utc>) -> Result<Option<i32>> {
    let taken = tx.write(TakeArchived { archive: archive.0, now }).await?.pop();
    Ok(taken.map(|row| row.bytes))
}

/// A skill to restore.
#[derive(Debug, Clone)]
pub struct SkillToRestore<'a> {
    /// Number of bytes that its archive entry used.
    pub bytes: i32,
    pub skill: SkillId,
    /// New name of the skill.
    pub name: &'a str,
    /// The skill that absorbed this one.
    pub into: SkillId,
    /// Data of the skill before the merge, as recorded by [`super::absorb()`].
    pub kept: &'a Value,
    /// Memories and relations that the absorbing skill got, as recorded by `absorb`.
    pub absorbed_mentions: &'a [Uuid],
    pub absorbed_relations: &'a Value,
    /// Tasks of jobs about the skill.
    pub tasks: &'a [&'a str],
    pub now: DateTime<Utc>,
}

statement! {
    write PutBack {
        name: String, bytes: i32, tasks: Vec<String>, actor: String, now: DateTime<Utc>, audit_id: Uuid,
        skill: Uuid, kept: Value,
    } -> (),
    "-- dreams.put_back
    with skill as (
        select s.* from app.put_back($10::jsonb -> 'state', $3) s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $9
    ), counted as (
        insert into skill_usage (tenant_id, user_id, skill_id, times_used, last_used_at, successes, failures, partials)
        select $1, $2, s.skill_id, coalesce(u.times_used, 0), u.last_used_at, coalesce(u.successes, 0),
               coalesce(u.failures, 0), coalesce(u.partials, 0)
        from skill s
        cross join jsonb_to_record(coalesce(nullif($10::jsonb -> 'usage', 'null'), '{}')) as u (
            times_used bigint, last_used_at timestamptz, successes bigint, failures bigint, partials bigint)
    ), unredirected as (
        delete from skill_redirects d using skill s
        where d.tenant_id = $1 and d.user_id = $2 and d.name in (s.name, $10::jsonb -> 'state' ->> 'name')
    ), repointed as (
        insert into skill_redirects (tenant_id, user_id, name, skill_id, created_at)
        select $1, $2, n.name, s.skill_id, $7
        from skill s cross join jsonb_array_elements_text($10::jsonb -> 'redirects') as n (name)
        where n.name <> s.name and not exists (
            select from skills o where o.tenant_id = $1 and o.user_id = $2 and o.name = n.name)
        on conflict (tenant_id, user_id, name) do update set skill_id = excluded.skill_id
    ), entered as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, s.skill_id, 'skill', replace(s.name, '-', ' '), s.name, 0, $7 from skill s
        on conflict (tenant_id, user_id, entity_id) do nothing
    ), catalog as (
        update user_catalogs c
        set revision = c.revision + 1, snapshot_floor = c.revision + 1, skill_count = c.skill_count + 1,
            byte_count = c.byte_count + s.document_bytes + s.resource_bytes, stored_bytes = c.stored_bytes - $4::integer
        from skill s
        where c.tenant_id = $1 and c.user_id = $2
    ), enqueued as (
        select count(app.enqueue(task, jsonb_build_object('skill_id', s.skill_id), s.skill_id::text))
        from skill s cross join unnest($5::text[]) task
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
    select $1, $2, $8, $7, $6, 'skill.restore', s.name, jsonb_build_object('by', 'dream'), s.digest
    from skill s cross join enqueued
    where app.require_written(s.skill_id) is not null"
}

// The statement is declared as a read, although the functions it calls write.
statement! {
    read RecheckRestored { skill: Uuid } -> (),
    "-- dreams.recheck_restored
    select app.mark_skill(s.skill_id), app.mark_if_copied(s.skill_id, '-infinity') from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

// Data that the absorbing skill got after the merge stays with it.
statement! {
    write GiveBack { skill: Uuid, into: Uuid, kept: Value, mentions: Vec<Uuid>, relations: Value } -> (),
    "-- dreams.give_back
    with uncounted as (
        update skill_usage t
        set times_used = greatest(0, t.times_used - u.times_used), successes = greatest(0, t.successes - u.successes),
            failures = greatest(0, t.failures - u.failures), partials = greatest(0, t.partials - u.partials),
            last_used_at = case when t.last_used_at = u.last_used_at
                                then ($5::jsonb ->> 'into_last_used_at')::timestamptz else t.last_used_at end
        from jsonb_to_record(coalesce(nullif($5::jsonb -> 'usage', 'null'), '{}')) as u (
            times_used bigint, last_used_at timestamptz, successes bigint, failures bigint, partials bigint)
        where t.tenant_id = $1 and t.user_id = $2 and t.skill_id = $4 and u.times_used is not null
    ), returned as (
        update usage_events e
        set skill_id = $3, use_digest = e.via_digest[cardinality(e.via_digest)],
            via = nullif(trim_array(e.via, 1), '{}'), via_digest = nullif(trim_array(e.via_digest, 1), '{}')
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $4 and e.via[cardinality(e.via)] = $3
    ), returned_days as (
        update usage_days d set skill_id = $3, via = trim_array(d.via, 1)
        where d.tenant_id = $1 and d.user_id = $2 and d.skill_id = $4 and d.via[cardinality(d.via)] = $3
    ), younger as (
        update skills t set created_at = ($5::jsonb ->> 'into_created_at')::timestamptz
        where t.tenant_id = $1 and t.user_id = $2 and t.skill_id = $4 and $5::jsonb ->> 'into_created_at' is not null
    ), unnamed as (
        delete from mentions m
        where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = $4 and m.memory_id = any ($6)
    ), named as (
        insert into mentions (tenant_id, user_id, entity_id, memory_id)
        select $1, $2, $3, e.memory_id from memories e
        where e.tenant_id = $1 and e.user_id = $2
          and e.memory_id = any (array(select m::uuid from jsonb_array_elements_text($5::jsonb -> 'mentions') m))
        on conflict do nothing
    ), gained as materialized (
        select g.* from jsonb_to_recordset(coalesce(nullif($7::jsonb, 'null'), '[]'))
            as g (from_id uuid, to_id uuid, type text, said_by uuid)
    ), unrelated as (
        delete from relations r
        where r.tenant_id = $1 and r.user_id = $2 and r.from_id = $4 and r.source = 'declared'
          and (r.to_id, r.type, r.said_by) in (select g.to_id, g.type, g.said_by from gained g where g.from_id = $4)
    ), unpointed as (
        delete from relations r
        where r.tenant_id = $1 and r.user_id = $2 and r.to_id = $4 and r.source = 'declared'
          and (r.from_id, r.type, r.said_by) in (select g.from_id, g.type, g.said_by from gained g where g.to_id = $4)
    ), related as (
        insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence, evidence,
            reinforced_at, said_by)
        select $1, $2, g.from_id, g.to_id, g.type, g.source, g.strength, g.mentions, g.confidence, g.evidence,
               g.reinforced_at, g.said_by
        from jsonb_to_recordset(coalesce(nullif($5::jsonb -> 'relations', 'null'), '[]'))
            as g (from_id uuid, to_id uuid, type text, source text, strength real, mentions integer, confidence real,
                  evidence text, reinforced_at timestamptz, said_by uuid)
        where exists (select from entities e where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = g.from_id)
          and exists (select from entities e where e.tenant_id = $1 and e.user_id = $2 and e.entity_id = g.to_id)
        on conflict do nothing
    ), taught as (
        update skill_examples e set skill_id = $3
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $4
          and e.example_id = any (array(select x::uuid from jsonb_array_elements_text($5::jsonb -> 'examples') x))
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from taught)"
}

/// Restores a skill with its data, together with COMMIT. If a skill with that name already exists, the transaction
/// fails and is rolled back.
pub fn give_back(tx: &mut WriteTx, restored: &SkillToRestore<'_>) {
    let SkillToRestore { bytes, skill, name, into, kept, tasks, now, .. } = restored;
    let actor = tx.actor();
    tx.send_ahead(PutBack {
        name: (*name).to_owned(),
        bytes: *bytes,
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
        actor,
        now: *now,
        audit_id: new_id(),
        skill: skill.0,
        kept: (*kept).clone(),
    });
    // Conversations may have been marked as tainted while the skill was archived.
    tx.send_ahead(RecheckRestored { skill: skill.0 });
    tx.send_ahead(GiveBack {
        skill: skill.0,
        into: into.0,
        kept: (*kept).clone(),
        mentions: restored.absorbed_mentions.to_vec(),
        relations: restored.absorbed_relations.clone(),
    });
}
