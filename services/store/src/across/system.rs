//! Queries that run before a principal exists: they find the tenant of a token, and find or create its user. Also
//! lists the key URLs of all issuers, for operators. Each statement explains why it cannot run for a single tenant.

mod api_keys;
mod console;
mod owner;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Algorithm, Error, IssuerId, Result, TenantId, UserId, new_id};
use serde_json::Value;
use uuid::Uuid;

pub(crate) use api_keys::{FindKeys, KeyUse, Rehashed, find_keys, note_key_use};
pub(crate) use console::{ConsoleRow, FindConsoleSession, SearchedSession, find_console_session};
pub(crate) use owner::{Claim, OwnerDetails, find_owner};

use crate::Database;
use crate::across::tenants;
use crate::vault::credential::{Issuer, IssuerKeys, Sealer};
use crate::vault::error::refuse;
use crate::vault::external_id::check_new_external_id;
use crate::vault::known_callers::{Found, KnownTenant, KnownUser, Origin, TenantLibrary};
use crate::vault::pipeline::look_up;
use crate::vault::tx::SystemTx;
use crate::vault::{Word, row, statement};

row! {
    struct TenantRow {
        tenant_id: Uuid, slug: String, settings: Value, library: Option<Vec<i32>>, erasures: i64,
        suspended_reason: Option<String>, is_elsewhere: bool,
    }
}

impl TenantRow {
    fn into_known(self, db: &Database) -> KnownTenant {
        KnownTenant {
            id: TenantId(self.tenant_id),
            place: db.here(),
            is_elsewhere: self.is_elsewhere,
            slug: self.slug,
            settings: tenants::read_settings(self.tenant_id, &self.settings),
            library: self.library.map(TenantLibrary::from),
            erasures: self.erasures,
            suspended: self.suspended_reason.map(Arc::from),
        }
    }
}

row! {
    struct IssuerRow {
        issuer_id: Uuid, iss: String, audience: String, algorithm: Word<Algorithm>, jwks_url: Option<String>, sealed_secret: Option<Vec<u8>>,
    }
}

statement! {
    look_up FindTenant<'a> { slug: &'a str, iss: &'a str } -> (TenantRow, Option<IssuerRow>),
    "-- system.find_tenant
    select t.tenant_id, t.slug, t.settings, t.library, t.erasures, t.suspended_reason,
           exists (select from tenants_elsewhere e where e.tenant = t.tenant_id) as is_elsewhere,
           i.issuer_id, i.iss, i.audience, i.algorithm, i.jwks_url, i.sealed_secret
    from tenants t
    left join issuers i on i.tenant_id = t.tenant_id and i.iss = $2
    where t.slug = $1"
}

/// Finds a tenant by its slug, with one of its issuers.
///
/// Runs across tenants because the tenant of a token is not verified yet.
pub(crate) async fn find_tenant(db: &Database, origin: &Origin, issuers: &IssuerReader<'_>) -> Result<Option<Found>> {
    let Origin { slug, iss } = origin;
    let Some((row, issuer)) = look_up(db, FindTenant { slug, iss }).await?.pop() else { return Ok(None) };
    let tenant = row.into_known(db);
    let issuer = issuer.map(|row| issuers.read(row, tenant.id)).transpose()?.flatten();
    Ok(Some(Found { tenant: Arc::new(tenant), issuer: issuer.map(Arc::new) }))
}

/// Reads stored issuers.
pub(crate) struct IssuerReader<'a> {
    /// Decrypts shared secrets.
    pub(crate) sealer: &'a Sealer,
    /// Whether key URLs may point to private networks and use plain HTTP.
    pub(crate) private_network: bool,
}

impl IssuerReader<'_> {
    /// Converts the row of an issuer. Returns `None` if its secret was encrypted with another KNOWHOW_SECRET_KEY.
    fn read(&self, row: IssuerRow, tenant: TenantId) -> Result<Option<Issuer>> {
        let IssuerRow { issuer_id, iss, audience, algorithm: Word(algorithm), jwks_url, sealed_secret } = row;
        let keys = match (sealed_secret, jwks_url) {
            (Some(sealed), _) => match self.sealer.open(&sealed, tenant.0.as_bytes()) {
                Ok(secret) => IssuerKeys::Hs256 { secret },
                Err(error) => {
                    tracing::warn!(%error, tenant_id = %tenant.0, iss, "the secret of an issuer cannot be decrypted");
                    return Ok(None);
                }
            },
            (None, Some(url)) => IssuerKeys::Jwks {
                url: url.parse().map_err(Error::internal)?,
                algorithm,
                private_network: self.private_network,
            },
            (None, None) => {
                return Err(Error::internal(format!("issuer {iss} has neither a secret nor a key URL")));
            }
        };
        Ok(Some(Issuer { id: IssuerId(issuer_id), iss, audience, keys }))
    }
}

/// The user of a request, perhaps a new user.
pub(crate) struct RequestUser<'a> {
    pub(crate) tenant: TenantId,
    /// The tenant's erasure counter as the caller knows it.
    pub(crate) erasures: i64,
    /// Maximum number of users in the tenant.
    pub(crate) most: u32,
    pub(crate) external_id: &'a str,
    /// Returns the actor to record as the creator of the user.
    pub(crate) by: &'a MadeBy<'a>,
    pub(crate) now: DateTime<Utc>,
}

/// Returns the actor who creates a user, given the new user's id. If users send their first request themselves, they
/// count as their own creators.
pub(crate) type MadeBy<'a> = dyn Fn(UserId) -> String + Sync + 'a;

/// Finds or creates a user.
///
/// Runs across tenants because no principal exists yet, and because it updates the tenant's count of users.
pub(crate) async fn ensure_user(db: &Database, requested: &RequestUser<'_>) -> Result<KnownUser> {
    let RequestUser { tenant, erasures, most, external_id, .. } = *requested;
    let id = UserId(new_id());
    // Users that were created before this check existed are still found.
    let allowed = check_new_external_id(external_id);
    let may_be_made = allowed.is_ok();
    // A second attempt is only needed if another request created the user between this statement's snapshot and its
    // insert.
    for _ in 0..2 {
        let mut tx = SystemTx::begin_about(db, tenant, "system.ensure_user").await?;
        let row = find_or_insert_user(&mut tx, requested, id, may_be_made).await?;
        match row {
            Some(row) if row.is_full => return Err(allowed.err().unwrap_or_else(|| too_many_users(most))),
            Some(row) => {
                tx.commit().await?;
                let id = UserId(row.user_id.ok_or_else(|| Error::internal("a user without an id"))?);
                let starters_release = row.starters_release.map(Arc::from);
                return Ok(KnownUser {
                    id,
                    starters_release,
                    suspended: row.suspended_reason.map(Arc::from),
                    erasures,
                });
            }
            // No user was created, so the transaction, which increased the count, is rolled back.
            None => {}
        }
    }
    Err(Error::Unavailable("another request is creating the user; try again".into()))
}

/// A user that was found or created. The id is `None` if the tenant has too many users.
struct UserRow {
    user_id: Option<Uuid>,
    starters_release: Option<Vec<u8>>,
    suspended_reason: Option<String>,
    is_full: bool,
}

/// Finds a user, or creates one with this id if `may_be_made`. Returns `None` if another request created the user in
/// the meantime.
async fn find_or_insert_user(
    tx: &mut SystemTx,
    requested: &RequestUser<'_>,
    id: UserId,
    may_be_made: bool,
) -> Result<Option<UserRow>> {
    sqlx::query_as!(
        UserRow,
        r#"-- system.ensure_user
        with found as (
            select u.user_id, c.starters_release, u.suspended_reason
            from users u join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
            where u.tenant_id = $1 and u.external_id = $2
        ), counted as (
            update tenants t set user_count = t.user_count + 1
            where t.tenant_id = $1 and t.user_count < $5 and $8 and not exists (select from found)
            returning t.tenant_id
        ), made as (
            insert into users (tenant_id, user_id, external_id, created_at)
            select tenant_id, $3, $2, $4 from counted
            on conflict (tenant_id, external_id) do nothing
            returning user_id
        ), catalog as (
            insert into user_catalogs (tenant_id, user_id) select $1, user_id from made
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
            select $1, user_id, $6, $4, $7, 'user.create', user_id::text from made
        )
        select user_id, starters_release, suspended_reason, false as "is_full!" from found
        union all
        select user_id, null, null, false from made
        union all
        select null, null, null, true where not exists (select from found) and not exists (select from counted)"#,
        requested.tenant.0,
        requested.external_id,
        id.0,
        requested.now,
        i32::try_from(requested.most).unwrap_or(i32::MAX),
        new_id(),
        (requested.by)(id),
        may_be_made
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)
}

fn too_many_users(most: u32) -> Error {
    Error::Quota(format!(
        "the tenant has reached its limit of {most} users, and this user is new; ask the service's operator for more"
    ))
}

/// The key URL of an issuer.
pub(crate) struct KeyAddress {
    pub(crate) slug: String,
    pub(crate) iss: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) jwks_url: String,
}

/// Lists key URLs of issuers.
///
/// Runs across tenants because an operator checks whether all of them are reachable.
pub(crate) async fn list_key_addresses(db: &Database, limit: i64) -> Result<Vec<KeyAddress>> {
    let mut tx = SystemTx::begin(db, "system.list_key_addresses").await?;
    let rows = sqlx::query_as!(
        KeyAddress,
        r#"-- system.list_key_addresses
        select t.slug, i.iss, i.algorithm as "algorithm: Word<Algorithm>", i.jwks_url as "jwks_url!"
        from issuers i join tenants t on t.tenant_id = i.tenant_id
        where i.jwks_url is not null
        order by i.created_at desc
        limit $1"#,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(rows)
}
