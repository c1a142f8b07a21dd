//! What an export reads: first what there is, then the bytes, a few at a time. Bytes are found by their digests and do not
//! change, so no transaction stays open while a client takes them.

use knowhow_domain::{ResourceEntry, Result, manifest};

use super::resources;
use crate::TenantTx;
use crate::error::refuse;

/// A skill as an export plans it.
#[derive(Debug, Clone)]
pub struct Exported {
    pub name: String,
    /// Digest of the SKILL.md, hex.
    pub document: String,
    /// Its size in bytes.
    pub document_bytes: u64,
    /// The starter whose text it is, where it is one.
    pub starter: Option<i32>,
    pub resources: Vec<ResourceEntry>,
    /// What it is tainted by, where it is.
    pub tainted_by: Option<Vec<String>>,
}

/// The next skills behind `after`, in the order of names.
///
/// # Errors
/// `Unavailable`.
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

/// The bytes of the user's files by their digests (hex) and of the SKILL.md of starters, in no order; unknown ones are left
/// out.
///
/// # Errors
/// `Unavailable`.
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
