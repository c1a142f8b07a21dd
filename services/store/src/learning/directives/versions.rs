//! Lists versions of directives without their texts: the active version of each name, or all versions of one name.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{DirectiveName, DirectiveVersion, Result};

use crate::TenantTx;
use crate::vault::error::refuse;

/// A row without its text, for the query macros.
struct DirectiveVersionRow {
    name: String,
    version: i32,
    digest: Vec<u8>,
    in_force: bool,
    actor: String,
    created_at: DateTime<Utc>,
}

impl DirectiveVersionRow {
    /// Converts the row; `None` for a name added by a later release.
    fn into_version(self) -> Option<DirectiveVersion> {
        Some(DirectiveVersion {
            name: self.name.parse().ok()?,
            version: self.version,
            digest: manifest::hex(&self.digest),
            is_builtin: false,
            in_force: self.in_force,
            updated_by: Some(self.actor),
            updated_at: Some(self.created_at),
        })
    }
}

/// Lists the active version of each of the tenant's directives.
pub async fn list_in_force(tx: &mut TenantTx) -> Result<Vec<DirectiveVersion>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        DirectiveVersionRow,
        r#"-- directives.list_in_force
        select name, version, digest, in_force, app.shown_actor(actor) as "actor!", created_at
        from directives where tenant_id = $1 and in_force"#,
        tenant
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().filter_map(DirectiveVersionRow::into_version).collect())
}

/// Lists versions of one name before the version `before`, newest first.
pub async fn list_versions(
    tx: &mut TenantTx,
    name: DirectiveName,
    before: Option<i32>,
    limit: i64,
) -> Result<Vec<DirectiveVersion>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        DirectiveVersionRow,
        r#"-- directives.list_versions
        select name, version, digest, in_force, app.shown_actor(actor) as "actor!", created_at from directives
        where tenant_id = $1 and name = $2 and ($3::integer is null or version < $3)
        order by version desc
        limit $4"#,
        tenant,
        name.as_str(),
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().filter_map(DirectiveVersionRow::into_version).collect())
}
