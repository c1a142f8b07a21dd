//! Reading a skill in order to change it: the user's catalogue row first, then the skill, both locked until commit.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, SkillId, manifest};
use uuid::Uuid;

use super::{Misses, SkillKey, SkillState, cut, resources, text};
use crate::error::refuse;
use crate::{TenantTx, starters};

/// What a change starts from.
#[derive(Debug)]
pub struct Locked {
    /// The current state.
    pub skill: SkillState,
    /// Its uses.
    pub times_used: i64,
    /// The last of them.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The digest of the request that made the current version, where it was a patch.
    pub request_digest: Option<Vec<u8>>,
}

/// Locks the user's catalogue and the skill, so that all writes of one user are in line, and reads the current state.
///
/// # Errors
/// `Unavailable` where the lock does not come within the statement timeout.
pub async fn lock(tx: &mut TenantTx, key: &SkillKey) -> Result<Option<Locked>> {
    let seen = match try_lock(tx, key).await? {
        Seen::Lent => {
            starters::settle(tx).await?;
            try_lock(tx, key).await?
        }
        // The statement waited for another writer, whose new text its snapshot could not see. The lock is ours now.
        Seen::WithoutText => try_lock(tx, key).await?,
        seen => seen,
    };
    match seen {
        Seen::Whole(locked) => Ok(Some(*locked)),
        Seen::Nothing => Ok(None),
        Seen::Lent | Seen::WithoutText => Err(Error::internal("a skill without its document")),
    }
}

enum Seen {
    Whole(Box<Locked>),
    Nothing,
    /// The user has starters without rows, so no skill is to be changed yet.
    Lent,
    WithoutText,
}

/// Whether skills are lent is asked of the locked row and of the one before this statement waited: rows that another
/// writer has made meanwhile are not seen by it.
#[expect(clippy::too_many_lines, reason = "one statement with a column for each field")]
async fn try_lock(tx: &mut TenantTx, key: &SkillKey) -> Result<Seen> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        r#"-- skills.lock
        with catalog as materialized (
            select c.starters_at is not null as lent from user_catalogs c
            where c.tenant_id = $1 and c.user_id = $2 for update
        ), skill as materialized (
            select s.*
            from catalog, lateral (
                select * from skills s
                where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or s.skill_id = $4) for update) s
        )
        select catalog.lent or exists (
                   select from user_catalogs b
                   where b.tenant_id = $1 and b.user_id = $2 and b.starters_at is not null) as "lent!", s.skill_id as "skill_id?", s.name as "name?",
               coalesce(s.description, t.description) as "description?", coalesce(s.summary, t.summary) as summary,
               coalesce(s.category, t.category) as category, coalesce(s.tags, t.tags) as "tags?",
               coalesce(s.triggers, t.triggers) as "triggers?", coalesce(s.see_also, t.see_also) as "see_also?",
               coalesce(s.role, t.role) as role, coalesce(s.attributes, t.attributes) as "attributes?",
               s.source as "source?", s.pinned as "pinned?", s.enriched as "enriched?", s.importance as "importance?",
               s.decay_rate as "decay_rate?", s.version as "version?", coalesce(s.digest, t.digest) as "digest?",
               coalesce(s.frontmatter_at_byte, t.frontmatter_at_byte) as "frontmatter_at_byte?",
               coalesce(s.frontmatter_end_at_byte, t.frontmatter_end_at_byte) as "frontmatter_end_at_byte?",
               coalesce(s.content_at_byte, t.content_at_byte) as "content_at_byte?",
               coalesce(s.resources, '[]') as "resources?", s.created_at as "created_at?", s.updated_at as "updated_at?",
               coalesce(t.document, (
                   select r.content from skill_resources r
                   where r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest)) as document,
               (select v.request_digest from skill_versions v
                where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = s.version)
                   as request_digest,
               u.times_used as "times_used?", u.last_used_at, s.made_summary, s.tainted as "tainted?"
        from catalog left join skill s on true
        left join starter_texts t on t.starter_id = s.starter_id
        left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id"#,
        tenant,
        user,
        key.name(),
        key.id()
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    if row.lent {
        return Ok(Seen::Lent);
    }
    let Some(id) = row.skill_id else { return Ok(Seen::Nothing) };
    let Some(document) = row.document else { return Ok(Seen::WithoutText) };
    Ok(Seen::Whole(Box::new(Locked {
        times_used: row.times_used.unwrap_or_default(),
        last_used_at: row.last_used_at,
        request_digest: row.request_digest,
        skill: SkillState {
            id: SkillId(id),
            name: row.name.unwrap_or_default(),
            description: row.description.unwrap_or_default(),
            summary: row.summary,
            made_summary: row.made_summary,
            category: row.category,
            tags: row.tags.unwrap_or_default(),
            triggers: row.triggers.unwrap_or_default(),
            see_also: row.see_also.unwrap_or_default(),
            role: row.role,
            attributes: row.attributes.unwrap_or_default(),
            source: row.source.unwrap_or_default(),
            pinned: row.pinned.unwrap_or_default(),
            enriched: row.enriched.unwrap_or_default(),
            importance: row.importance.unwrap_or_default(),
            decay_rate: row.decay_rate.unwrap_or_default(),
            version: row.version.unwrap_or_default(),
            tainted: row.tainted.unwrap_or_default(),
            digest: row.digest.unwrap_or_default(),
            document: text(document)?,
            cuts: [
                cut(row.frontmatter_at_byte.unwrap_or_default()),
                cut(row.frontmatter_end_at_byte.unwrap_or_default()),
                cut(row.content_at_byte.unwrap_or_default()),
            ],
            resources: resources(row.resources.unwrap_or_default())?,
            created_at: row.created_at.unwrap_or_default(),
            updated_at: row.updated_at.unwrap_or_default(),
        },
    })))
}

/// The id and the version of a skill that is only read. One that is lent stays so: whoever reads makes no rows.
///
/// # Errors
/// `Unavailable`.
pub async fn look_up(tx: &mut TenantTx, key: &SkillKey) -> Result<Option<(SkillId, i32)>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        r#"-- skills.look_up
        select skill_id as "skill_id!", version as "version!" from skill_states
        where tenant_id = $1 and user_id = $2 and (name = $3 or skill_id = $4)"#,
        tenant,
        user,
        key.name(),
        key.id()
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(|r| (SkillId(r.skill_id), r.version)))
}

/// The id, name and version of a skill, without a lock; a lent one gets its row.
///
/// # Errors
/// `Unavailable`.
pub async fn find(tx: &mut TenantTx, key: &SkillKey) -> Result<Option<(SkillId, String, i32)>> {
    match find_row(tx, key).await? {
        Some(found) => Ok(Some(found)),
        None => {
            starters::settle(tx).await?;
            find_row(tx, key).await
        }
    }
}

async fn find_row(tx: &mut TenantTx, key: &SkillKey) -> Result<Option<(SkillId, String, i32)>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        "-- skills.find
        select skill_id, name, version from skills
        where tenant_id = $1 and user_id = $2 and (name = $3 or skill_id = $4)",
        tenant,
        user,
        key.name(),
        key.id()
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(|r| (SkillId(r.skill_id), r.name, r.version)))
}

/// The same as [`explain_miss`](super::explain_miss) in an open transaction, which sees its own changes.
///
/// # Errors
/// `Unavailable`.
pub async fn explain_miss_in(tx: &mut TenantTx, name: &str) -> Result<Misses> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let rows = sqlx::query!(
        r#"-- skills.explain_miss_in
        select s.name as "name!", d.name is not null as "moved!"
        from skill_states s
        left join skill_redirects d
            on d.tenant_id = $1 and d.user_id = $2 and d.skill_id = s.skill_id and d.name = $3
        where s.tenant_id = $1 and s.user_id = $2
        order by d.name nulls last, s.name
        limit 5000"#,
        tenant,
        user,
        name
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    let successor = rows.iter().filter(|row| row.moved).map(|row| row.name.clone()).next_back();
    Ok(Misses { successor, names: rows.into_iter().map(|row| row.name).collect() })
}

/// The bytes of stored files by their digests (hex), in no order; unknown ones are left out.
///
/// # Errors
/// `Unavailable`.
pub async fn read_files(tx: &mut TenantTx, digests: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let (tenant, user): (Uuid, Uuid) = (tx.tenant(), tx.user());
    let rows = sqlx::query!(
        "-- skills.read_files
        select digest, content from skill_resources
        where tenant_id = $1 and user_id = $2 and digest in (select decode(d, 'hex') from unnest($3::text[]) d)",
        tenant,
        user,
        digests
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().map(|r| (manifest::hex(&r.digest), r.content)).collect())
}
