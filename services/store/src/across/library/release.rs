//! Inserts the texts of a release of built-in starters into one place.

use knowhow_domain::Result;
use serde_json::Value;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Inserts the texts `rows` that do not exist yet, and the release that refers to all of them.
///
/// Runs across tenants for the reason given in `across/library.rs`.
pub(in crate::across) async fn publish_here(db: &Database, release: &[u8], rows: &Value) -> Result<()> {
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
    // This is a separate statement, so that it sees texts inserted by another process in the meantime.
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
