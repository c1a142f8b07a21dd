//! Starter texts without a vector from the current model, built-in or in a tenant's library.

use knowhow_domain::{Result, TenantId};

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// A starter text without a vector.
#[derive(Debug, Clone)]
pub struct Unembedded {
    /// Id of the stored text.
    pub starter: i32,
    pub name: String,
    /// Purpose of the skill, which is embedded with its triggers.
    pub description: String,
    /// Phrases that should trigger the skill.
    pub triggers: Vec<String>,
}

/// Lists the given library texts that have no vector of `model`.
///
/// Runs across tenants because the tenant's users share the vectors and must not write them.
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

/// Lists the built-in texts that have no vector of `model`.
///
/// Runs across tenants because the texts are shared.
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
