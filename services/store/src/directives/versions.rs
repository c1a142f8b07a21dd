//! Lists versions of directives without their texts: those in force, and all of one name.

use chrono::{DateTime, Utc};
use knowhow_domain::{DirectiveName, DirectiveVersion, Result, manifest};

use crate::TenantTx;
use crate::error::refuse;

/// A row without its text, as the macros read it.
struct VersionRow {
    name: String,
    version: i32,
    digest: Vec<u8>,
    in_force: bool,
    actor: String,
    created_at: DateTime<Utc>,
}

impl VersionRow {
    /// `None` for a name that only a later release knows.
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

/// The tenant's texts in force, of all names.
///
/// # Errors
/// `Unavailable`.
pub async fn list_in_force(tx: &mut TenantTx) -> Result<Vec<DirectiveVersion>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        VersionRow,
        r#"-- directives.list_in_force
        select name, version, digest, in_force, app.shown_actor(actor) as "actor!", created_at
        from directives where tenant_id = $1 and in_force"#,
        tenant
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().filter_map(VersionRow::into_version).collect())
}

/// Versions of one name before one, the newest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list_versions(
    tx: &mut TenantTx,
    name: DirectiveName,
    before: Option<i32>,
    limit: i64,
) -> Result<Vec<DirectiveVersion>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        VersionRow,
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
    Ok(rows.into_iter().filter_map(VersionRow::into_version).collect())
}
