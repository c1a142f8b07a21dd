//! Restores an archived skill with its history.

use chrono::{DateTime, Utc};
use knowhow_domain::{ArchiveId, Error, Result, new_id};

use crate::TenantTx;
use crate::skills::starters;
use crate::vault::error::{is_unique_violation, refuse};

/// A request to restore an archived skill.
#[derive(Debug, Clone, Copy)]
pub struct NewRestore<'a> {
    /// Id of the archive entry.
    pub archive: ArchiveId,
    /// Reason, for the audit log.
    pub reason: &'a str,
    /// Tasks of the jobs to enqueue for the restored skill.
    pub tasks: &'a [&'a str],
}

/// Restores an archived skill with its history. Its use count starts at 0.
///
/// # Errors
/// `Conflict` if its name is taken; `NotFound` if the entry no longer exists.
pub async fn restore(tx: &mut TenantTx, new: &NewRestore<'_>, now: DateTime<Utc>) -> Result<String> {
    starters::settle_for_admin(tx).await?;
    let NewRestore { archive, reason, tasks } = *new;
    let name = lock_archived(tx, archive, now).await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let restored = sqlx::query!(
        "-- skills.restore
        with taken as (
            delete from archived_skills
            where tenant_id = $1 and user_id = $2 and archive_id = $3 and purge_at > $5
            returning skill_id, name, state, bytes
        ), skill as (
            select s.skill_id, s.starter_id, s.document_bytes, s.resource_bytes, s.digest
            from taken cross join lateral app.put_back(taken.state, null) s
            where s.tenant_id = $1 and s.user_id = $2
        ), counted as (
            insert into skill_usage (tenant_id, user_id, skill_id) select $1, $2, skill_id from skill
        ), unredirected as (
            delete from skill_redirects d using taken
            where d.tenant_id = $1 and d.user_id = $2 and d.name = taken.name
        ), catalog as (
            update user_catalogs c
            set revision = c.revision + 1, skill_count = c.skill_count + 1,
                byte_count = c.byte_count + coalesce(skill.document_bytes + skill.resource_bytes, t.document_bytes),
                stored_bytes = c.stored_bytes - (select sum(bytes) from taken)
            from skill left join starter_texts t on t.starter_id = skill.starter_id
            where c.tenant_id = $1 and c.user_id = $2
        ), enqueued as (
            select count(app.enqueue(task, jsonb_build_object('skill_id', skill_id), skill_id::text))
            from skill cross join unnest($8::text[]) task
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $4, $5, $6, 'skill.restore', name, jsonb_build_object('reason', $7::text), (select digest from skill)
        from taken cross join enqueued",
        tenant,
        user,
        archive.0,
        new_id(),
        now,
        actor,
        reason,
        tasks as &[&str]
    )
    .execute(tx.conn())
    .await
    .map_err(|e| if is_unique_violation(&e) { name_taken(&name) } else { refuse(e) })?
    .rows_affected();
    if restored == 0 {
        return Err(Error::not_found("archive entry"));
    }
    recheck(tx, &name).await?;
    Ok(name)
}

/// Returns the name of an archived skill if no other skill has it, and locks the user's catalogue row. If another
/// request takes the name while this statement waits for the lock, only the insert fails, with a violation of the
/// unique name.
async fn lock_archived(tx: &mut TenantTx, archive: ArchiveId, now: DateTime<Utc>) -> Result<String> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        r#"-- skills.lock_archive
        with catalog as materialized (
            select revision from user_catalogs where tenant_id = $1 and user_id = $2 for update
        )
        select a.name, exists (
            select from skills s where s.tenant_id = $1 and s.user_id = $2 and s.name = a.name) as "taken!"
        from catalog, archived_skills a
        where a.tenant_id = $1 and a.user_id = $2 and a.archive_id = $3 and a.purge_at > $4"#,
        tenant,
        user,
        archive.0,
        now
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("archive entry"))?;
    if row.taken { Err(name_taken(&row.name)) } else { Ok(row.name) }
}

fn name_taken(name: &str) -> Error {
    let detail = format!("the user already has a skill named '{name}'; delete that one first");
    Error::Conflict { code: "name-taken", detail }
}

/// Marks the restored skill as tainted if one of its sessions was marked as tainted while the skill was archived.
async fn recheck(tx: &mut TenantTx, name: &str) -> Result<()> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query!(
        "-- skills.recheck_restored
        select app.mark_skill(s.skill_id), app.mark_if_copied(s.skill_id, '-infinity') from skills s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = $3",
        tenant,
        user,
        name
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}
