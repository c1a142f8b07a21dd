//! The few statements across tenants. Each says why it cannot run as one tenant.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{Algorithm, Error, KeyId, Result, TenantId, UserId, new_id};
use serde_json::Value;

use crate::credential::{Issuer, IssuerKeys};
use crate::error::{is_being_moved, refuse};
use crate::vault::Word;
use crate::vault::gate::{GateState, KnownKey, KnownTenant, KnownUser, TenantLibrary};
use crate::vault::tx::SystemTx;
use crate::{Database, tenants};

/// Why: a token names its tenant; nothing is verified yet, so there is no tenant to run as.
pub(crate) async fn find_tenant(db: &Database, slug: &str, gate: &GateState) -> Result<Option<KnownTenant>> {
    let mut tx = SystemTx::begin(db, "system.find_tenant").await?;
    let rows = sqlx::query!(
        r#"-- system.find_tenant
        select t.tenant_id, t.slug, t.settings, t.library, t.erasures, t.suspended_reason, i.iss as "iss?", i.audience as "audience?",
               exists (select from tenants_elsewhere e where e.tenant = t.tenant_id) as "is_elsewhere!",
               i.algorithm as "algorithm?: Word<Algorithm>", i.jwks_url, i.sealed_secret
        from tenants t
        left join issuers i on i.tenant_id = t.tenant_id
        where t.slug = $1"#,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let id = TenantId(first.tenant_id);
    let mut known = KnownTenant {
        id,
        place: db.here(),
        is_elsewhere: first.is_elsewhere,
        slug: first.slug.clone(),
        settings: tenants::read_settings(first.settings.clone())?,
        library: first.library.clone().map(TenantLibrary::from),
        erasures: first.erasures,
        suspended: first.suspended_reason.as_deref().map(Arc::from),
        issuers: Vec::with_capacity(rows.len()),
    };
    for row in rows {
        let (Some(iss), Some(audience), Some(Word(algorithm))) = (row.iss, row.audience, row.algorithm) else {
            continue;
        };
        let keys = match row.sealed_secret {
            Some(sealed) => match gate.sealer.open(&sealed, id.0.as_bytes()) {
                Ok(secret) => IssuerKeys::Hs256 { secret },
                // Sealed under another KNOWHOW_SECRET_KEY: its tokens fail, those of the tenant's other issuers do not.
                Err(error) => {
                    tracing::warn!(%error, tenant_id = %id.0, iss, "an issuer is of no use");
                    continue;
                }
            },
            None => IssuerKeys::Jwks {
                url: row
                    .jwks_url
                    .ok_or_else(|| {
                        Error::internal(format!("issuer {iss} has neither a secret nor an address of keys"))
                    })?
                    .parse()
                    .map_err(Error::internal)?,
                algorithm,
                private_network: gate.private_issuers(),
            },
        };
        known.issuers.push(Arc::new(Issuer { iss, audience, keys }));
    }
    Ok(Some(known))
}

/// Why: a key is looked up by its prefix, and only the row says whose it is.
pub(crate) async fn find_keys(db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let mut tx = SystemTx::begin(db, "system.find_keys").await?;
    let rows = sqlx::query!(
        r#"-- system.find_keys
        select k.tenant_id, k.key_id, k.secret_hash, k.hashed_under, k.scopes, k.expires_at, k.revoked_at,
               t.slug, t.settings, t.library, t.erasures, t.suspended_reason,
               exists (select from tenants_elsewhere e where e.tenant = t.tenant_id) as "is_elsewhere!"
        from api_keys k
        join tenants t on t.tenant_id = k.tenant_id
        where k.prefix = $1"#,
        prefix
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    rows.into_iter()
        .map(|row| {
            Ok(KnownKey {
                id: KeyId(row.key_id),
                tenant: Arc::new(KnownTenant {
                    id: TenantId(row.tenant_id),
                    place: db.here(),
                    is_elsewhere: row.is_elsewhere,
                    slug: row.slug,
                    settings: tenants::read_settings(row.settings)?,
                    library: row.library.map(TenantLibrary::from),
                    erasures: row.erasures,
                    suspended: row.suspended_reason.map(Arc::from),
                    issuers: Vec::new(),
                }),
                secret_hash: row.secret_hash,
                hashed_under: row.hashed_under,
                // One that only a later release knows gives no right here.
                scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
            })
        })
        .collect()
}

/// An API key that was used.
pub(crate) struct KeyUse {
    pub(crate) tenant: TenantId,
    pub(crate) key: KeyId,
    pub(crate) now: DateTime<Utc>,
    /// Its secret under the current master key, where the row has another hash or does not say under which it is.
    pub(crate) rehashed: Option<Rehashed>,
}

/// A secret's hash, and the mark of the master key that it is under.
pub(crate) struct Rehashed {
    pub(crate) hash: Vec<u8>,
    pub(crate) mark: Vec<u8>,
}

/// Why: the login of a key is not yet a principal when its use is noted.
pub(crate) async fn note_key_use(db: &Database, used: &KeyUse) -> Result<()> {
    let (hash, mark) = used.rehashed.as_ref().map(|anew| (&anew.hash[..], &anew.mark[..])).unzip();
    let mut tx = SystemTx::begin_about(db, used.tenant, "system.note_key_use").await?;
    sqlx::query!(
        "-- system.note_key_use
        update api_keys
        set last_used_at = $3, secret_hash = coalesce($4, secret_hash), hashed_under = coalesce($5, hashed_under)
        where tenant_id = $1 and key_id = $2",
        used.tenant.0,
        used.key.0,
        used.now,
        hash,
        mark
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
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
                where t.tenant_id = $1 and t.user_count < $5 and not exists (select from found)
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
            by(id)
        )
        .fetch_optional(tx.conn())
        .await
        .map_err(refuse)?;
        match row {
            Some(row) if row.is_full => return Err(too_many_users(most)),
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

/// A user and the tenant around it.
pub(crate) struct Owner {
    pub(crate) tenant: KnownTenant,
    pub(crate) external_id: String,
    pub(crate) starters_release: Option<Arc<[u8]>>,
    /// Why and since when the user's jobs wait, where they do.
    pub(crate) suspended: Option<(Error, DateTime<Utc>)>,
}

/// What a job says of itself.
pub(crate) struct Claim<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) task: &'a str,
    pub(crate) payload: &'a Value,
}

/// Why: a claimed job says whose it is; until the row is found there is nobody to run as. Also whether the job was put into
/// the queue by the database, for them. `Unavailable` where the tenant lives elsewhere, so that its rows are hidden: asked in the same
/// statement, as it may come back in between.
pub(crate) async fn find_owner(db: &Database, claim: &Claim<'_>) -> Result<Option<(Owner, bool)>> {
    let mut tx = SystemTx::begin(db, "system.find_owner").await?;
    let row = sqlx::query!(
        r#"-- system.find_owner
        select w.is_elsewhere as "is_elsewhere!", o.slug as "slug?", o.settings as "settings?", o.library, o.erasures as "erasures?",
               o.external_id as "external_id?", o.starters_release, app.is_sealed($3, $4) as "is_sealed!",
               o.tenant_suspended, o.tenant_suspended_at, o.user_suspended, o.user_suspended_at
        from (select exists (select from tenants_elsewhere e where e.tenant = $1) as is_elsewhere) w
        left join (
            select t.slug, t.settings, t.library, t.erasures, u.external_id, c.starters_release,
                   t.suspended_reason as tenant_suspended, t.suspended_at as tenant_suspended_at,
                   u.suspended_reason as user_suspended, u.suspended_at as user_suspended_at
            from users u
            join tenants t on t.tenant_id = u.tenant_id
            join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
            where u.tenant_id = $1 and u.user_id = $2 and u.erased_at is null) o on true"#,
        claim.tenant.0,
        claim.user.0,
        claim.task,
        claim.payload
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    if row.is_elsewhere {
        return Err(is_being_moved());
    }
    let (Some(slug), Some(settings), Some(erasures), Some(external_id)) =
        (row.slug, row.settings, row.erasures, row.external_id)
    else {
        return Ok(None);
    };
    let since = |what, reason: Option<String>, at: Option<DateTime<Utc>>| {
        reason.zip(at).map(|(reason, at)| (Error::Suspended { what, reason }, at))
    };
    let of_tenant = since("tenant", row.tenant_suspended, row.tenant_suspended_at);
    let of_user = since("user", row.user_suspended, row.user_suspended_at);
    let owner = Owner {
        tenant: KnownTenant {
            id: claim.tenant,
            place: db.here(),
            is_elsewhere: false,
            slug,
            settings: tenants::read_settings(settings)?,
            library: row.library.map(TenantLibrary::from),
            erasures,
            suspended: None,
            issuers: Vec::new(),
        },
        suspended: of_tenant.or(of_user),
        external_id,
        starters_release: row.starters_release.map(Arc::from),
    };
    Ok(Some((owner, row.is_sealed)))
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
