//! A tenant's library of starter skills: its texts and their users. Users' skills refer to these texts as they do to
//! built-in texts (`starters`). `tenants.library` lists the current texts.

mod users;
mod write;

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, LibrarySkill, Result};
use serde_json::Value;

pub use users::{count_uses, list_users};
pub use write::{LibraryScan, LibraryState, NewText, find_state, put, remove};

pub use crate::vault::known_callers::TenantLibrary;

use crate::vault::error::refuse;
use crate::vault::{row, statement};
use crate::{TenantTx, WriteTx};

/// A version of a library skill with its text.
#[derive(Debug, Clone)]
pub struct LibraryText {
    /// Version and metadata, as in the list.
    pub skill: LibrarySkill,
    /// The SKILL.md, byte for byte.
    pub document: String,
    /// Scanner findings.
    pub findings: Vec<Value>,
    pub rules: Option<i32>,
    /// Time of the scan; `None` if the text was not scanned.
    pub scanned_at: Option<DateTime<Utc>>,
}

/// A row of `library_texts`, for the query macros.
struct LibraryRow {
    name: String,
    version: i32,
    description: String,
    document_digest: Vec<u8>,
    document_bytes: i32,
    actor: String,
    approved_by: Option<String>,
    created_at: DateTime<Utc>,
    verdict: Option<String>,
}

impl TryFrom<LibraryRow> for LibrarySkill {
    type Error = Error;

    fn try_from(row: LibraryRow) -> Result<Self> {
        let verdict = row.verdict.map(|verdict| verdict.parse().map_err(Error::internal)).transpose()?;
        Ok(Self {
            name: row.name,
            version: row.version,
            description: row.description,
            digest: manifest::hex(&row.document_digest),
            bytes: row.document_bytes,
            actor: row.actor,
            approved_by: row.approved_by,
            created_at: row.created_at,
            verdict,
        })
    }
}

/// Lists the current skills after the name `after`, ordered by name.
pub async fn list(tx: &mut TenantTx, after: &str, limit: i64) -> Result<Vec<LibrarySkill>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        LibraryRow,
        r#"-- library.list
        select t.name, t.version, t.description, t.document_digest, t.document_bytes,
               app.shown_actor(t.actor) as "actor!", app.shown_actor(t.approved_by) as approved_by, t.created_at,
               k.verdict as "verdict?"
        from tenants n
        join library_texts t on t.tenant_id = $1 and t.starter_id = any (n.library)
        left join library_scans k on k.tenant_id = $1 and k.starter_id = t.starter_id
        where n.tenant_id = $1 and t.name > $2
        order by t.name
        limit $3"#,
        tenant,
        after,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    rows.into_iter().map(LibrarySkill::try_from).collect()
}

/// Lists the versions of a name, newest first, before the version `before`. Includes removed skills.
pub async fn list_versions(
    tx: &mut TenantTx,
    name: &str,
    before: Option<i32>,
    limit: i64,
) -> Result<Vec<LibrarySkill>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        LibraryRow,
        r#"-- library.list_versions
        select t.name, t.version, t.description, t.document_digest, t.document_bytes,
               app.shown_actor(t.actor) as "actor!", app.shown_actor(t.approved_by) as approved_by, t.created_at,
               k.verdict as "verdict?"
        from library_texts t
        left join library_scans k on k.tenant_id = $1 and k.starter_id = t.starter_id
        where t.tenant_id = $1 and t.name = $2 and ($3::integer is null or t.version < $3)
        order by t.version desc
        limit $4"#,
        tenant,
        name,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    rows.into_iter().map(LibrarySkill::try_from).collect()
}

/// Returns a version with its text. Without a number, returns the current one if the skill is in the library.
pub async fn find(tx: &mut TenantTx, name: &str, version: Option<i32>) -> Result<Option<LibraryText>> {
    let tenant = tx.tenant();
    let row = sqlx::query!(
        r#"-- library.find
        select t.name, t.version, t.description, t.document_digest, t.document_bytes,
               app.shown_actor(t.actor) as "actor!", app.shown_actor(t.approved_by) as approved_by, t.created_at,
               convert_from(t.document, 'UTF8') as "document!", k.verdict as "verdict?", k.findings as "findings?",
               k.rules as "rules?", k.scanned_at as "scanned_at?"
        from tenants n
        join library_texts t on t.tenant_id = $1
        left join library_scans k on k.tenant_id = $1 and k.starter_id = t.starter_id
        where n.tenant_id = $1 and t.name = $2
          and case when $3::integer is null then t.starter_id = any (n.library) else t.version = $3 end"#,
        tenant,
        name,
        version
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    let Some(row) = row else { return Ok(None) };
    let findings = row.findings.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let skill = LibraryRow {
        name: row.name,
        version: row.version,
        description: row.description,
        document_digest: row.document_digest,
        document_bytes: row.document_bytes,
        actor: row.actor,
        approved_by: row.approved_by,
        created_at: row.created_at,
        verdict: row.verdict,
    };
    Ok(Some(LibraryText {
        skill: skill.try_into()?,
        document: row.document,
        findings,
        rules: row.rules,
        scanned_at: row.scanned_at,
    }))
}

row! { BaseText { version: i32, digest: Vec<u8>, document: String } }

/// The library text that a shared skill is compared with.
#[derive(Debug)]
pub struct BaseText {
    pub version: i32,
    /// Digest of the skill's state.
    pub digest: Vec<u8>,
    pub document: String,
}

statement! {
    read FindBase { name: String, ids: Vec<i32>, version: Option<i32> } -> BaseText,
    "-- library.find_base (what a tenant's users share has no user_id; $2 is who asks)
    select t.version, t.digest, convert_from(t.document, 'UTF8') as document from library_texts t
    where t.tenant_id = $1 and t.name = $3 and (t.starter_id = any ($4) or t.version = $5) and $2::uuid is not null
    order by t.version desc
    limit 1"
}

/// Returns the text under a name, if it is among the current texts `ids`.
pub async fn find_current(tx: &mut WriteTx, name: &str, ids: &[i32]) -> Result<Option<BaseText>> {
    let asked = FindBase { name: name.to_owned(), ids: ids.to_vec(), version: None };
    Ok(tx.read(asked).await?.pop())
}

/// Returns one version of a name.
pub async fn find_version(tx: &mut WriteTx, name: &str, version: i32) -> Result<Option<BaseText>> {
    let asked = FindBase { name: name.to_owned(), ids: Vec::new(), version: Some(version) };
    Ok(tx.read(asked).await?.pop())
}
