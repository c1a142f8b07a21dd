//! History of skills: past versions. Versions of a deleted skill are hidden in the same table.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{ChangeKind, ResourceEntry, Result, SkillId, Version};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::vault::error::refuse;
use crate::vault::statement::Statement;
use crate::vault::value::{Files, Utf8};
use crate::vault::{Word, row, statement};
use crate::{TenantTx, WriteTx};

/// A version with its SKILL.md.
#[derive(Debug, Clone)]
pub struct VersionState {
    /// Metadata as returned by [`list`].
    pub version: Version,
    /// The SKILL.md of the version.
    pub document: String,
    /// Resources of the version. Their bytes are found by digest.
    pub resources: Vec<ResourceEntry>,
}

row! {
    struct ListedRow {
        version: i32, change: Word<ChangeKind>, actor: String, session: Option<String>, tainted: bool, digest: Vec<u8>,
        created_at: DateTime<Utc>, tainted_in: Vec<String>, tainted_by: Vec<String>, approved_by: Option<String>,
        approved_at: Option<DateTime<Utc>>,
    }
}

row! { struct FilesRow { resources: Files, document: Utf8 } }

row! { struct VersionMadeRow { made: bool } }

impl From<ListedRow> for Version {
    fn from(row: ListedRow) -> Self {
        Self {
            version: row.version,
            change: row.change.0,
            actor: row.actor,
            session: row.session,
            tainted: row.tainted,
            tainted_in: row.tainted_in,
            tainted_by: row.tainted_by,
            approved_by: row.approved_by,
            approved_at: row.approved_at,
            digest: manifest::hex(&row.digest),
            created_at: row.created_at,
        }
    }
}

// A starter without a row has one version, which its row will have too.
statement! {
    read ListVersions { skill: Uuid, before: Option<i32>, limit: i64 } -> ListedRow,
    "-- versions.list
    select version as version, change as change, app.shown_actor(actor) as actor, session, tainted as tainted,
           digest as digest, created_at as created_at, coalesce(tainted_in, '{}') as tainted_in,
           coalesce(tainted_by, '{}') as tainted_by, app.shown_actor(approved_by) as approved_by, approved_at
    from skill_versions
    where tenant_id = $1 and user_id = $2 and skill_id = $3 and ($4::integer is null or version < $4)
      and exists (select from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3)
    union all
    select 1, 'sync', 'starters', null, false, l.digest, l.created_at, '{}', '{}', null, null
    from skill_states l
    where l.tenant_id = $1 and l.user_id = $2 and l.skill_id = $3 and l.lent and ($4::integer is null or $4 > 1)
    order by 1 desc
    limit $5"
}

/// Lists a page of versions, newest first, before the version `before`.
pub async fn list(tx: &mut WriteTx, skill: SkillId, before: Option<i32>, limit: i64) -> Result<Vec<Version>> {
    let versions = tx.read(ListVersions { skill: skill.0, before, limit }).await?;
    Ok(versions.into_iter().map(Version::from).collect())
}

statement! {
    read FindVersion { name: Option<String>, id: Option<Uuid>, version: i32 } -> (ListedRow, FilesRow),
    "-- versions.find
    select v.version as version, v.change as change, app.shown_actor(v.actor) as actor, v.session, v.tainted as tainted,
           v.digest as digest, v.created_at as created_at, v.resources as resources,
           coalesce(v.tainted_in, '{}') as tainted_in, coalesce(v.tainted_by, '{}') as tainted_by,
           app.shown_actor(v.approved_by) as approved_by, v.approved_at,
           coalesce(t.document, r.content) as document
    from skills s
    join skill_versions v on v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = $5
    left join starter_texts t on t.starter_id = v.starter_id
    left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = v.document_digest
    where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or s.skill_id = $4)
    union all
    select 1, 'sync', 'starters', null, false, l.digest, l.created_at, '[]', '{}', '{}', null, null, l.document
    from skill_states l
    where l.tenant_id = $1 and l.user_id = $2 and (l.name = $3 or l.skill_id = $4) and l.lent and $5 = 1"
}

impl From<(ListedRow, FilesRow)> for VersionState {
    fn from(found: (ListedRow, FilesRow)) -> Self {
        let (row, files) = found;
        Self { version: row.into(), document: files.document.into(), resources: files.resources.into() }
    }
}

/// Returns one version.
pub async fn find(tx: &mut WriteTx, skill: SkillId, version: i32) -> Result<Option<VersionState>> {
    let found = tx.read(FindVersion { name: None, id: Some(skill.0), version }).await?;
    Ok(found.into_iter().next().map(VersionState::from))
}

statement! {
    read WasRequested { skill: Uuid, request: Vec<u8> } -> VersionMadeRow,
    "-- versions.was_requested
    select exists (
        select from skill_versions
        where tenant_id = $1 and user_id = $2 and skill_id = $3 and request_digest = $4) as made"
}

/// Returns one version of a user's skill, for an admin.
///
/// # Errors
/// `Unavailable`; `Internal` if the stored text is not UTF-8.
pub async fn find_for_admin(tx: &mut TenantTx, skill: SkillId, version: i32) -> Result<Option<VersionState>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let found = sqlx::query(FindVersion::SQL).bind(tenant).bind(user);
    let found = found.bind(None::<String>).bind(skill.0).bind(version);
    let found = found.fetch_optional(tx.conn()).await.map_err(refuse)?;
    found.map(|row| of_sqlx(&row).map_err(refuse)).transpose()
}

fn of_sqlx(row: &PgRow) -> Result<VersionState, sqlx::Error> {
    let listed = ListedRow {
        version: row.try_get("version")?,
        change: row.try_get("change")?,
        actor: row.try_get("actor")?,
        session: row.try_get("session")?,
        tainted: row.try_get("tainted")?,
        digest: row.try_get("digest")?,
        created_at: row.try_get("created_at")?,
        tainted_in: row.try_get("tainted_in")?,
        tainted_by: row.try_get("tainted_by")?,
        approved_by: row.try_get("approved_by")?,
        approved_at: row.try_get("approved_at")?,
    };
    Ok(VersionState {
        version: listed.into(),
        document: String::from_utf8(row.try_get("document")?).map_err(|error| sqlx::Error::Decode(error.into()))?,
        resources: row.try_get::<Json<Vec<ResourceEntry>>, _>("resources")?.0,
    })
}

/// Returns whether a version of the skill was made by a request with this digest.
pub async fn was_requested(tx: &mut WriteTx, skill: SkillId, request: &[u8; 32]) -> Result<bool> {
    let found = tx.read(WasRequested { skill: skill.0, request: request.to_vec() }).await?;
    Ok(found.iter().any(|row| row.made))
}
