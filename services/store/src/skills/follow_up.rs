//! What a change makes out of date beside the skill, and the jobs that it calls for. Each statement is sent only where it
//! has something to do, in the round trip of the change.

use chrono::{DateTime, Utc};
use knowhow_domain::job::task;
use knowhow_domain::{SkillId, Source};
use uuid::Uuid;

use super::SkillState;
use super::change::{Change, FollowUp};
use super::columns::own;
use super::write::list_new;
use crate::vault::statement;
use crate::{WriteTx, graph};

// A starter that gets a text of its own, with the same description and triggers, keeps the vectors that all users share.
statement! {
    write KeepStarterVectors { skill: Uuid, now: DateTime<Utc> } -> (),
    "-- skills.keep_starter_vectors
    insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
    select $1, $2, s.skill_id, v.model, v.text_digest, v.embedding, $4
    from skills s join starter_vectors v on v.starter_id = s.starter_id
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3
    on conflict do nothing"
}

statement! {
    write OutdateVectors { skill: Uuid, replaced_by: Option<String> } -> (),
    "-- skills.outdate_vectors
    delete from skill_embeddings e
    where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and e.model is distinct from $4"
}

statement! {
    write NoteFiles { skill: Uuid, base_version: i32, new_digests: Vec<String>, old_digests: Vec<String> } -> (),
    "-- skills.note_files
    with added as (
        insert into skill_files (tenant_id, user_id, digest, skill_id, last_version)
        select $1, $2, decode(f.digest, 'hex'), $3, 2147483647 from unnest($5::text[]) as f (digest)
        on conflict (tenant_id, user_id, digest, skill_id) do update set last_version = excluded.last_version
    )
    update skill_files f set last_version = $4
    where f.tenant_id = $1 and f.user_id = $2 and f.skill_id = $3
      and f.digest in (select decode(d, 'hex') from unnest($6::text[]) d)"
}

// Where the skill has a new text: one that says nothing of other skills is read for the graph nevertheless where others may say a relation to its name, or
// it may name a thing of the user's.
statement! {
    write EnqueueTasks {
        skill: Uuid, tasks: Vec<String>, is_bulk: bool, new_text_of: Option<String>, relate: &'static str,
    } -> (),
    "-- skills.enqueue_tasks
    with linked as materialized (
        (select 1 from relation_hints h where h.tenant_id = $1 and h.user_id = $2 and h.to_name = $6 limit 1)
        union all
        (select 1 from entities t where t.tenant_id = $1 and t.user_id = $2 and t.kind <> 'skill' and $6::text is not null limit 1)
    ), outdated as (
        update entities set read_by = least(read_by, 0) - 1
        where tenant_id = $1 and user_id = $2 and entity_id = $3 and exists (select from linked)
        returning 1
    ), entered as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
        select $1, $2, $3, 'skill', replace($6, '-', ' '), $6, now()
        where exists (select from linked) and not exists (select from outdated)
        on conflict do nothing
    )
    select app.enqueue(task, jsonb_build_object('skill_id', s.skill_id), s.skill_id::text, $5)
    from skills s cross join unnest($4::text[]) task
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3
    union all
    select app.enqueue($7, '{}', 'all', $5) where exists (select from linked)"
}

/// What must be done while the skill still has its former text.
pub(super) fn before_update(tx: &mut WriteTx, change: &Change<'_>, base: &SkillState) {
    if base.source == Source::Starter.as_str() && !change.follow_up.outdates_vectors {
        tx.send_ahead(KeepStarterVectors { skill: base.id.0, now: change.now });
    }
}

/// What follows from another text of a skill.
pub(super) fn after_update(tx: &mut WriteTx, change: &Change<'_>, base: &SkillState) {
    note_files(tx, change, base.id, Some(base));
    if change.follow_up.outdates_vectors {
        let replaced_by = change.follow_up.replaced_by.map(str::to_owned);
        tx.send_ahead(OutdateVectors { skill: base.id.0, replaced_by });
    }
    enqueue(tx, change, base.id);
}

/// What follows from a new skill.
pub(super) fn after_insert(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId) {
    note_files(tx, change, skill, None);
    enqueue(tx, change, skill);
}

fn note_files(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId, base: Option<&SkillState>) {
    let (base_version, before) = base.map_or((0, &[][..]), |base| (base.version, &base.resources));
    let (new_digests, old_digests) = (list_new(change.resources, before), list_new(before, change.resources));
    if !new_digests.is_empty() || !old_digests.is_empty() {
        tx.send_ahead(NoteFiles { skill: skill.0, base_version, new_digests, old_digests });
    }
}

fn enqueue(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId) {
    let FollowUp { tasks, is_bulk, relates, .. } = change.follow_up;
    let (tasks, new_text_of) = (own(tasks), Some(change.name.as_str().to_owned()));
    tx.send_ahead(EnqueueTasks { skill: skill.0, tasks, is_bulk, new_text_of, relate: task::RELATE_SKILLS });
    if relates {
        graph::outdate(tx, skill, is_bulk);
    }
}
