//! Keeps the history of skills within bounds: old versions and deleted skills, of which the oldest leave first.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Most versions that one statement removes. Each may free 65 files.
pub(crate) const STEP: i32 = 100;

/// Most steps that one change takes to make room.
const STEPS: usize = 32;

/// One step of removing deleted skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearedStep {
    /// Whether that was the last of a skill.
    pub finished: bool,
    /// Files that nothing refers to any more, which went too.
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

/// Keeps the last `keep` versions of a skill that is locked and at `version`; of more than 100 too many, the oldest 100 go now and
/// the others with later changes. It happens together with COMMIT.
pub fn trim(tx: &mut WriteTx, skill: SkillId, version: i32, keep: i32) {
    tx.send_ahead(Trim { skill: skill.0, up_to: version - keep, step: i64::from(STEP) });
}

/// Makes room where the user's history and archive take more than `most` bytes: the oldest versions leave, then the skills that
/// were deleted longest ago. The user's catalogue is locked. Returns `false` if all of that is not
/// enough. After a bound was lowered by much, each change removes a part of the excess.
///
/// # Errors
/// `Unavailable`.
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

/// Removes a step of what the user deleted and is past its time; `false` where nothing was left. `knowhow_store::prune` goes
/// on with what this leaves. The user's catalogue is locked.
///
/// # Errors
/// `Unavailable`.
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

/// The oldest versions of all skills but the last one of each, which a deleted skill is restored to. The clocks of two
/// processes differ, so whatever of a skill is before one that leaves does so too.
///
/// It looks through all versions of the user, which a hundred that leave at once pay for. With an index by age the planner
/// took that one where a file is looked for in the history: a step of clearing up took 1.2 s instead of 24 ms.
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
