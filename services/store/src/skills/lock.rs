//! Reading a skill in order to change it, behind the user's catalogue row, which is locked until commit.

mod locked;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, SkillId, manifest};
use uuid::Uuid;

pub use locked::{Beside, Locked};

use super::{SkillKey, SkillRow, SkillState};
use crate::vault::queued::Answer;
use crate::vault::write_tx::Counts;
use crate::vault::{row, statement};
use crate::versions::{FilesRow, FindVersion, ListedRow, VersionState};
use crate::{WriteTx, starters};

row! { struct CountsRow { skill_count: i32, byte_count: i64, stored_bytes: i64, is_lent: bool } }

row! { struct UsedRow { times_used: i64, last_used_at: Option<DateTime<Utc>> } }

row! { struct RequestRow { authored_version: i32, request_digest: Option<Vec<u8>> } }

statement! {
    write LockCounts {} -> CountsRow,
    "-- skills.lock_counts
    select c.skill_count, c.byte_count, c.stored_bytes, c.starters_at is not null as is_lent
    from user_catalogs c where c.tenant_id = $1 and c.user_id = $2 for update"
}

// A statement behind the lock sees all that was committed before. A skill without its document or its version is read
// nevertheless, and reported.
statement! {
    read ReadBase { name: Option<String>, id: Option<Uuid> } -> ((SkillRow, UsedRow), RequestRow),
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

/// Locks the user's catalogue, so that all writes of one user are in line, and reads the current state behind that.
///
/// # Errors
/// `Unavailable` where the lock does not come within the statement timeout.
pub async fn lock(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<Locked>> {
    Ok(lock_all(tx, std::slice::from_ref(key), &Beside::default()).await?.pop().flatten())
}

/// The same for several skills in one round trip, one for each key in their order, with what else is wanted of each.
///
/// # Errors
/// As [`lock`].
pub async fn lock_all(tx: &mut WriteTx, keys: &[SkillKey], beside: &Beside) -> Result<Vec<Option<Locked>>> {
    let counts = tx.send_ahead(LockCounts {});
    let mut bases: Vec<BaseAhead> = keys.iter().map(|key| BaseAhead::of(tx, key, beside)).collect();
    tx.fly_now().await?;
    let counts = counts.take()?.pop().ok_or_else(|| Error::internal("a user without a catalogue row"))?;
    if counts.is_lent {
        starters::settle(tx).await?;
        bases = keys.iter().map(|key| BaseAhead::of(tx, key, beside)).collect();
        tx.fly_now().await?;
    }
    let CountsRow { skill_count, byte_count, stored_bytes, .. } = counts;
    tx.set_counts(Counts { skills: skill_count, bytes: byte_count, stored_bytes });
    bases.into_iter().map(BaseAhead::take).collect()
}

/// What is read of a skill, on its way.
struct BaseAhead {
    base: Answer<((SkillRow, UsedRow), RequestRow)>,
    past: Option<Answer<(ListedRow, FilesRow)>>,
    files: Option<Answer<NamedFileRow>>,
}

impl BaseAhead {
    fn of(tx: &mut WriteTx, key: &SkillKey, beside: &Beside) -> Self {
        let (name, id) = (key.name().map(str::to_owned), key.id());
        let files = (!beside.files.is_empty()).then(|| beside.files.clone());
        Self {
            past: beside.version.map(|version| tx.send_ahead(FindVersion { name: name.clone(), id, version })),
            files: files.map(|paths| tx.send_ahead(ReadNamedFiles { name: name.clone(), id, paths })),
            base: tx.send_ahead(ReadBase { name, id }),
        }
    }

    fn take(self) -> Result<Option<Locked>> {
        let past = self.past.map(Answer::take).transpose()?.unwrap_or_default().pop();
        let files = self.files.map(Answer::take).transpose()?.unwrap_or_default();
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

row! { struct VersionRow { skill_id: Uuid, version: i32 } }

statement! {
    read LookUp { name: Option<String>, id: Option<Uuid> } -> VersionRow,
    "-- skills.look_up
    select skill_id as skill_id, version as version from skill_states
    where tenant_id = $1 and user_id = $2 and (name = $3 or skill_id = $4)"
}

/// The id and the version of a skill that is only read. One that is lent stays so: a read makes no rows.
///
/// # Errors
/// `Unavailable`.
pub async fn look_up(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<(SkillId, i32)>> {
    let found = tx.read(LookUp { name: key.name().map(str::to_owned), id: key.id() }).await?;
    Ok(found.into_iter().next().map(|row| (SkillId(row.skill_id), row.version)))
}

/// The id, name and version of a skill, without a lock; a lent one gets its row.
///
/// # Errors
/// `Unavailable`.
pub async fn find(tx: &mut WriteTx, key: &SkillKey) -> Result<Option<(SkillId, String, i32)>> {
    match find_row(tx, key).await? {
        Some(found) => Ok(Some(found)),
        None => {
            starters::settle(tx).await?;
            find_row(tx, key).await
        }
    }
}

row! { struct FoundRow { skill_id: Uuid, name: String, version: i32 } }

statement! {
    read Find { name: Option<String>, id: Option<Uuid> } -> FoundRow,
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

row! { struct FileRow { digest: Vec<u8>, content: Vec<u8> } }

statement! {
    read ReadFiles { digests: Vec<String> } -> FileRow,
    "-- skills.read_files
    select digest, content from skill_resources
    where tenant_id = $1 and user_id = $2 and digest in (select decode(d, 'hex') from unnest($3::text[]) d)"
}

/// The bytes of stored files by their digests (hex), in no order; unknown ones are left out.
///
/// # Errors
/// `Unavailable`.
pub async fn read_files(tx: &mut WriteTx, digests: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let files = tx.read(ReadFiles { digests: digests.to_vec() }).await?;
    Ok(files.into_iter().map(|file| (manifest::hex(&file.digest), file.content)).collect())
}
