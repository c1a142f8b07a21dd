//! Whose tokens a tenant's users come with.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt};
use knowhow_domain::{Algorithm, Error, Issuer, IssuerId, Result, new_id};

use crate::across::system::{self, KeyAddress};
use crate::across::tenants;
use crate::credential::{Sealer, read_url};
use crate::error::{is_unique_violation, refuse};
use crate::vault::Word;
use crate::{Database, GateState, TenantTx};

/// Addresses of keys that are asked in one examination, the newest, and how many of them at once.
const EXAMINED: i64 = 500;
const AT_ONCE: usize = 32;

/// Registers an issuer. `sealed_secret` goes with HS256, `issuer.jwks_url` with the others.
///
/// # Errors
/// `Conflict` if the tenant has one of that `iss`; `Quota` if it has `limit` issuers.
pub async fn create(tx: &mut TenantTx, issuer: &Issuer, sealed_secret: Option<&[u8]>, limit: u32) -> Result<()> {
    tenants::count_alone(tx, "issuers").await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let made = sqlx::query!(
        "-- issuers.create
        with made as (
            insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, sealed_secret, created_at)
            select $1, $3, $4, $5, $6, $7, $8, $9
            where $12 > (select count(*) from issuers where tenant_id = $1)
            returning iss
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select $1, $2, $10, $9, $11, 'issuer.create', iss from made",
        tenant,
        user,
        issuer.id.0,
        issuer.iss,
        issuer.audience,
        issuer.algorithm.as_str(),
        issuer.jwks_url,
        sealed_secret,
        issuer.created_at,
        new_id(),
        actor,
        i64::from(limit)
    )
    .execute(tx.conn())
    .await
    .map_err(|e| {
        if is_unique_violation(&e) {
            Error::Conflict {
                code: "issuer-exists",
                detail: format!("the issuer '{}' is registered already", issuer.iss),
            }
        } else {
            refuse(e)
        }
    })?
    .rows_affected();
    if made == 0 {
        return Err(Error::Quota(format!(
            "the tenant has {limit} issuers, the limit; remove one, or ask the service's operator for more"
        )));
    }
    Ok(())
}

/// An issuer whose tokens the service can sign.
pub struct SigningIssuer {
    pub iss: String,
    pub audience: String,
    /// HS256 secret.
    pub secret: Vec<u8>,
}

/// Finds the oldest issuer of the tenant that has a shared secret and whose secret can be opened.
///
/// # Errors
/// `Unavailable`.
pub async fn find_signing(tx: &mut TenantTx, sealer: &Sealer) -> Result<Option<SigningIssuer>> {
    let tenant = tx.tenant();
    let rows = sqlx::query!(
        r#"-- issuers.find_signing
        select iss, audience, sealed_secret as "sealed_secret!"
        from issuers where tenant_id = $1 and sealed_secret is not null
        order by created_at limit 100"#,
        tenant
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows.into_iter().find_map(|row| {
        let secret = sealer.open(&row.sealed_secret, tenant.as_bytes()).ok()?;
        Some(SigningIssuer { iss: row.iss, audience: row.audience, secret })
    }))
}

/// A page in the order of `iss`, behind `after`.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, after: &str, limit: i64) -> Result<Vec<Issuer>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        Issuer,
        r#"-- issuers.list
        select issuer_id as id, $4::text as "tenant!", iss, audience, algorithm as "algorithm: Word<Algorithm>",
               jwks_url, created_at
        from issuers
        where tenant_id = $1 and iss > $2
        order by iss
        limit $3"#,
        tenant,
        after,
        limit,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Removes an issuer, whose tokens stop working within a second, and returns its `iss`.
///
/// # Errors
/// `NotFound`.
pub async fn delete(tx: &mut TenantTx, id: IssuerId, now: DateTime<Utc>) -> Result<String> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let gone = sqlx::query_scalar!(
        "-- issuers.delete
        with gone as (
            delete from issuers where tenant_id = $1 and issuer_id = $3 returning iss
        ), noted as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
            select $1, $2, $4, $5, $6, 'issuer.delete', iss from gone
        )
        select iss from gone",
        tenant,
        user,
        id.0,
        new_id(),
        now,
        actor
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    gone.ok_or_else(|| Error::not_found("issuer"))
}

/// Whose keys cannot be had now, and why, each in a sentence: of all tenants, for the operator. Callers are
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
    let why = match jwks_url.parse() {
        Ok(url) => state.jwks.examine(&url, algorithm, state.private_issuers()).await?,
        Err(_) => read_url(&jwks_url, state.private_issuers()).err()?,
    };
    Some(format!("the keys of the issuer '{iss}' of the tenant '{slug}' cannot be had from {jwks_url}: {why}"))
}
