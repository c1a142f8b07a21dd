//! Copies of the built-in starter texts at places other than `home`, with the ids that they have in `home`. Users'
//! skills refer to texts by id, so the ids must be equal in all places for a tenant to be moved.
//!
//! Runs across tenants for the reason given in `across/library.rs`.

use knowhow_domain::{Error, Result};
use serde_json::Value;
use sqlx::PgExecutor;

use super::library::release::publish_here;
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::place::HOME;
use crate::vault::tx::SystemTx;

/// Inserts the texts `rows` of a release into this place, with their ids from `home`. If the texts already exist,
/// `home` is not queried, because it may be unreachable.
///
/// # Errors
/// `Conflict` if the place has other texts with those ids; `Unavailable`.
pub(super) async fn publish_as_home_did(db: &Database, release: &[u8], rows: &Value) -> Result<()> {
    let texts = i64::try_from(rows.as_array().map_or(0, Vec::len)).map_err(Error::internal)?;
    if count(db, release).await? == texts {
        return Ok(());
    }
    let home = db.at(HOME);
    publish_here(&home, release, rows).await?;
    put_numbered(db, release, &list_numbered(&home, release).await?).await?;
    if count(db, release).await? == texts {
        return Ok(());
    }
    let detail = format!(
        "the database of place '{}' has other starter texts with the ids of home: it was used on its own before, and \
         cannot be a place of this deployment",
        db.place_name()
    );
    Err(Error::Conflict { code: "place-not-fit", detail })
}

async fn count(db: &Database, release: &[u8]) -> Result<i64> {
    let mut tx = SystemTx::begin(db, "library_copy.count").await?;
    let count = sqlx::query_scalar!(
        r#"-- library_copy.count
        select count(*) as "count!" from builtin_releases where release = $1"#,
        release
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(count)
}

async fn list_numbered(home: &Database, release: &[u8]) -> Result<Value> {
    let mut tx = SystemTx::begin(home, "library_copy.list_numbered").await?;
    let numbered = sqlx::query_scalar!(
        r#"-- library_copy.list_numbered
        select coalesce(jsonb_agg(to_jsonb(t)), '[]') as "texts!"
        from builtin_releases r join builtin_texts t on t.starter_id = r.starter_id
        where r.release = $1"#,
        release
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(numbered)
}

async fn put_numbered(db: &Database, release: &[u8], texts: &Value) -> Result<()> {
    let mut tx = SystemTx::begin(db, "library_copy.put_numbered").await?;
    put_texts(tx.conn(), texts).await.map_err(refuse)?;
    // This is a separate statement, so that it sees texts inserted by another process in the meantime.
    sqlx::query!(
        "-- library_copy.make_release
        insert into builtin_releases (release, starter_id)
        select $1, k.starter_id
        from jsonb_populate_recordset(null::builtin_texts, $2) t
        join builtin_texts k
          on k.starter_id = t.starter_id and k.name = t.name and k.document_digest = t.document_digest
        on conflict do nothing",
        release,
        texts
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// Inserts missing rows of `builtin_texts` with their ids. Also used to move a tenant.
pub(crate) async fn put_texts(conn: impl PgExecutor<'_>, texts: &Value) -> sqlx::Result<()> {
    let put = sqlx::query!(
        "-- library_copy.put_texts
        insert into builtin_texts (starter_id, name, description, summary, category, tags, triggers, see_also, role, attributes,
            frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
            content_at_byte)
        overriding system value
        select starter_id, name, description, summary, category, tags, triggers, see_also, role, attributes, frontmatter, digest,
               document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte
        from jsonb_populate_recordset(null::builtin_texts, $1) t
        on conflict do nothing",
        texts
    );
    put.execute(conn).await.map(drop)
}
