//! What the scanner finds in the texts of tenants' libraries.

use chrono::{DateTime, Utc};
use knowhow_domain::scanner::Verdict;
use knowhow_domain::{Result, TenantId, UserId, new_id};
use serde_json::{Value, json};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// A current text that was not read with the rules of now.
#[derive(Debug, Clone)]
pub struct UnreadText {
    /// Whose library.
    pub tenant: TenantId,
    /// The text's number.
    pub starter: i32,
    /// The skill's name,
    pub name: String,
    /// its version,
    pub version: i32,
    /// and its SKILL.md.
    pub document: String,
}

/// What the scanner says of a text.
#[derive(Debug)]
pub struct ScannedText {
    /// The text.
    pub text: UnreadText,
    /// The gravest verdict.
    pub verdict: Verdict,
    /// What was found.
    pub findings: Vec<Value>,
}

/// The current texts of all libraries that were not read with these rules, some at a time.
///
/// Why: whose texts are due is a question over all tenants, and a library is no user's.
///
/// # Errors
/// `Unavailable`.
pub async fn list_unread(db: &Database, rules: i32, limit: i64) -> Result<Vec<UnreadText>> {
    let mut tx = SystemTx::begin_at_leisure(db, "library_scans.list_unread").await?;
    let rows = sqlx::query!(
        r#"-- library_scans.list_unread
        select t.tenant_id, t.starter_id, t.name, t.version, convert_from(t.document, 'UTF8') as "document!"
        from tenants n
        cross join lateral unnest(n.library) as current (starter_id)
        join library_texts t on t.tenant_id = n.tenant_id and t.starter_id = current.starter_id
        left join library_scans k on k.tenant_id = t.tenant_id and k.starter_id = t.starter_id
        where k.rules is null or k.rules < $1
        limit $2"#,
        rules,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let unread = rows.into_iter().map(|row| UnreadText {
        tenant: TenantId(row.tenant_id),
        starter: row.starter_id,
        name: row.name,
        version: row.version,
        document: row.document,
    });
    Ok(unread.collect())
}

/// Keeps what was found. The audit log of a tenant says where a text looks like an attack by these rules and did not by
/// those before.
///
/// Why: as [`list_unread`].
///
/// # Errors
/// `Unavailable`.
pub async fn put(db: &Database, scanned: &[ScannedText], rules: i32, now: DateTime<Utc>) -> Result<()> {
    let row = |scanned: &ScannedText| {
        let ScannedText { text, verdict, findings } = scanned;
        json!({
            "tenant_id": text.tenant, "starter_id": text.starter, "name": text.name, "version": text.version,
            "verdict": verdict, "findings": findings, "is_grave": *verdict >= Verdict::Quarantine, "audit_id": new_id(),
        })
    };
    let given = Value::Array(scanned.iter().map(row).collect());
    let mut tx = SystemTx::begin_at_leisure(db, "library_scans.put").await?;
    sqlx::query!(
        "-- library_scans.put
        with given as materialized (
            select g.* from jsonb_to_recordset($1) as g (
                tenant_id uuid, starter_id integer, name text, version integer, verdict text, findings jsonb, is_grave boolean,
                audit_id uuid)
        ), before as materialized (
            select k.tenant_id, k.starter_id, k.verdict, k.rules from library_scans k
            join given g on g.tenant_id = k.tenant_id and g.starter_id = k.starter_id
        ), kept as (
            insert into library_scans as k (tenant_id, starter_id, rules, verdict, findings, scanned_at)
            select tenant_id, starter_id, $2, verdict, findings, $3 from given
            on conflict (tenant_id, starter_id) do update
            set rules = excluded.rules, verdict = excluded.verdict, findings = excluded.findings,
                scanned_at = excluded.scanned_at
            where k.rules < excluded.rules
            returning tenant_id, starter_id
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select g.tenant_id, $4, g.audit_id, $3, 'scanner', 'starter_skill.found', g.name,
               jsonb_build_object('version', g.version, 'verdict', g.verdict, 'rules', $2::integer)
        from given g
        join kept using (tenant_id, starter_id)
        left join before b using (tenant_id, starter_id)
        where g.is_grave and b.verdict is distinct from g.verdict",
        given,
        rules,
        now,
        UserId::TENANT_WIDE.0
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}
