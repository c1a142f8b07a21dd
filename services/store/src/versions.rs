//! History: the versions of a skill, as they were. Those of a deleted one are kept in the same table, and found by nobody.

use knowhow_domain::{ChangeKind, ResourceEntry, Result, SkillId, Version, manifest};

use crate::TenantTx;
use crate::error::refuse;
use crate::skills::{resources, text};
use crate::vault::Word;

/// One version with its SKILL.md.
#[derive(Debug, Clone)]
pub struct VersionState {
    /// What [`list`] shows of it.
    pub version: Version,
    /// The SKILL.md as it was.
    pub document: String,
    /// The resources as they were; their bytes are found by digest.
    pub resources: Vec<ResourceEntry>,
}

/// A page, newest first, from `before` down.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, skill: SkillId, before: Option<i32>, limit: i64) -> Result<Vec<Version>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    // A starter that is lent has the one version that its row will have.
    let rows = sqlx::query!(
        r#"-- versions.list
        select version as "version!", change as "change!: Word<ChangeKind>", actor as "actor!", session, tainted as "tainted!",
               digest as "digest!", created_at as "created_at!", tainted_in, tainted_by, approved_by, approved_at
        from skill_versions
        where tenant_id = $1 and user_id = $2 and skill_id = $3 and ($4::integer is null or version < $4)
          and exists (select from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3)
        union all
        select 1, 'sync', 'starters', null, false, l.digest, l.created_at, null, null, null, null
        from skill_states l
        where l.tenant_id = $1 and l.user_id = $2 and l.skill_id = $3 and l.lent and ($4::integer is null or $4 > 1)
        order by 1 desc
        limit $5"#,
        tenant,
        user,
        skill.0,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows
        .into_iter()
        .map(|r| Version {
            version: r.version,
            change: r.change.0,
            actor: r.actor,
            session: r.session,
            tainted: r.tainted,
            tainted_in: r.tainted_in.unwrap_or_default(),
            tainted_by: r.tainted_by.unwrap_or_default(),
            approved_by: r.approved_by,
            approved_at: r.approved_at,
            digest: manifest::hex(&r.digest),
            created_at: r.created_at,
        })
        .collect())
}

/// One version.
///
/// # Errors
/// `Unavailable`.
pub async fn find(tx: &mut TenantTx, skill: SkillId, version: i32) -> Result<Option<VersionState>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        r#"-- versions.find
        select v.version as "version!", v.change as "change!: Word<ChangeKind>", v.actor as "actor!", v.session, v.tainted as "tainted!",
               v.digest as "digest!", v.created_at as "created_at!", v.resources as "resources!",
               v.tainted_in, v.tainted_by, v.approved_by, v.approved_at,
               coalesce(t.document, r.content) as "content!"
        from skill_versions v
        left join starter_texts t on t.starter_id = v.starter_id
        left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = v.document_digest
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4
          and exists (select from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3)
        union all
        select 1, 'sync', 'starters', null, false, l.digest, l.created_at, '[]', null, null, null, null, l.document
        from skill_states l
        where l.tenant_id = $1 and l.user_id = $2 and l.skill_id = $3 and l.lent and $4 = 1"#,
        tenant,
        user,
        skill.0,
        version
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    let Some(r) = row else { return Ok(None) };
    Ok(Some(VersionState {
        document: text(r.content)?,
        resources: resources(r.resources)?,
        version: Version {
            version: r.version,
            change: r.change.0,
            actor: r.actor,
            session: r.session,
            tainted: r.tainted,
            tainted_in: r.tainted_in.unwrap_or_default(),
            tainted_by: r.tainted_by.unwrap_or_default(),
            approved_by: r.approved_by,
            approved_at: r.approved_at,
            digest: manifest::hex(&r.digest),
            created_at: r.created_at,
        },
    }))
}

/// Whether some version of the skill was made by a request of this digest.
///
/// # Errors
/// `Unavailable`.
pub async fn was_requested(tx: &mut TenantTx, skill: SkillId, request: &[u8; 32]) -> Result<bool> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query_scalar!(
        r#"-- versions.was_requested
        select exists (
            select from skill_versions
            where tenant_id = $1 and user_id = $2 and skill_id = $3 and request_digest = $4) as "made!""#,
        tenant,
        user,
        skill.0,
        request.as_slice()
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)
}
