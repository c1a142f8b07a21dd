//! The vectors that stand for skills: which are missing, and putting them.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, SkillId};
use pgvector::HalfVector;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::TenantTx;
use crate::error::refuse;

/// The parts of a skill that are embedded, as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub skill: SkillId,
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Phrases that call for it.
    pub triggers: Vec<String>,
    /// Digest of the text that its vector by the model asked for was made of, where it has one.
    pub text_digest: Option<Vec<u8>>,
}

/// A vector for a skill.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// The skill as it was read. If its text has changed since, the vector is not stored.
    pub of: Pending,
    /// SHA-256 of the embedded text.
    pub text_digest: [u8; 32],
    pub vector: Vec<f32>,
}

/// Reads the parts of a skill that a model embeds. Returns `None` if the skill is gone, or is an unchanged starter,
/// whose vector all users share.
///
/// # Errors
/// `Unavailable`.
pub async fn find_pending(tx: &mut TenantTx, model: &str, skill: SkillId) -> Result<Option<Pending>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query_as!(
        Row,
        r#"-- embeddings.find_pending
        select s.skill_id, s.name, s.description as "description!", s.triggers as "triggers!",
               e.text_digest as "text_digest?"
        from skills s
        left join skill_embeddings e
            on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4 and s.starter_id is null"#,
        tenant,
        user,
        model,
        skill.0
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(Row::pending))
}

/// Some of the user's skills that have no vector of this model, in an order by the skill that is asked about: of jobs that
/// run at once each finds others.
///
/// # Errors
/// `Unavailable`.
pub async fn list_stale(tx: &mut TenantTx, model: &str, asked: SkillId, limit: i64) -> Result<Vec<Pending>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let rows = sqlx::query_as!(
        Row,
        r#"-- embeddings.list_stale
        select s.skill_id, s.name, s.description as "description!", s.triggers as "triggers!",
               null::bytea as text_digest
        from skills s
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id <> $4 and s.starter_id is null and not exists (
            select from skill_embeddings e
            where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3)
        order by hashtextextended(s.skill_id::text, hashtextextended($4::text, 0))
        limit $5"#,
        tenant,
        user,
        model,
        asked.0,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().map(Row::pending).collect())
}

/// Puts vectors of one model. One whose skill is gone or has another name, description or trigger by now is left out: a
/// job about the new text waits behind this one. Returns how many were put.
///
/// The catalogue's revision goes up in the same transaction: it is what caches are checked against, and what ranks by
/// vectors must see new ones. The user's catalogue row is locked first, as by all writes, so what is compared is current.
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres does not take.
pub async fn put_embeddings(
    tx: &mut TenantTx,
    model: &str,
    embeddings: &[Embedding],
    now: DateTime<Utc>,
) -> Result<u64> {
    let (tenant, user) = (tx.tenant(), tx.user());
    tx.lock_catalog().await?;
    let skills: Vec<Uuid> = embeddings.iter().map(|e| e.of.skill.0).collect();
    let names: Vec<&str> = embeddings.iter().map(|e| e.of.name.as_str()).collect();
    let descriptions: Vec<&str> = embeddings.iter().map(|e| e.of.description.as_str()).collect();
    let triggers: Vec<Value> = embeddings.iter().map(|e| json!(e.of.triggers)).collect();
    let digests: Vec<&[u8]> = embeddings.iter().map(|e| e.text_digest.as_slice()).collect();
    let vectors: Vec<HalfVector> = embeddings.iter().map(|e| HalfVector::from_f32_slice(&e.vector)).collect();
    let put = sqlx::query_scalar!(
        r#"-- embeddings.put_embeddings
        with put as (
            insert into skill_embeddings as e (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
            select $1, $2, s.skill_id, $3, made.text_digest, made.embedding, $4
            from unnest($5::uuid[], $6::text[], $7::text[], $8::jsonb[], $9::bytea[], $10::halfvec[])
                as made (skill_id, name, description, triggers, text_digest, embedding)
            join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = made.skill_id and s.name = made.name
                and s.description = made.description and to_jsonb(s.triggers) = made.triggers
            on conflict (tenant_id, user_id, skill_id, model) do update set
                text_digest = excluded.text_digest, embedding = excluded.embedding, updated_at = excluded.updated_at
            returning e.skill_id
        ), catalog as (
            update user_catalogs c set revision = c.revision + 1
            where c.tenant_id = $1 and c.user_id = $2 and exists (select from put)
        )
        select count(*) as "put!" from put"#,
        tenant,
        user,
        model,
        now,
        &skills,
        &names as &[&str],
        &descriptions as &[&str],
        &triggers,
        &digests as &[&[u8]],
        &vectors as &[HalfVector]
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    u64::try_from(put).map_err(Error::internal)
}

struct Row {
    skill_id: Uuid,
    name: String,
    description: String,
    triggers: Vec<String>,
    text_digest: Option<Vec<u8>>,
}

impl Row {
    fn pending(self) -> Pending {
        Pending {
            skill: SkillId(self.skill_id),
            name: self.name,
            description: self.description,
            triggers: self.triggers,
            text_digest: self.text_digest,
        }
    }
}
