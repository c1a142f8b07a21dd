//! What a change makes out of date beside the skill. Each statement is sent only where it has something to do, in the round trip
//! of the change.

use chrono::{DateTime, Utc};
use knowhow_domain::{SkillId, Source};
use uuid::Uuid;

use super::SkillState;
use super::change::Change;
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

/// What must be done while the skill still has its former text.
pub(super) fn before_update(tx: &mut WriteTx, change: &Change<'_>, base: &SkillState) {
    if base.source == Source::Starter.as_str() && !change.follow_up.outdates_vectors {
        tx.send_ahead(KeepStarterVectors { skill: base.id.0, now: change.now });
    }
}

/// What follows from another text of a skill, beside what its statement does (`app.follow_text`).
pub(super) fn after_update(tx: &mut WriteTx, change: &Change<'_>, base: &SkillState) {
    note_files(tx, change, base.id, Some(base));
    relate(tx, change, base.id);
}

/// What follows from a new skill.
pub(super) fn after_insert(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId) {
    note_files(tx, change, skill, None);
    relate(tx, change, skill);
}

fn note_files(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId, base: Option<&SkillState>) {
    let (base_version, before) = base.map_or((0, &[][..]), |base| (base.version, &base.resources));
    let (new_digests, old_digests) = (list_new(change.resources, before), list_new(before, change.resources));
    if !new_digests.is_empty() || !old_digests.is_empty() {
        tx.send_ahead(NoteFiles { skill: skill.0, base_version, new_digests, old_digests });
    }
}

fn relate(tx: &mut WriteTx, change: &Change<'_>, skill: SkillId) {
    if change.follow_up.relates {
        graph::outdate(tx, skill, change.follow_up.is_bulk);
    }
}
