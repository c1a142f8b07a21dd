//! Issuers of tokens for a tenant's users.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt};
use knowhow_domain::{Algorithm, Error, Issuer, IssuerId, Result, new_id};

use crate::across::system::{self, KeyAddress};
use crate::across::tenants;
use crate::vault::Word;
use crate::vault::credential::{Sealer, read_url};
use crate::vault::error::{is_unique_violation, refuse};
use crate::{Database, GateState, TenantTx};

/// Maximum number of key URLs in one check; the newest are checked.
const EXAMINED: i64 = 500;
/// Maximum number of concurrent requests in one check.
const AT_ONCE: usize = 32;

/// Registers an issuer. `sealed_secret` is for HS256, `issuer.jwks_url` for other algorithms.
///
/// # Errors
/// `Conflict` if the tenant has an issuer with this `iss`; `Quota` if it has `limit` issuers.
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
                detail: format!("the issuer '{}' is already registered", issuer.iss),
            }
        } else {
            refuse(e)
        }
    })?
    .rows_affected();
    if made == 0 {
        return Err(Error::Quota(format!(
            "the tenant has reached its limit of {limit} issuers; remove one, or ask the service's operator for more"
        )));
    }
    Ok(())
}

/// An issuer with a secret that the service can sign tokens with.
pub struct SigningIssuer {
    pub iss: String,
    pub audience: String,
    /// The shared secret of HS256 tokens, not encrypted.
    pub secret: Vec<u8>,
}

/// Finds the tenant's oldest issuer with a shared secret that this service can decrypt.
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

/// Lists a page of issuers in the order of `iss`, starting after `after`.
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

/// Deletes an issuer and returns its `iss`. Its tokens stop working within a second.
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

/// Checks the key URLs of all tenants' issuers, for an operator. Returns a sentence for each failure, which other
/// callers must not see.
///
/// # Errors
/// `Unavailable` if the database is unreachable.
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
    Some(format!("the keys of the issuer '{iss}' of the tenant '{slug}' cannot be fetched from {jwks_url}: {why}"))
}
