//! Follow-up of a change outside the skill's row. Each statement is sent only if it is needed, in the round trip of
//! the change.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::{ResourceEntry, SkillId, Source};
use uuid::Uuid;

use super::SkillState;
use super::change::NewSkillState;
use crate::vault::statement;
use crate::{WriteTx, graph};

// If a starter gets its own text with the same description and triggers, this copies the shared vectors to it.
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

/// Sends the follow-up that must run before the skill's text is replaced.
pub(super) fn before_update(tx: &mut WriteTx, change: &NewSkillState<'_>, base: &SkillState) {
    if base.source == Source::Starter && !change.follow_up.outdates_vectors {
        tx.send_ahead(KeepStarterVectors { skill: base.id.0, now: change.now });
    }
}

/// Sends the follow-up of a new text that its statement (`app.follow_text`) does not do.
pub(super) fn after_update(tx: &mut WriteTx, change: &NewSkillState<'_>, base: &SkillState) {
    note_files(tx, change, base.id, Some(base));
    relate(tx, change, base.id);
}

/// Sends the follow-up of a new skill.
pub(super) fn after_insert(tx: &mut WriteTx, change: &NewSkillState<'_>, skill: SkillId) {
    note_files(tx, change, skill, None);
    relate(tx, change, skill);
}

fn note_files(tx: &mut WriteTx, change: &NewSkillState<'_>, skill: SkillId, base: Option<&SkillState>) {
    let (base_version, before) = base.map_or((0, &[][..]), |base| (base.version, &base.resources));
    let (new_digests, old_digests) = (list_new(change.resources, before), list_new(before, change.resources));
    if !new_digests.is_empty() || !old_digests.is_empty() {
        tx.send_ahead(NoteFiles { skill: skill.0, base_version, new_digests, old_digests });
    }
}

fn relate(tx: &mut WriteTx, change: &NewSkillState<'_>, skill: SkillId) {
    if change.follow_up.relates {
        graph::outdate(tx, skill, change.follow_up.is_bulk);
    }
}

/// Returns the hex digests of files in `of` that are not in `besides`, without duplicates.
fn list_new(of: &[ResourceEntry], besides: &[ResourceEntry]) -> Vec<String> {
    let known: HashSet<&str> = besides.iter().map(|entry| entry.digest.as_str()).collect();
    let new: BTreeSet<&String> =
        of.iter().map(|r| &r.digest).filter(|digest| !known.contains(digest.as_str())).collect();
    new.into_iter().cloned().collect()
}
