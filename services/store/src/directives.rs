//! A tenant's own directives, in versions. Prompts have the version that is in force; where none is, the built-in text.

mod versions;

use chrono::{DateTime, Utc};
use knowhow_domain::directive::DIRECTIVE_VERSIONS;
use knowhow_domain::{Directive, DirectiveName, Error, Result, manifest, new_id};

pub use versions::{list_in_force, list_versions};

use crate::error::refuse;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, TenantTx, tenants};

row! {
    struct Row {
        name: Word<DirectiveName>, version: i32, text: String, digest: Vec<u8>, actor: String, created_at: DateTime<Utc>,
    }
}

impl From<Row> for Directive {
    fn from(row: Row) -> Self {
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

// The tenant's, whichever of its users the job is of.
statement! {
    read FindInForce { name: String } -> Row,
    "-- directives.find_in_force
    select d.name, d.version, d.text, d.digest, app.shown_actor(d.actor) as actor, d.created_at from directives d
    where d.tenant_id = $1 and d.name = $3 and d.in_force and $2::uuid is not null"
}

/// The tenant's text that prompts have, in one round trip, for a job of any of its users; `None` where it has none.
///
/// # Errors
/// `Unavailable`.
pub async fn find_in_force(db: &Database, principal: &Principal, name: DirectiveName) -> Result<Option<Directive>> {
    let rows = read(db, principal, FindInForce { name: name.as_str().to_owned() }).await?;
    Ok(rows.into_iter().next().map(Directive::from))
}

/// A version of the tenant's, or the one in force; `None` where there is no such one.
///
/// # Errors
/// `Unavailable`.
pub async fn find(tx: &mut TenantTx, name: DirectiveName, version: Option<i32>) -> Result<Option<Directive>> {
    let tenant = tx.tenant();
    let row = sqlx::query_as!(
        Row,
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

/// A text to put.
#[derive(Debug, Clone, Copy)]
pub struct NewDirective<'a> {
    /// The prompt that it is part of.
    pub name: DirectiveName,
    /// The whole text.
    pub text: &'a str,
    /// The version that must be in force; 0 for the built-in text.
    pub expected_version: Option<i32>,
    /// When.
    pub now: DateTime<Utc>,
}

/// Puts a text in force, as a new version; the oldest one leaves. The text that is in force already makes none, whatever
/// version was expected: a request whose answer was lost may be sent again. The directive now, and whether it was like this
/// already.
///
/// # Errors
/// `VersionConflict` where another version is in force.
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
        Row,
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

/// Puts the built-in text in force again. Versions stay, and go on counting. Where it is in force already, nothing happens.
///
/// # Errors
/// `Unavailable`.
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

/// The version in force, once no other change of the tenant's directives is on its way.
async fn lock(tx: &mut TenantTx, name: DirectiveName) -> Result<Option<Directive>> {
    tenants::count_alone(tx, "directives").await?;
    find(tx, name, None).await
}

/// Takes a name's version out of force, ahead of the next one: of a name only one may be.
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
