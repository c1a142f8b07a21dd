//! The texts of built-in starters and their vectors, once for all users; and what a tenant's own library needs that no user of
//! it may write: the releases that it makes with them, and its vectors.

mod starter_text;
mod unembedded;

use knowhow_domain::{Result, TenantId};
use pgvector::HalfVector;
use serde_json::Value;

pub use starter_text::StarterText;
pub use unembedded::{Unembedded, list_unembedded, list_unembedded_of_tenant};

use super::library_copy;
use crate::Database;
use crate::error::refuse;
use crate::vault::place::HOME;
use crate::vault::tx::SystemTx;

/// Puts the texts of a release where users can refer to them. Any number of processes may do so at once; what is there
/// stays as it is.
///
/// Why: the library is written before there is a user to run as, and no tenant's role may write it.
///
/// # Errors
/// `Unavailable`.
pub async fn publish(db: &Database, release: &[u8], texts: &[StarterText<'_>]) -> Result<()> {
    let rows = Value::Array(texts.iter().map(StarterText::columns).collect());
    if db.here() != HOME {
        return library_copy::publish_as_home_did(db, release, &rows).await;
    }
    publish_here(db, release, &rows).await
}

pub(super) async fn publish_here(db: &Database, release: &[u8], rows: &Value) -> Result<()> {
    let mut tx = SystemTx::begin(db, "library.publish").await?;
    sqlx::query!(
        "-- library.publish
        insert into builtin_texts (name, description, summary, category, tags, triggers, see_also, role, attributes,
            frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
            content_at_byte)
        select name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter, digest,
               document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte
        from jsonb_populate_recordset(null::builtin_texts, $1) t
        where not exists (select from builtin_texts k where k.name = t.name and k.document_digest = t.document_digest)
        order by name
        on conflict (name, document_digest) do nothing",
        rows
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    // A statement of its own: it sees what another process put in meanwhile.
    sqlx::query!(
        "-- library.make_release
        insert into builtin_releases (release, starter_id)
        select $1, k.starter_id
        from jsonb_populate_recordset(null::builtin_texts, $2) t
        join builtin_texts k on k.name = t.name and k.document_digest = t.document_digest
        order by k.starter_id
        on conflict do nothing",
        release,
        rows
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// What the users of a tenant with a library are given.
#[derive(Debug, Clone, Copy)]
pub struct TenantRelease<'a> {
    /// The tenant.
    pub tenant: TenantId,
    /// Its digest.
    pub release: &'a [u8],
    /// The release of built-in starters that it contains, where the tenant's users are given those.
    pub builtin: Option<&'a [u8]>,
    /// The current texts of the library. Each takes the place of the built-in one of its name.
    pub library: &'a [i32],
}

/// Puts the texts of a tenant's release where users can refer to them, as [`publish`] does.
///
/// Why: users are given it by whichever of their requests is the first, and none of them may write it.
///
/// # Errors
/// `Unavailable`.
pub async fn publish_for_tenant(db: &Database, new: TenantRelease<'_>) -> Result<()> {
    let mut tx = SystemTx::begin_about(db, new.tenant, "library.publish_for_tenant").await?;
    sqlx::query!(
        "-- library.publish_for_tenant
        insert into library_releases (tenant_id, release, starter_ids)
        select $1, $2, $3::integer[] || array(
            select b.starter_id from builtin_releases b
            join builtin_texts t on t.starter_id = b.starter_id
            where b.release = $4 and not exists (
                select from library_texts l where l.tenant_id = $1 and l.starter_id = any ($3) and l.name = t.name)
            order by b.starter_id)
        where not exists (select from library_releases r where r.tenant_id = $1 and r.release = $2)
        on conflict do nothing",
        new.tenant.0,
        new.release,
        new.library,
        new.builtin
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// The vector of a starter text.
#[derive(Debug, Clone)]
pub struct NewVector {
    /// The text's number.
    pub starter: i32,
    /// SHA-256 of what was embedded.
    pub text_digest: [u8; 32],
    /// The vector.
    pub embedding: Vec<f32>,
}

/// Keeps vectors of texts of a tenant's library. One that is there stays.
///
/// Why: as [`list_unembedded_of_tenant`].
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres does not take.
pub async fn put_vectors_of_tenant(db: &Database, tenant: TenantId, model: &str, vectors: &[NewVector]) -> Result<()> {
    let starters: Vec<i32> = vectors.iter().map(|new| new.starter).collect();
    let digests: Vec<&[u8]> = vectors.iter().map(|new| new.text_digest.as_slice()).collect();
    let vectors: Vec<HalfVector> = vectors.iter().map(|new| HalfVector::from_f32_slice(&new.embedding)).collect();
    let mut tx = SystemTx::begin_about(db, tenant, "library.put_vectors_of_tenant").await?;
    sqlx::query!(
        "-- library.put_vectors_of_tenant
        insert into library_vectors (tenant_id, starter_id, model, text_digest, embedding)
        select $1, made.starter_id, $2, made.text_digest, made.embedding
        from unnest($3::integer[], $4::bytea[], $5::halfvec[]) as made (starter_id, text_digest, embedding)
        on conflict (tenant_id, starter_id, model) do nothing",
        tenant.0,
        model,
        &starters,
        &digests as &[&[u8]],
        &vectors as &[HalfVector]
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// Keeps vectors of starter texts. One that is there stays.
///
/// Why: they are no user's.
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres does not take.
pub async fn put_vectors(db: &Database, model: &str, vectors: &[NewVector]) -> Result<()> {
    let starters: Vec<i32> = vectors.iter().map(|new| new.starter).collect();
    let digests: Vec<&[u8]> = vectors.iter().map(|new| new.text_digest.as_slice()).collect();
    let vectors: Vec<HalfVector> = vectors.iter().map(|new| HalfVector::from_f32_slice(&new.embedding)).collect();
    let mut tx = SystemTx::begin(db, "library.put_vectors").await?;
    sqlx::query!(
        "-- library.put_vectors
        insert into builtin_vectors (starter_id, model, text_digest, embedding)
        select made.starter_id, $1, made.text_digest, made.embedding
        from unnest($2::integer[], $3::bytea[], $4::halfvec[]) as made (starter_id, text_digest, embedding)
        on conflict (starter_id, model) do nothing",
        model,
        &starters,
        &digests as &[&[u8]],
        &vectors as &[HalfVector]
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}
