//! Whose tokens a tenant's users come with.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt};
use knowhow_domain::{Error, Result, new_id};
use uuid::Uuid;

use crate::across::system::{self, KeyAddress};
use crate::credential::{Algorithm, read_url};
use crate::error::{is_unique_violation, refuse};
use crate::{Database, GateState, TenantTx};

/// Addresses of keys that are asked in one examination, the newest, and how many of them at once.
const EXAMINED: i64 = 500;
const AT_ONCE: usize = 32;

/// An issuer, without its secret.
#[derive(Debug, Clone)]
pub struct IssuerRow {
    /// The id.
    pub id: Uuid,
    /// `iss` of its tokens.
    pub iss: String,
    /// `aud` of its tokens.
    pub audience: String,
    /// The one algorithm its tokens are signed with.
    pub algorithm: String,
    /// Where its public keys are.
    pub jwks_url: Option<String>,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
}

/// Registers an issuer. `sealed_secret` goes with HS256, `row.jwks_url` with the others.
///
/// # Errors
/// `Conflict` where the tenant has one of that `iss`.
pub async fn create(tx: &mut TenantTx, row: &IssuerRow, sealed_secret: Option<&[u8]>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    sqlx::query!(
        "-- issuers.create
        with made as (
            insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, sealed_secret, created_at)
            values ($1, $3, $4, $5, $6, $7, $8, $9)
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        values ($1, $2, $10, $9, $11, 'issuer.create', $4)",
        tenant,
        user,
        row.id,
        row.iss,
        row.audience,
        row.algorithm,
        row.jwks_url,
        sealed_secret,
        row.created_at,
        new_id(),
        actor
    )
    .execute(tx.conn())
    .await
    .map_err(|e| {
        if is_unique_violation(&e) {
            Error::Conflict { code: "issuer-exists", detail: format!("the issuer '{}' is registered already", row.iss) }
        } else {
            refuse(e)
        }
    })?;
    Ok(())
}

/// A page in the order of `iss`, behind `after`.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, after: &str, limit: i64) -> Result<Vec<IssuerRow>> {
    let tenant = tx.tenant();
    sqlx::query_as!(
        IssuerRow,
        "-- issuers.list
        select issuer_id as id, iss, audience, algorithm, jwks_url, created_at from issuers
        where tenant_id = $1 and iss > $2
        order by iss
        limit $3",
        tenant,
        after,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Removes an issuer: its tokens stop working within a second.
///
/// # Errors
/// `NotFound`.
pub async fn delete(tx: &mut TenantTx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let gone = sqlx::query!(
        "-- issuers.delete
        with gone as (
            delete from issuers where tenant_id = $1 and issuer_id = $3 returning iss
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select $1, $2, $4, $5, $6, 'issuer.delete', iss from gone",
        tenant,
        user,
        id,
        new_id(),
        now,
        actor
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if gone == 0 { Err(Error::not_found("issuer")) } else { Ok(()) }
}

/// Whose keys cannot be had now, and why, each in a sentence: of all tenants, for whoever runs the deployment. Callers are
/// not told.
///
/// # Errors
/// `Unavailable` where the database is out of reach.
pub async fn examine(db: &Database, state: &GateState) -> Result<Vec<String>> {
    let addresses = system::list_key_addresses(db, EXAMINED).await?;
    let asked = stream::iter(addresses).map(|address| examine_one(state, address)).buffered(AT_ONCE);
    Ok(asked.filter_map(async |finding| finding).collect().await)
}

async fn examine_one(state: &GateState, address: KeyAddress) -> Option<String> {
    let KeyAddress { slug, iss, algorithm, jwks_url } = address;
    let why = match (jwks_url.parse(), algorithm.parse::<Algorithm>()) {
        (Ok(url), Ok(algorithm)) => state.jwks.examine(&url, algorithm, state.private_issuers()).await?,
        _ => read_url(&jwks_url, state.private_issuers()).err()?,
    };
    Some(format!("the keys of the issuer '{iss}' of the tenant '{slug}' cannot be had from {jwks_url}: {why}"))
}
