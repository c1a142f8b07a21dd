//! The texts of starters and their vectors, once for all users. Nothing here is a tenant's: the binary holds the texts.

use knowhow_domain::{Result, SkillDocument, SkillName, manifest};
use pgvector::HalfVector;
use serde_json::{Value, json};

use crate::Database;
use crate::error::refuse;
use crate::skills::columns::attributes;
use crate::vault::tx::SystemTx;

/// A starter of a release.
pub struct StarterText<'a> {
    pub name: &'a SkillName,
    pub document: &'a SkillDocument,
    /// The frontmatter as JSON.
    pub frontmatter: &'a Value,
}

impl StarterText<'_> {
    /// The columns of its row.
    fn columns(&self) -> Value {
        let fields = self.document.fields();
        let bytea = |bytes: &[u8]| format!("\\x{}", manifest::hex(bytes));
        let document = self.document.raw().as_bytes();
        let [frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte] = self.document.cuts();
        json!({
            "name": self.name.as_str(),
            "description": fields.description,
            "summary": fields.summary,
            "category": fields.category,
            "tags": fields.tags,
            "triggers": fields.triggers,
            "see_also": fields.see_also,
            "role": fields.role.map(|role| role.as_str()),
            "attributes": attributes(fields),
            "frontmatter": self.frontmatter,
            "digest": bytea(&manifest::state_digest(&self.document.digest(), &[])),
            "document_digest": bytea(&self.document.digest()),
            "document": bytea(document),
            "document_bytes": document.len(),
            "frontmatter_at_byte": frontmatter_at_byte,
            "frontmatter_end_at_byte": frontmatter_end_at_byte,
            "content_at_byte": content_at_byte,
        })
    }
}

/// Puts the texts of a release where users can refer to them. Any number of processes may do so at once; what is there
/// stays as it is.
///
/// Why: the library is written before there is a user to run as, and no tenant's role may write it.
///
/// # Errors
/// `Unavailable`.
pub async fn publish(db: &Database, release: &[u8], texts: &[StarterText<'_>]) -> Result<()> {
    let rows = Value::Array(texts.iter().map(StarterText::columns).collect());
    let mut tx = SystemTx::begin(db, "library.publish").await?;
    sqlx::query!(
        "-- library.publish
        insert into starter_texts (name, description, summary, category, tags, triggers, see_also, role, attributes,
            frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
            content_at_byte)
        select name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter, digest,
               document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte
        from jsonb_populate_recordset(null::starter_texts, $1) t
        where not exists (select from starter_texts k where k.name = t.name and k.document_digest = t.document_digest)
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
        insert into starter_releases (release, starter_id)
        select $1, k.starter_id
        from jsonb_populate_recordset(null::starter_texts, $2) t
        join starter_texts k on k.name = t.name and k.document_digest = t.document_digest
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

/// A starter text without a vector.
#[derive(Debug, Clone)]
pub struct Unembedded {
    /// Its number among the stored starter texts.
    pub starter: i32,
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Phrases that call for it.
    pub triggers: Vec<String>,
}

/// The starter texts that `model` has made no vector of.
///
/// Why: they are no user's.
///
/// # Errors
/// `Unavailable`.
pub async fn list_unembedded(db: &Database, model: &str) -> Result<Vec<Unembedded>> {
    let mut tx = SystemTx::begin(db, "library.list_unembedded").await?;
    let found = sqlx::query_as!(
        Unembedded,
        "-- library.list_unembedded
        select t.starter_id as starter, t.name, t.description, t.triggers from starter_texts t
        where not exists (select from starter_vectors v where v.starter_id = t.starter_id and v.model = $1)
        order by t.starter_id",
        model
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(found)
}

/// Keeps vectors of starter texts: which, SHA-256 of what was embedded, the vector. One that is there stays.
///
/// Why: they are no user's.
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres does not take.
pub async fn put_vectors(db: &Database, model: &str, vectors: &[(i32, [u8; 32], Vec<f32>)]) -> Result<()> {
    let starters: Vec<i32> = vectors.iter().map(|(starter, ..)| *starter).collect();
    let digests: Vec<&[u8]> = vectors.iter().map(|(_, digest, _)| digest.as_slice()).collect();
    let vectors: Vec<HalfVector> = vectors.iter().map(|(.., vector)| HalfVector::from_f32_slice(vector)).collect();
    let mut tx = SystemTx::begin(db, "library.put_vectors").await?;
    sqlx::query!(
        "-- library.put_vectors
        insert into starter_vectors (starter_id, model, text_digest, embedding)
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
