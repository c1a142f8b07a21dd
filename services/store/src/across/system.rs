//! What must be known before there is a principal: the tenant that a token names, and its user, who is made on first
//! sight; and, for the operator, where the keys of all tenants' issuers come from. Each statement says why it cannot
//! run as one tenant.

mod api_keys;
mod owner;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Algorithm, Error, Result, TenantId, UserId, new_id};
use serde_json::Value;
use uuid::Uuid;

pub(crate) use api_keys::{FindKeys, KeyUse, Rehashed, find_keys, note_key_use};
pub(crate) use owner::{Claim, Owner, find_owner};

use crate::credential::{Issuer, IssuerKeys};
use crate::error::refuse;
use crate::vault::gate::{Found, GateState, KnownTenant, KnownUser, Origin, TenantLibrary};
use crate::vault::pipeline::look_up;
use crate::vault::principal::check_new_external_id;
use crate::vault::tx::SystemTx;
use crate::vault::{Word, row, statement};
use crate::{Database, tenants};

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
        iss: String, audience: String, algorithm: Word<Algorithm>, jwks_url: Option<String>, sealed_secret: Option<Vec<u8>>,
    }
}

statement! {
    look_up FindTenant<'a> { slug: &'a str, iss: &'a str } -> (TenantRow, Option<IssuerRow>),
    "-- system.find_tenant
    select t.tenant_id, t.slug, t.settings, t.library, t.erasures, t.suspended_reason,
           exists (select from tenants_elsewhere e where e.tenant = t.tenant_id) as is_elsewhere,
           i.iss, i.audience, i.algorithm, i.jwks_url, i.sealed_secret
    from tenants t
    left join issuers i on i.tenant_id = t.tenant_id and i.iss = $2
    where t.slug = $1"
}

/// Finds a tenant by its slug, with one of its issuers.
///
/// Why: a token names its tenant; nothing is verified yet, so there is no tenant to run as.
pub(crate) async fn find_tenant(db: &Database, origin: &Origin, gate: &GateState) -> Result<Option<Found>> {
    let Origin { slug, iss } = origin;
    let Some((row, issuer)) = look_up(db, FindTenant { slug, iss }).await?.pop() else { return Ok(None) };
    let tenant = row.into_known(db);
    let issuer = issuer.map(|row| open_issuer(row, tenant.id, gate)).transpose()?.flatten();
    Ok(Some(Found { tenant: Arc::new(tenant), issuer: issuer.map(Arc::new) }))
}

/// Reads an issuer; `None` if its secret was sealed under another KNOWHOW_SECRET_KEY.
fn open_issuer(row: IssuerRow, tenant: TenantId, gate: &GateState) -> Result<Option<Issuer>> {
    let IssuerRow { iss, audience, algorithm: Word(algorithm), jwks_url, sealed_secret } = row;
    let keys = match (sealed_secret, jwks_url) {
        (Some(sealed), _) => match gate.sealer.open(&sealed, tenant.0.as_bytes()) {
            Ok(secret) => IssuerKeys::Hs256 { secret },
            Err(error) => {
                tracing::warn!(%error, tenant_id = %tenant.0, iss, "the secret of an issuer cannot be opened");
                return Ok(None);
            }
        },
        (None, Some(url)) => IssuerKeys::Jwks {
            url: url.parse().map_err(Error::internal)?,
            algorithm,
            private_network: gate.private_issuers(),
        },
        (None, None) => {
            return Err(Error::internal(format!("issuer {iss} has neither a secret nor an address of keys")));
        }
    };
    Ok(Some(Issuer { iss, audience, keys }))
}

/// A user who comes for the first time, or may.
pub(crate) struct Newcomer<'a> {
    pub(crate) tenant: TenantId,
    /// Erasures that the tenant is known to have had.
    pub(crate) erasures: i64,
    /// Most users of the tenant.
    pub(crate) most: u32,
    pub(crate) external_id: &'a str,
    /// Who is said to have made the user.
    pub(crate) by: &'a MadeBy<'a>,
    pub(crate) now: DateTime<Utc>,
}

/// Who makes a user, given the user's id: one who comes for the first time makes itself.
pub(crate) type MadeBy<'a> = dyn Fn(UserId) -> String + Sync + 'a;

/// Why: a user is made on first sight, before there is a user to run as. The tenant counts its users.
pub(crate) async fn ensure_user(db: &Database, newcomer: &Newcomer<'_>) -> Result<KnownUser> {
    let Newcomer { tenant, erasures, most, external_id, by, now } = *newcomer;
    let id = UserId(new_id());
    // A user who was made before there was this rule is still found.
    let allowed = check_new_external_id(external_id);
    let may_be_made = allowed.is_ok();
    // A second round is needed only where another request made the user between this statement's snapshot and its insert.
    for _ in 0..2 {
        let mut tx = SystemTx::begin_about(db, tenant, "system.ensure_user").await?;
        let row = sqlx::query!(
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
            tenant.0,
            external_id,
            id.0,
            now,
            i32::try_from(most).unwrap_or(i32::MAX),
            new_id(),
            by(id),
            may_be_made
        )
        .fetch_optional(tx.conn())
        .await
        .map_err(refuse)?;
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
            // Nobody was made, so nobody was counted: the transaction goes back.
            None => {}
        }
    }
    Err(Error::Unavailable("the user is being made by another request; try again".into()))
}

fn too_many_users(most: u32) -> Error {
    Error::Quota(format!(
        "the tenant has {most} users, its limit, and this one is new; ask the service's operator for more"
    ))
}

/// An address that an issuer's keys are fetched from.
pub(crate) struct KeyAddress {
    pub(crate) slug: String,
    pub(crate) iss: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) jwks_url: String,
}

/// Why: the operator asks of all tenants at once whether the keys of their issuers can be had.
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
