//! Limits the history of skills: old versions and deleted skills. The oldest are destroyed first.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Maximum number of versions that one statement deletes. Deleting a version may delete up to 65 files.
pub(crate) const STEP: i32 = 100;

/// Maximum number of steps that one change takes to free space.
const STEPS: usize = 32;

/// Result of one step of destroying a deleted skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearedStep {
    /// Whether the step destroyed the last rows of a skill.
    pub finished: bool,
    /// Number of deleted files, which were no longer referenced.
    pub files: u64,
}

statement! {
    write Trim { skill: Uuid, up_to: i32, step: i64 } -> (),
    "-- history.trim
    select app.forget_versions($1, $2, array[$3::uuid], array[o.last]) as files
    from (
        select max(v.version) as last from (
            select v.version from skill_versions v
            where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version <= $4
            order by v.version limit $5) v) o
    where o.last is not null"
}

/// Keeps the last `keep` versions of a locked skill that is at `version`. Deletes at most 100 older versions, the
/// oldest first; later changes delete the remaining ones. Runs together with COMMIT.
pub fn trim(tx: &mut WriteTx, skill: SkillId, version: i32, keep: i32) {
    tx.send_ahead(Trim { skill: skill.0, up_to: version - keep, step: i64::from(STEP) });
}

/// Frees space if the user's history and archive exceed `most` bytes. Deletes the oldest versions first, then the
/// skills deleted longest ago. The user's catalogue must be locked. Returns `false` if the space is not enough. If a
/// limit was lowered, each change deletes a part of the excess.
pub async fn make_room(tx: &mut WriteTx, most: u64, now: DateTime<Utc>) -> Result<bool> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    for _ in 0..STEPS {
        if stored_bytes(tx).await? <= most {
            return Ok(true);
        }
        let left =
            forget_oldest_versions(tx).await? || expire_oldest_entry(tx, now).await? && clear_deleted(tx, now).await?;
        if !left {
            return Ok(false);
        }
    }
    Ok(true)
}

row! { struct FinishedRow { finished: Option<bool> } }

statement! {
    write ClearDeleted { now: DateTime<Utc>, step: i32 } -> FinishedRow,
    "-- history.clear_deleted (the tenant_id and user_id are the transaction's)
    select finished from app.clear_deleted($1, $2, $3, $4)"
}

/// Destroys a part of the user's expired deleted skills. Returns `false` if there was no such skill. The scheduled
/// `knowhow_store::prune` destroys the remaining ones. The user's catalogue must be locked.
pub async fn clear_deleted(tx: &mut WriteTx, now: DateTime<Utc>) -> Result<bool> {
    let cleared = tx.write(ClearDeleted { now, step: STEP }).await?;
    Ok(cleared.iter().any(|row| row.finished.is_some()))
}

row! { struct BytesRow { stored_bytes: i64 } }

statement! {
    read FindStoredBytes {} -> BytesRow,
    "-- history.stored_bytes
    select stored_bytes from user_catalogs where tenant_id = $1 and user_id = $2"
}

async fn stored_bytes(tx: &mut WriteTx) -> Result<i64> {
    Ok(tx.read(FindStoredBytes {}).await?.iter().map(|row| row.stored_bytes).sum())
}

statement! {
    write ForgetOldestVersions { step: i64 } -> (),
    "-- history.forget_oldest_versions
    with oldest as (
        select v.skill_id, v.version from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and (
            exists (select from skills s where s.tenant_id = $1 and s.user_id = $2
                    and s.skill_id = v.skill_id and s.version > v.version)
            or exists (select from archived_skills a where a.tenant_id = $1 and a.user_id = $2
                       and a.skill_id = v.skill_id and a.version > v.version))
        order by v.created_at
        limit $3
    ), last as (
        select skill_id, max(version) as version from oldest group by skill_id
    ), given as (
        select array_agg(skill_id) as ids, array_agg(version) as versions from last
    )
    select app.forget_versions($1, $2, ids, versions) as files from given where ids is not null"
}

/// Deletes the oldest versions of all skills. The last version of each skill stays, because restoring a deleted skill
/// needs it. If a version is deleted, all earlier versions of the skill are deleted too. Their times may be later,
/// because the clocks of processes differ.
///
/// Scans all versions of the user, once for a hundred deleted versions. There is no index by age, because the planner
/// would also use it to find files in the history. A cleanup step then took 1.2 s instead of 24 ms.
async fn forget_oldest_versions(tx: &mut WriteTx) -> Result<bool> {
    Ok(!tx.write(ForgetOldestVersions { step: i64::from(STEP) }).await?.is_empty())
}

statement! {
    write ExpireOldestEntry { now: DateTime<Utc> } -> (),
    "-- history.expire_oldest_entry
    update archived_skills a set purge_at = least(a.purge_at, $3)
    where a.tenant_id = $1 and a.user_id = $2 and a.archive_id = (
        select o.archive_id from archived_skills o where o.tenant_id = $1 and o.user_id = $2
        order by o.archive_id limit 1)
    returning a.archive_id"
}

async fn expire_oldest_entry(tx: &mut WriteTx, now: DateTime<Utc>) -> Result<bool> {
    Ok(!tx.write(ExpireOldestEntry { now }).await?.is_empty())
}
