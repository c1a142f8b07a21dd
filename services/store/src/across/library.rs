//! Texts of built-in starters with their vectors, which all users share. Also the data of a tenant's library that users
//! share but must not write: releases and vectors.

pub(super) mod release;
mod starter_text;
mod unembedded;

use knowhow_domain::{Result, TenantId};
use pgvector::HalfVector;
use serde_json::Value;

pub use starter_text::StarterText;
pub use unembedded::{Unembedded, list_unembedded, list_unembedded_of_tenant};

use self::release::publish_here;
use super::library_copy;
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::place::HOME;
use crate::vault::tx::SystemTx;

/// Inserts the texts of a release so that users can refer to them. Existing texts stay unchanged, so several
/// processes may publish at the same time.
///
/// Runs across tenants because the texts are shared and no tenant's role may write them.
pub async fn publish(db: &Database, release: &[u8], texts: &[StarterText<'_>]) -> Result<()> {
    let rows = Value::Array(texts.iter().map(StarterText::columns).collect());
    if db.here() != HOME {
        return library_copy::publish_as_home_did(db, release, &rows).await;
    }
    publish_here(db, release, &rows).await
}

/// The starters of a tenant that has a library.
#[derive(Debug, Clone, Copy)]
pub struct TenantRelease<'a> {
    pub tenant: TenantId,
    /// Digest of the release.
    pub release: &'a [u8],
    /// Digest of the built-in release that this release includes, if the tenant's users get built-in starters.
    pub builtin: Option<&'a [u8]>,
    /// Ids of the current texts of the library. Each replaces the built-in text of the same name.
    pub library: &'a [i32],
}

/// Inserts a tenant's release so that users can refer to it. Like [`publish`], it leaves existing rows unchanged.
///
/// Runs across tenants because any user's first request triggers it, and users must not write releases.
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
    /// Id of the starter text.
    pub starter: i32,
    /// SHA-256 of the embedded text.
    pub text_digest: [u8; 32],
    pub embedding: Vec<f32>,
}

/// Vectors to insert, as one array per column.
struct VectorColumns<'a> {
    starters: Vec<i32>,
    digests: Vec<&'a [u8]>,
    vectors: Vec<HalfVector>,
}

impl<'a> VectorColumns<'a> {
    fn of(vectors: &'a [NewVector]) -> Self {
        Self {
            starters: vectors.iter().map(|new| new.starter).collect(),
            digests: vectors.iter().map(|new| new.text_digest.as_slice()).collect(),
            vectors: vectors.iter().map(|new| HalfVector::from_f32_slice(&new.embedding)).collect(),
        }
    }
}

/// Stores vectors for a tenant's library texts, unless they exist.
///
/// Runs across tenants for the reason given at [`list_unembedded_of_tenant`].
///
/// # Errors
/// `Unavailable`; `Internal` for an invalid vector.
pub async fn put_vectors_of_tenant(db: &Database, tenant: TenantId, model: &str, vectors: &[NewVector]) -> Result<()> {
    let VectorColumns { starters, digests, vectors } = VectorColumns::of(vectors);
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

/// Stores vectors for built-in texts, unless they exist.
///
/// Runs across tenants because the texts are shared.
///
/// # Errors
/// `Unavailable`; `Internal` for an invalid vector.
pub async fn put_vectors(db: &Database, model: &str, vectors: &[NewVector]) -> Result<()> {
    let VectorColumns { starters, digests, vectors } = VectorColumns::of(vectors);
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
