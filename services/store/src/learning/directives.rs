//! A tenant's own directives, with versions. Prompts use the active version, or otherwise the built-in text.

mod versions;

use chrono::{DateTime, Utc};
use knowhow_domain::learning::directive::DIRECTIVE_VERSIONS;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Directive, DirectiveName, Error, Result, new_id};

pub use versions::{list_in_force, list_versions};

use crate::across::tenants;
use crate::vault::error::refuse;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, TenantTx};

row! {
    struct DirectiveRow {
        name: Word<DirectiveName>, version: i32, text: String, digest: Vec<u8>, actor: String, created_at: DateTime<Utc>,
    }
}

impl From<DirectiveRow> for Directive {
    fn from(row: DirectiveRow) -> Self {
        Self {
            name: row.name.0,
            text: row.text,
            version: row.version,
            digest: manifest::hex(&row.digest),
            is_builtin: false,
            updated_by: Some(row.actor),
            updated_at: Some(row.created_at),
        }
    }
}

// Finds the tenant's directive for any user: `$2`, the user, is not compared.
statement! {
    read FindInForce { name: String } -> DirectiveRow,
    "-- directives.find_in_force
    select d.name, d.version, d.text, d.digest, app.shown_actor(d.actor) as actor, d.created_at from directives d
    where d.tenant_id = $1 and d.name = $3 and d.in_force and $2::uuid is not null"
}

/// Returns the tenant's active text in one round trip, for a job of any user. Returns `None` if the built-in text is
/// active.
pub async fn find_in_force(db: &Database, principal: &Principal, name: DirectiveName) -> Result<Option<Directive>> {
    let rows = read(db, principal, FindInForce { name: name.as_str().to_owned() }).await?;
    Ok(rows.into_iter().next().map(Directive::from))
}

/// Returns a version of the tenant's directive. Without a number, returns the active version. Returns `None` if the
/// version does not exist.
pub async fn find(tx: &mut TenantTx, name: DirectiveName, version: Option<i32>) -> Result<Option<Directive>> {
    let tenant = tx.tenant();
    let row = sqlx::query_as!(
        DirectiveRow,
        r#"-- directives.find
        select name as "name: Word<DirectiveName>", version, text, digest, app.shown_actor(actor) as "actor!", created_at
        from directives
        where tenant_id = $1 and name = $2 and (version = $3 or $3::integer is null and in_force)"#,
        tenant,
        name.as_str(),
        version
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(Directive::from))
}

/// A new text of a directive.
#[derive(Debug, Clone, Copy)]
pub struct NewDirective<'a> {
    /// Name of the directive.
    pub name: DirectiveName,
    pub text: &'a str,
    /// The version that must be active; 0 for the built-in text. `None` replaces any version.
    pub expected_version: Option<i32>,
    pub now: DateTime<Utc>,
}

/// Activates a text as a new version, and deletes the oldest version above the limit. If the text is already active,
/// no version is created and `expected_version` is ignored. So a request can be repeated if its answer was lost.
/// Returns the active directive, and whether it was already active.
///
/// # Errors
/// `VersionConflict` if another version is active.
pub async fn put(tx: &mut TenantTx, new: NewDirective<'_>) -> Result<(Directive, bool)> {
    let current = lock(tx, new.name).await?;
    if let Some(current) = &current
        && current.text == new.text
    {
        return Ok((current.clone(), true));
    }
    let current_version = current.as_ref().map_or(0, |current| current.version);
    if new.expected_version.is_some_and(|expected| expected != current_version) {
        return Err(Error::VersionConflict { current_version });
    }
    retire(tx, new.name).await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let row = sqlx::query_as!(
        DirectiveRow,
        r#"-- directives.put
        with made as (
            insert into directives (tenant_id, name, version, text, digest, actor, created_at, in_force)
            select $1, $3, 1 + coalesce(max(d.version), 0), $4, sha256(convert_to($4, 'UTF8')), $5, $6, true
            from directives d where d.tenant_id = $1 and d.name = $3
            returning name, version, text, digest, actor, created_at
        ), forgotten as (
            delete from directives d using made
            where d.tenant_id = $1 and d.name = $3 and d.version <= made.version - $8
        ), noted as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
            select $1, $2, $7, $6, $5, 'directive.put', name, jsonb_build_object('version', version),
                   (select o.digest from directives o where o.tenant_id = $1 and o.name = $3 and o.version = $9), digest
            from made
        )
        select name as "name: Word<DirectiveName>", version, text, digest, app.shown_actor(actor) as "actor!", created_at
        from made"#,
        tenant,
        user,
        new.name.as_str(),
        new.text,
        actor,
        new.now,
        new_id(),
        DIRECTIVE_VERSIONS,
        current.map(|current| current.version)
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    Ok((row.into(), false))
}

/// Activates the built-in text. The versions stay, and later versions continue their numbers. Has no effect if the
/// built-in text is already active.
pub async fn delete(tx: &mut TenantTx, name: DirectiveName, now: DateTime<Utc>) -> Result<()> {
    lock(tx, name).await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    sqlx::query!(
        "-- directives.delete
        with retired as (
            update directives set in_force = false where tenant_id = $1 and name = $3 and in_force
            returning version, digest
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest)
        select $1, $2, $4, $5, $6, 'directive.delete', $3, jsonb_build_object('version', version), digest from retired",
        tenant,
        user,
        name.as_str(),
        new_id(),
        now,
        actor
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}

/// Returns the active version after waiting for concurrent changes to the tenant's directives.
async fn lock(tx: &mut TenantTx, name: DirectiveName) -> Result<Option<Directive>> {
    tenants::count_alone(tx, "directives").await?;
    find(tx, name, None).await
}

/// Deactivates the current version before the next one is activated, because only one may be active.
async fn retire(tx: &mut TenantTx, name: DirectiveName) -> Result<()> {
    let tenant = tx.tenant();
    sqlx::query!(
        "-- directives.retire
        update directives set in_force = false where tenant_id = $1 and name = $2 and in_force",
        tenant,
        name.as_str()
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}
