//! Scanner results for the texts of tenants' libraries.

use chrono::{DateTime, Utc};
use knowhow_domain::review::scanner::Verdict;
use knowhow_domain::{Result, TenantId, UserId, new_id};
use serde_json::{Value, json};

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// A current library text that was not scanned with the current rules.
#[derive(Debug, Clone)]
pub struct UnreadText {
    pub tenant: TenantId,
    /// Id of the library text.
    pub starter: i32,
    pub name: String,
    pub version: i32,
    pub document: String,
}

/// Scanner result for a text.
#[derive(Debug)]
pub struct ScannedText {
    pub text: UnreadText,
    /// Most severe verdict of the findings.
    pub verdict: Verdict,
    pub findings: Vec<Value>,
}

/// Lists current library texts that were not scanned with these rules, at most `limit`.
///
/// Runs across tenants because any library may have such texts, and a library belongs to no user.
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

/// Stores scan results. Writes an audit entry if these rules report a text as an attack that the previous rules did
/// not report.
///
/// Runs across tenants for the reason given at [`list_unread`].
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
