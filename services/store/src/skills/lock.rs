//! Reads a skill for a change, after locking the user's catalogue row until commit.

mod locked;

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, SkillId};
use uuid::Uuid;

pub use locked::{AdditionalReads, Locked};

use super::{SkillKey, SkillRow, SkillState};
use crate::WriteTx;
use crate::skills::starters;
use crate::skills::versions::{FilesRow, FindVersion, ListedRow, VersionState};
use crate::vault::batch::PendingRows;
use crate::vault::write_tx::CatalogueCounts;
use crate::vault::{row, statement};

row! { struct LockedCountsRow { skill_count: i32, byte_count: i64, stored_bytes: i64, is_lent: bool } }

row! { struct LockedUsesRow { times_used: i64, last_used_at: Option<DateTime<Utc>> } }

row! { struct SkillRequestRow { authored_version: i32, request_digest: Option<Vec<u8>> } }

statement! {
    write LockCounts {} -> LockedCountsRow,
    "-- skills.lock_counts
    select c.skill_count, c.byte_count, c.stored_bytes, c.starters_at is not null as is_lent
    from user_catalogs c where c.tenant_id = $1 and c.user_id = $2 for update"
}

// A statement after the lock sees all changes committed before. Outer joins return a skill even if its document or
// version is missing, so that the inconsistency is reported.
statement! {
    read ReadBase { name: Option<String>, id: Option<Uuid> } -> ((SkillRow, LockedUsesRow), SkillRequestRow),
    "-- skills.read_base
    select s.skill_id, s.name, coalesce(s.description, t.description) as description,
           coalesce(s.summary, t.summary) as summary, coalesce(s.category, t.category) as category,
           coalesce(s.tags, t.tags) as tags, coalesce(s.triggers, t.triggers) as triggers,
           coalesce(s.see_also, t.see_also) as see_also, coalesce(s.role, t.role) as role,
           coalesce(s.attributes, t.attributes) as attributes, s.source, s.pinned, s.enriched, s.importance, s.decay_rate,
           s.version, coalesce(s.digest, t.digest) as digest,
           coalesce(s.frontmatter_at_byte, t.frontmatter_at_byte) as frontmatter_at_byte,
           coalesce(s.frontmatter_end_at_byte, t.frontmatter_end_at_byte) as frontmatter_end_at_byte,
           coalesce(s.content_at_byte, t.content_at_byte) as content_at_byte, coalesce(s.resources, '[]') as resources,
           s.created_at, s.updated_at, coalesce(t.document, r.content) as document, s.made_summary, s.tainted,
           s.made_description, s.made_triggers, s.made_by,
           coalesce(u.times_used, 0) as times_used, u.last_used_at, v.request_digest,
           coalesce(v.version, s.version) as authored_version
    from skills s
    left join starter_texts t on t.starter_id = s.starter_id
    left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest
    left join lateral (
        select v.version, v.request_digest from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.change <> 'enrich'
        order by v.version desc
        limit 1) v on true
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or s.skill_id = $4)"
}

/// Locks the user's catalogue row, which serializes all writes of the user, and reads the current state of a skill.
///
/// # Errors
/// `Unavailable` if the lock is not available within the statement timeout.
pub async fn lock(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<Locked>> {
    Ok(lock_all(tx, std::slice::from_ref(key), &AdditionalReads::default()).await?.pop().flatten())
}

/// Locks and reads several skills in one round trip, in the order of the keys, with the data that `additional`
/// requests.
///
/// # Errors
/// As [`lock`].
pub async fn lock_all(
    tx: &mut WriteTx,
    keys: &[SkillKey],
    additional: &AdditionalReads,
) -> Result<Vec<Option<Locked>>> {
    let counts = tx.send_ahead(LockCounts {});
    let mut bases: Vec<BaseAhead> = keys.iter().map(|key| BaseAhead::of(tx, key, additional)).collect();
    tx.fly_now().await?;
    let counts = counts.take()?.pop().ok_or_else(|| Error::internal("a user without a catalogue row"))?;
    if counts.is_lent {
        starters::settle(tx).await?;
        bases = keys.iter().map(|key| BaseAhead::of(tx, key, additional)).collect();
        tx.fly_now().await?;
    }
    let LockedCountsRow { skill_count, byte_count, stored_bytes, .. } = counts;
    tx.set_counts(CatalogueCounts { skills: skill_count, bytes: byte_count, stored_bytes });
    bases.into_iter().map(BaseAhead::take).collect()
}

/// Pending answers for one skill.
struct BaseAhead {
    base: PendingRows<((SkillRow, LockedUsesRow), SkillRequestRow)>,
    past: Option<PendingRows<(ListedRow, FilesRow)>>,
    files: Option<PendingRows<NamedFileRow>>,
}

impl BaseAhead {
    fn of(tx: &mut WriteTx, key: &SkillKey, additional: &AdditionalReads) -> Self {
        let (name, id) = (key.name().map(str::to_owned), key.id());
        let files = (!additional.files.is_empty()).then(|| additional.files.clone());
        Self {
            past: additional.version.map(|version| tx.send_ahead(FindVersion { name: name.clone(), id, version })),
            files: files.map(|paths| tx.send_ahead(ReadNamedFiles { name: name.clone(), id, paths })),
            base: tx.send_ahead(ReadBase { name, id }),
        }
    }

    fn take(self) -> Result<Option<Locked>> {
        let past = self.past.map(PendingRows::take).transpose()?.unwrap_or_default().pop();
        let files = self.files.map(PendingRows::take).transpose()?.unwrap_or_default();
        Ok(self.base.take()?.pop().map(|((skill, used), of)| Locked {
            skill: SkillState::from(skill),
            times_used: used.times_used,
            last_used_at: used.last_used_at,
            authored_version: of.authored_version,
            request_digest: of.request_digest,
            past: past.map(VersionState::from),
            files: files.into_iter().map(|file| (file.path, file.content)).collect(),
        }))
    }
}

row! { struct LockedVersionRow { skill_id: Uuid, version: i32 } }

statement! {
    read LookUp { name: Option<String>, id: Option<Uuid> } -> LockedVersionRow,
    "-- skills.look_up
    select skill_id as skill_id, version as version from skill_states
    where tenant_id = $1 and user_id = $2 and (name = $3 or skill_id = $4)"
}

/// Returns the id and version of a skill that is only read. If the skill is a starter without a row, no row is
/// created.
pub async fn look_up(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<(SkillId, i32)>> {
    let found = tx.read(LookUp { name: key.name().map(str::to_owned), id: key.id() }).await?;
    Ok(found.into_iter().next().map(|row| (SkillId(row.skill_id), row.version)))
}

/// Returns the id, name and version of a skill without a lock. If the skill is a starter without a row, creates the
/// row.
pub async fn find(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<(SkillId, String, i32)>> {
    match find_row(tx, key).await? {
        Some(found) => Ok(Some(found)),
        None => {
            starters::settle(tx).await?;
            find_row(tx, key).await
        }
    }
}

row! { struct LockedSkillRow { skill_id: Uuid, name: String, version: i32 } }

statement! {
    read Find { name: Option<String>, id: Option<Uuid> } -> LockedSkillRow,
    "-- skills.find
    select skill_id, name, version from skills
    where tenant_id = $1 and user_id = $2 and (name = $3 or skill_id = $4)"
}

async fn find_row(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<(SkillId, String, i32)>> {
    let found = tx.read(Find { name: key.name().map(str::to_owned), id: key.id() }).await?;
    Ok(found.into_iter().next().map(|row| (SkillId(row.skill_id), row.name, row.version)))
}

row! { struct NamedFileRow { path: String, content: Vec<u8> } }

statement! {
    read ReadNamedFiles { name: Option<String>, id: Option<Uuid>, paths: Vec<String> } -> NamedFileRow,
    "-- skills.read_named_files
    select e ->> 'path' as path, r.content
    from skills s
    cross join jsonb_array_elements(s.resources) e
    join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = decode(e ->> 'digest', 'hex')
    where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or s.skill_id = $4) and e ->> 'path' = any ($5)"
}

row! { struct LockedFileRow { digest: Vec<u8>, content: Vec<u8> } }

statement! {
    read ReadFiles { digests: Vec<String> } -> LockedFileRow,
    "-- skills.read_files
    select digest, content from skill_resources
    where tenant_id = $1 and user_id = $2 and digest in (select decode(d, 'hex') from unnest($3::text[]) d)"
}

/// Reads stored files by their hex digests, unordered. Unknown files are skipped.
pub async fn read_files(tx: &mut WriteTx, digests: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let files = tx.read(ReadFiles { digests: digests.to_vec() }).await?;
    Ok(files.into_iter().map(|file| (manifest::hex(&file.digest), file.content)).collect())
}
