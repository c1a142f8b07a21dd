//! Starter texts that a model has made no vector of, among the built-in ones and in a tenant's library.

use knowhow_domain::{Result, TenantId};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

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

/// The texts of a tenant's library that `model` has made no vector of, of those given.
///
/// Why: its users share the vectors, and none of them may write them.
///
/// # Errors
/// `Unavailable`.
pub async fn list_unembedded_of_tenant(
    db: &Database,
    tenant: TenantId,
    library: &[i32],
    model: &str,
) -> Result<Vec<Unembedded>> {
    let mut tx = SystemTx::begin_about(db, tenant, "library.list_unembedded_of_tenant").await?;
    let found = sqlx::query_as!(
        Unembedded,
        "-- library.list_unembedded_of_tenant
        select t.starter_id as starter, t.name, t.description, t.triggers from library_texts t
        where t.tenant_id = $1 and t.starter_id = any ($2) and not exists (
            select from library_vectors v where v.tenant_id = $1 and v.starter_id = t.starter_id and v.model = $3)
        order by t.starter_id",
        tenant.0,
        library,
        model
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(found)
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
        select t.starter_id as starter, t.name, t.description, t.triggers from builtin_texts t
        where not exists (select from builtin_vectors v where v.starter_id = t.starter_id and v.model = $1)
        order by t.starter_id",
        model
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(found)
}
