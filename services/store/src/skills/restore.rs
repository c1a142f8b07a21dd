//! Restoring: an archived skill comes back, with the history that it had.

use chrono::{DateTime, Utc};
use knowhow_domain::{ArchiveId, Error, Result, new_id};

use super::restorable::{lock_archived, name_taken, recheck};
use crate::error::{is_unique_violation, refuse};
use crate::{TenantTx, starters};

/// An archived skill that is wanted back.
#[derive(Debug, Clone, Copy)]
pub struct NewRestore<'a> {
    /// Its entry in the archive.
    pub archive: ArchiveId,
    /// For the audit log.
    pub reason: &'a str,
    /// Jobs about the skill, once it is back.
    pub tasks: &'a [&'a str],
}

/// Puts an archived skill back with the history that it had and a fresh count.
///
/// # Errors
/// `Conflict` where its name is taken; `NotFound` where the entry is gone.
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
