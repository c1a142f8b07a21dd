//! Remembers callers in memory: tenants with their issuers, API keys, users. Entries live a second where a
//! revocation must bite, so a request costs no query and a revoked key dies within a second.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use knowhow_domain::{Clock, Error, Result, Scopes, TenantId, TenantSettings, UserId};
use moka::future::Cache;
use uuid::Uuid;

use crate::Database;
use crate::across::refused::RefusedLogins;
use crate::across::system;
use crate::credential::{Issuer, JwksCache, Sealer};
use crate::vault::principal::OperatorIssuer;

const REVOCATION: Duration = Duration::from_millis(900);
const USERS: Duration = Duration::from_secs(600);
const KEY_USE: Duration = Duration::from_secs(60);

/// A tenant as credentials need it.
pub(crate) struct KnownTenant {
    pub(crate) id: TenantId,
    pub(crate) slug: String,
    pub(crate) settings: TenantSettings,
    pub(crate) issuers: Vec<Issuer>,
}

impl KnownTenant {
    /// Where an operator stands whose token names no tenant: no row has this id.
    pub(crate) fn nowhere() -> Self {
        Self {
            id: TenantId(Uuid::nil()),
            slug: String::new(),
            settings: TenantSettings::default(),
            issuers: Vec::new(),
        }
    }
}

/// An API key as stored.
pub(crate) struct KnownKey {
    pub(crate) id: Uuid,
    pub(crate) tenant: Arc<KnownTenant>,
    pub(crate) secret_hash: Vec<u8>,
    pub(crate) scopes: Scopes,
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) revoked_at: Option<DateTime<Utc>>,
}

impl KnownKey {
    pub(crate) fn is_live(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

/// A user as seen at first sight.
#[derive(Clone)]
pub(crate) struct KnownUser {
    pub(crate) id: UserId,
    pub(crate) starters_release: Option<Arc<[u8]>>,
}

/// Shared by all gates of the process.
pub struct GateState {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sealer: Sealer,
    pub(crate) jwks: JwksCache,
    pub(crate) audience: String,
    pub(crate) operator: Option<OperatorIssuer>,
    private_issuers: bool,
    tenants: Cache<String, Option<Arc<KnownTenant>>>,
    keys: Cache<String, Arc<Vec<KnownKey>>>,
    users: Cache<(TenantId, String), KnownUser>,
    key_uses: moka::sync::Cache<Uuid, ()>,
    pub(crate) refused: RefusedLogins,
}

/// What a deployment decides about credentials.
pub struct GateConfig {
    /// Master secret of the deployment, at least 32 bytes: hashes API keys, seals issuers' secrets.
    pub secret_key: Vec<u8>,
    /// `aud` that every token must carry.
    pub audience: String,
    /// The deployment's own issuer.
    pub operator: Option<OperatorIssuer>,
    /// Whether issuers may name key URLs in private networks and over plain HTTP (development, closed networks).
    pub private_issuers: bool,
}

impl GateState {
    /// Empty memory.
    ///
    /// # Errors
    /// `Malformed` for a master secret under 32 bytes; `Internal` where the machine has no certificate roots.
    pub fn new(config: GateConfig, clock: Arc<dyn Clock>) -> Result<Self> {
        Ok(Self {
            sealer: Sealer::new(&config.secret_key)
                .map_err(|e| Error::Malformed(format!("KNOWHOW_SECRET_KEY: {e}")))?,
            jwks: JwksCache::new(clock.clone()).map_err(Error::internal)?,
            clock,
            audience: config.audience,
            operator: config.operator,
            private_issuers: config.private_issuers,
            tenants: Cache::builder().max_capacity(10_000).time_to_live(REVOCATION).build(),
            keys: Cache::builder().max_capacity(10_000).time_to_live(REVOCATION).build(),
            users: Cache::builder().max_capacity(200_000).time_to_live(USERS).build(),
            key_uses: moka::sync::Cache::builder().max_capacity(10_000).time_to_live(KEY_USE).build(),
            refused: RefusedLogins::default(),
        })
    }

    pub(crate) async fn tenant(&self, db: &Database, slug: &str) -> Result<Option<Arc<KnownTenant>>> {
        if let Some(known) = self.tenants.get(slug).await {
            return Ok(known);
        }
        let found = system::find_tenant(db, slug, &self.sealer, self.private_issuers).await?.map(Arc::new);
        self.tenants.insert(slug.to_owned(), found.clone()).await;
        Ok(found)
    }

    /// Looks tenants up anew from now on.
    pub fn forget_tenants(&self) {
        self.tenants.invalidate_all();
    }

    pub(crate) async fn keys(&self, db: &Database, prefix: &str) -> Result<Arc<Vec<KnownKey>>> {
        if let Some(known) = self.keys.get(prefix).await {
            return Ok(known);
        }
        let found = Arc::new(system::find_keys(db, prefix).await?);
        self.keys.insert(prefix.to_owned(), found.clone()).await;
        Ok(found)
    }

    /// The user that a tenant with these settings calls `external`; made at first sight, as the audit log says for `actor`.
    pub(crate) async fn user(
        &self,
        db: &Database,
        (tenant, settings): (TenantId, &TenantSettings),
        external: &str,
        actor: &str,
    ) -> Result<KnownUser> {
        let key = (tenant, external.to_owned());
        if let Some(known) = self.users.get(&key).await {
            return Ok(known);
        }
        let found = system::ensure_user(db, (tenant, settings.users), external, actor, self.clock.now()).await?;
        self.users.insert(key, found.clone()).await;
        Ok(found)
    }

    /// Remembers that the user has this release of the starter skills.
    pub async fn note_starters(&self, principal: &crate::Principal, release: &[u8]) {
        if let (Ok(id), Some(external)) = (principal.user(), principal.external_id()) {
            let known = KnownUser { id, starters_release: Some(release.into()) };
            self.users.insert((principal.tenant(), external.to_owned()), known).await;
        }
    }

    pub(crate) fn use_is_due(&self, key: Uuid) -> bool {
        let due = !self.key_uses.contains_key(&key);
        if due {
            self.key_uses.insert(key, ());
        }
        due
    }

    /// Whether key URLs in private networks are taken.
    pub fn private_issuers(&self) -> bool {
        self.private_issuers
    }

    /// `aud` that every token must carry.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// What seals and hashes secrets.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }
}
