//! Reads skills for an export: first the list, then the files in small batches. Files are found by digest and never
//! change, so no transaction stays open while a client reads them.

use knowhow_domain::skills::manifest;
use knowhow_domain::{ResourceEntry, Result};

use super::resources;
use crate::TenantTx;
use crate::vault::error::refuse;

/// A skill to export.
#[derive(Debug, Clone)]
pub struct Exported {
    pub name: String,
    /// Hex SHA-256 of the SKILL.md.
    pub document: String,
    /// Size of the SKILL.md in bytes.
    pub document_bytes: u64,
    /// Id of the starter text, if the skill shares it.
    pub starter: Option<i32>,
    pub resources: Vec<ResourceEntry>,
    /// Untrusted sources, if the skill is tainted.
    pub tainted_by: Option<Vec<String>>,
}

/// Lists the next skills after the name `after`, ordered by name.
pub async fn list_for_export(tx: &mut TenantTx, after: &str, limit: i64) -> Result<Vec<Exported>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let rows = sqlx::query!(
        r#"-- skills.list_for_export
        (select s.name as "name!", coalesce(s.document_digest, t.document_digest) as "document_digest!",
                coalesce(s.document_bytes, t.document_bytes) as "document_bytes!", s.starter_id,
                coalesce(s.resources, '[]') as "resources!",
                case when s.tainted then coalesce(v.tainted_by, '{}') end as tainted_by
         from skills s
         left join skill_versions v
             on v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = s.version and s.tainted
         left join starter_texts t on t.starter_id = s.starter_id
         where s.tenant_id = $1 and s.user_id = $2 and s.name > $3
         order by s.name
         limit $4)
        union all
        select l.name, l.document_digest, l.document_bytes, l.starter_id, l.resources, null
        from skill_states l where l.tenant_id = $1 and l.user_id = $2 and l.lent and l.name > $3
        order by 1
        limit $4"#,
        tenant,
        user,
        after,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    rows.into_iter()
        .map(|r| {
            Ok(Exported {
                name: r.name,
                document: manifest::hex(&r.document_digest),
                document_bytes: r.document_bytes.unsigned_abs().into(),
                starter: r.starter_id,
                resources: resources(r.resources)?,
                tainted_by: r.tainted_by,
            })
        })
        .collect()
}

/// Reads the user's files by their hex digests, and the SKILL.md files of starters, unordered. Unknown files are
/// skipped.
pub async fn read_for_export(
    tx: &mut TenantTx,
    digests: &[String],
    starters: &[i32],
) -> Result<Vec<(String, Vec<u8>)>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let rows = sqlx::query!(
        r#"-- skills.read_for_export
        select digest as "digest!", content as "content!" from skill_resources
        where tenant_id = $1 and user_id = $2 and digest in (select decode(d, 'hex') from unnest($3::text[]) d)
        union all
        select document_digest, document from starter_texts where starter_id = any($4)"#,
        tenant,
        user,
        digests,
        starters
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().map(|r| (manifest::hex(&r.digest), r.content)).collect())
}
