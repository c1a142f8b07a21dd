//! What is looked at when an archived skill is restored: before, whether its name is free, behind a lock; and once it is
//! back, whether it is to be marked.

use chrono::{DateTime, Utc};
use knowhow_domain::{ArchiveId, Error, Result};

use crate::TenantTx;
use crate::error::refuse;

/// The name of an archived skill, if it is free. The user's other writers wait for this lock. A change that one of them
/// committed while this statement waited shows only at the insert, as a violation of the unique name.
pub(super) async fn lock_archived(tx: &mut TenantTx, archive: ArchiveId, now: DateTime<Utc>) -> Result<String> {
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

pub(super) fn name_taken(name: &str) -> Error {
    let detail = format!("the user has a skill named '{name}' again; delete that one first");
    Error::Conflict { code: "name-taken", detail }
}

/// Marks a skill that was restored where sessions were marked while it was away.
pub(super) async fn recheck(tx: &mut TenantTx, name: &str) -> Result<()> {
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
