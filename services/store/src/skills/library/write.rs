//! Adds skills to the library and removes them. Concurrent changes in one tenant are serialized.

use chrono::{DateTime, Utc};
use knowhow_domain::review::scanner::Verdict;
use knowhow_domain::{Result, new_id};
use serde_json::{Value, json};

use crate::TenantTx;
use crate::across::library::StarterText;
use crate::across::tenants;
use crate::vault::error::refuse;

/// State of the library before a change.
#[derive(Debug)]
pub struct LibraryState {
    /// Number of current skills.
    pub skills: usize,
    /// Total size of all texts in bytes, including old versions.
    pub bytes: i64,
    /// The last version of the given name; 0 if it has no version.
    pub last_version: i32,
    /// The current text of that name, if the skill is in the library.
    pub current: Option<CurrentText>,
}

/// The current text under a name.
#[derive(Debug)]
pub struct CurrentText {
    pub id: i32,
    pub version: i32,
    /// Digest of the skill's state.
    pub digest: Vec<u8>,
}

/// Reads the library before a change, and blocks other changes until this transaction ends.
pub async fn find_state(tx: &mut TenantTx, name: &str) -> Result<LibraryState> {
    tenants::count_alone(tx, "library").await?;
    let tenant = tx.tenant();
    let row = sqlx::query!(
        r#"-- library.find_state
        select coalesce(cardinality(n.library), 0) as "skills!",
               (select coalesce(sum(t.document_bytes), 0)::bigint from library_texts t where t.tenant_id = $1) as "bytes!",
               (select coalesce(max(t.version), 0) from library_texts t where t.tenant_id = $1 and t.name = $2) as "last!",
               c.starter_id as "id?", c.version as "version?", c.digest as "digest?"
        from tenants n
        left join library_texts c on c.tenant_id = $1 and c.name = $2 and c.starter_id = any (n.library)
        where n.tenant_id = $1"#,
        tenant,
        name
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    let current = match (row.id, row.version, row.digest) {
        (Some(id), Some(version), Some(digest)) => Some(CurrentText { id, version, digest }),
        _ => None,
    };
    Ok(LibraryState { skills: row.skills.unsigned_abs() as usize, bytes: row.bytes, last_version: row.last, current })
}

/// A new text.
pub struct NewText<'a> {
    pub text: StarterText<'a>,
    /// Author of the text.
    pub actor: &'a str,
    /// Reviewer, if another person approved it.
    pub approved_by: Option<&'a str>,
    /// Further details for the audit log: an object.
    pub detail: Value,
    pub scan: LibraryScan,
    pub now: DateTime<Utc>,
}

/// Result of scanning a text.
pub struct LibraryScan {
    /// Version of the scanner's rules.
    pub rules: i32,
    /// Most severe verdict of the findings.
    pub verdict: Verdict,
    /// The findings, as an array.
    pub findings: Value,
}

/// Makes a text the current one under its name, based on `state`, and stores its scan. Returns its version.
pub async fn put(tx: &mut TenantTx, new: &NewText<'_>, state: &LibraryState) -> Result<i32> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let (version, digest) = (state.last_version + 1, new.text.digest());
    sqlx::query!(
        "-- library.put
        with made as (
            insert into library_texts (tenant_id, name, version, actor, approved_by, created_at, description, summary, category,
                tags, triggers, see_also, role, attributes, frontmatter, digest, document_digest, document, document_bytes,
                frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte)
            select $1, t.name, $4, $5, $6, $7, t.description, t.summary, t.category, t.tags, t.triggers, t.see_also, t.role,
                   t.attributes, t.frontmatter, t.digest, t.document_digest, t.document, t.document_bytes,
                   t.frontmatter_at_byte, t.frontmatter_end_at_byte, t.content_at_byte
            from jsonb_populate_record(null::builtin_texts, $3) t
            returning starter_id, name
        ), scanned as (
            insert into library_scans (tenant_id, starter_id, rules, verdict, findings, scanned_at)
            select $1, starter_id, $14, $15, $16, $7 from made
        ), listed as (
            update tenants n set library = array_remove(coalesce(n.library, '{}'), $8) || made.starter_id
            from made where n.tenant_id = $1
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $9, $7, $10, 'starter_skill.put', name, $11::jsonb || jsonb_build_object('version', $4::integer), $12, $13
        from made",
        tenant,
        user,
        new.text.columns(),
        version,
        new.actor,
        new.approved_by,
        new.now,
        state.current.as_ref().map(|current| current.id),
        new_id(),
        actor,
        new.detail,
        state.current.as_ref().map(|current| current.digest.as_slice()),
        digest.as_slice(),
        new.scan.rules,
        new.scan.verdict.to_string(),
        new.scan.findings
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(version)
}

/// Removes a skill from the library. Its versions stay, because users may have changed copies of them.
pub async fn remove(tx: &mut TenantTx, name: &str, state: &LibraryState, now: DateTime<Utc>) -> Result<()> {
    let Some(current) = &state.current else { return Ok(()) };
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    sqlx::query!(
        "-- library.remove
        with listed as (
            update tenants n set library = array_remove(n.library, $3) where n.tenant_id = $1 returning n.tenant_id
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest)
        select tenant_id, $2, $4, $5, $6, 'starter_skill.delete', $7, $8, $9 from listed",
        tenant,
        user,
        current.id,
        new_id(),
        now,
        actor,
        name,
        json!({ "version": current.version }),
        current.digest
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}
