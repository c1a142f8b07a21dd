//! Deletes skills. One transaction hides a skill from agents and moves its versions to an archive that only admins
//! can read. If the tenant keeps no archive, the versions are destroyed.

use chrono::{DateTime, Utc};
use knowhow_domain::{ArchiveId, ArchivedSkill, Result, SkillId, UserId, new_id};
use uuid::Uuid;

use super::SkillState;
use crate::vault::error::refuse;
use crate::vault::value::uuids;
use crate::vault::{row, statement};
use crate::{TenantTx, Window, WriteTx, graph};

/// A request to delete a skill.
pub struct Archived<'a> {
    pub id: ArchiveId,
    pub skill: &'a SkillState,
    /// Skill that replaces the deleted skill; `None` if no skill replaces it.
    pub successor: Option<(SkillId, &'a str)>,
    /// All sessions named by the request, by id or key.
    pub named: &'a [&'a str],
    /// Whether a delete requested by a tainted session must be reviewed.
    pub is_reviewed: bool,
    pub now: DateTime<Utc>,
    /// Time until which the skill can be restored. After that [`crate::skills::history::clear_deleted`] destroys it.
    pub purge_at: DateTime<Utc>,
}

statement! {
    write ArchiveSkill {
        skill: Uuid, archive_id: Uuid, successor_name: Option<String>, actor: String, now: DateTime<Utc>,
        purge_at: DateTime<Utc>, successor: Option<Uuid>, name: String, bytes: i64, audit_id: Uuid, digest: Vec<u8>,
        named: Vec<String>, is_reviewed: bool,
    } -> (),
    "-- skills.archive
    with kept as (
        insert into archived_skills (tenant_id, user_id, archive_id, skill_id, name, state, version, version_count,
            absorbed_into, deleted_by, deleted_at, purge_at)
        select $1, $2, $4, $3, s.name, to_jsonb(s), s.version,
               (select count(*) from skill_versions v
                where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3),
               $5, $6, $7, $8
        from skills s
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3
        returning bytes
    ), repointed as (
        update skill_redirects set skill_id = $9
        where tenant_id = $1 and user_id = $2 and skill_id = $3 and $9::uuid is not null
    ), redirected as (
        insert into skill_redirects (tenant_id, user_id, name, skill_id, created_at)
        select $1, $2, $10, $9, $7 where $9 is not null
        on conflict (tenant_id, user_id, name) do update set skill_id = excluded.skill_id
    ), inherited as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select w.tenant_id, w.user_id, w.session_id, 'skill', s.skill_id, s.version
        from session_texts w
        join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $9
        where w.tenant_id = $1 and w.user_id = $2 and w.text_id = $3 and w.kind = 'skill'
          and app.added_passages(w.text_id, w.version, 0) && app.added_passages(s.skill_id, s.version, 0)
        on conflict do nothing
    ), gone as (
        delete from skills where tenant_id = $1 and user_id = $2 and skill_id = $3
    ), catalog as (
        update user_catalogs set revision = revision + 1, snapshot_floor = revision + 1,
            skill_count = skill_count - 1, byte_count = byte_count - $11,
            stored_bytes = stored_bytes + (select sum(bytes) from kept)
        where tenant_id = $1 and user_id = $2
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest)
    select $1, $2, $12, $7, $6, 'skill.delete', $10, jsonb_build_object('absorbed_into', $5::text), $13
    from app.find_taint($14) t
    where app.admit(t.tainted_in <> '{}', $15)"
}

/// Archives a locked skill together with COMMIT. Returns an upper bound on the number of bytes stored for the user
/// after the deletion. The versions are only hidden and stay in their table, so the duration does not depend on their
/// number.
///
/// # Errors
/// `Internal` if the skill was not locked.
pub fn archive(tx: &mut WriteTx, archived: &Archived<'_>) -> Result<i64> {
    let (skill, actor, counts) = (archived.skill, tx.actor(), tx.counts()?);
    let most_stored_bytes = counts.stored_bytes + most_archived(skill);
    graph::forget(tx, skill.id, &skill.name);
    tx.send_ahead(ArchiveSkill {
        skill: skill.id.0,
        archive_id: archived.id.0,
        successor_name: archived.successor.map(|(_, name)| name.to_owned()),
        actor,
        now: archived.now,
        purge_at: archived.purge_at,
        successor: archived.successor.map(|(id, _)| id.0),
        name: skill.name.clone(),
        bytes: skill.bytes(),
        audit_id: new_id(),
        digest: skill.digest.clone(),
        named: archived.named.iter().map(|name| (*name).to_owned()).collect(),
        is_reviewed: archived.is_reviewed,
    });
    Ok(most_stored_bytes)
}

/// Returns an upper bound on the number of bytes that the archive entry adds: the skill's row as JSON. All texts of the
/// row except the generated summary are also in the SKILL.md, and some are twice in the row.
fn most_archived(skill: &SkillState) -> i64 {
    let list: usize = skill.resources.iter().map(|r| r.path.len() + r.media_type.len() + 256).sum();
    let bytes = 16_384 + 4 * skill.document.len() + 2 * list;
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

row! { struct NamesRow { names: i64 } }

statement! {
    read CountNames { skills: Vec<Uuid> } -> NamesRow,
    "-- skills.count_names
    select count(*) as names from skill_redirects
    where tenant_id = $1 and user_id = $2 and skill_id = any ($3)"
}

/// Counts the redirects to these skills.
pub async fn count_names(tx: &mut WriteTx, skills: &[SkillId]) -> Result<i64> {
    let found = tx.read(CountNames { skills: uuids(skills.iter().copied()) }).await?;
    Ok(found.iter().map(|row| row.names).sum())
}

/// Lists the tenant's archive, newest first, optionally only for one user.
pub async fn list_archive(
    tx: &mut TenantTx,
    external_id: Option<&str>,
    page: Window<Option<ArchiveId>>,
    now: DateTime<Utc>,
) -> Result<Vec<ArchivedSkill>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        ArchivedSkill,
        r#"-- skills.list_archive (a tenant's admin: all users of the tenant)
        select a.archive_id as id, $6::text as "tenant!", u.external_id as user, a.name, a.version_count as versions,
               a.absorbed_into, app.shown_actor(a.deleted_by) as "deleted_by!", a.deleted_at, a.purge_at
        from archived_skills a
        join users u on u.tenant_id = a.tenant_id and u.user_id = a.user_id
        where a.tenant_id = $1 and ($2::text is null or u.external_id = $2) and ($3::uuid is null or a.archive_id < $3)
          and a.purge_at > $5 and u.erased_at is null
        order by a.archive_id desc
        limit $4"#,
        tenant,
        external_id,
        page.behind.map(|entry| entry.0),
        page.limit,
        now,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Returns the user of an archive entry. Returns `None` if the retention of the entry is over, because some versions
/// may already be deleted.
pub async fn find_archive_owner(tx: &mut TenantTx, archive: ArchiveId, now: DateTime<Utc>) -> Result<Option<UserId>> {
    let tenant = tx.tenant();
    let row = sqlx::query_scalar!(
        "-- skills.find_archive_owner (a tenant's admin: the user_id is what is asked for)
        select a.user_id from archived_skills a
        join users u on u.tenant_id = $1 and u.user_id = a.user_id and u.erased_at is null
        where a.tenant_id = $1 and a.archive_id = $2 and a.purge_at > $3",
        tenant,
        archive.0,
        now
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(UserId))
}
