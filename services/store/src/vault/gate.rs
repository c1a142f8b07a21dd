//! Caches of callers: tenants with their issuers, API keys and users. Entries that a revocation must affect live for
//! one second. So most requests need no query, and a revoked key stops working within a second.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Clock, Error, KeyId, Result, TenantId};
use moka::Entry;
use moka::future::Cache;
use moka::ops::compute::Op;

use crate::Database;
use crate::across::rejected_logins::RefusedLogins;
use crate::across::system::{self, IssuerReader, RequestUser};
use crate::vault::credential::{JwksCache, OperatorIssuer, Sealer, TokenCache};
use crate::vault::known_callers::{Found, KnownKey, KnownUser, Origin};
use crate::vault::recent_cache::Recent;
use crate::vault::tenant_locator::TenantLocator;

/// Time after its last use until a known name is dropped.
const KNOWN: Duration = Duration::from_secs(600);
/// Maximum number of cached known names.
const NAMES: u64 = 100_000;
/// Time to live of a cached user.
const USERS: Duration = Duration::from_secs(600);
/// Approximate capacity of the user cache in bytes, enough for about 200,000 users with external ids of average
/// length.
const USERS_BYTES: u64 = 64 * 1024 * 1024;
/// Minimum time between two updates of an API key's time of last use.
const KEY_USE: Duration = Duration::from_secs(60);

/// The public part of a credential, used to look it up.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// Prefix of an API key.
    Prefix(String),
    /// Tenant and issuer of a token.
    Origin(Origin),
    /// Hash of a console session's secret.
    Console([u8; 32]),
}

/// Caches and configuration shared by all gates of the process.
pub struct GateState {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sealer: Sealer,
    pub(crate) jwks: JwksCache,
    pub(crate) audience: String,
    pub(crate) operator: Option<OperatorIssuer>,
    private_issuers: bool,
    pub(crate) tokens: TokenCache,
    tenants: Arc<Recent<Origin, Option<Found>>>,
    locator: TenantLocator,
    keys: Arc<Recent<String, Arc<Vec<KnownKey>>>>,
    /// Names of keys and token origins that the database is known to have. A caller with any other name is untrusted
    /// until a lookup has found the name.
    known: moka::sync::Cache<Name, ()>,
    users: Cache<(TenantId, String), KnownUser>,
    key_uses: moka::sync::Cache<KeyId, ()>,
    pub(crate) refused: RefusedLogins,
}

/// Deployment configuration for credentials.
pub struct GateConfig {
    /// Master secret of the deployment, at least 32 bytes. It hashes API keys and encrypts issuers' secrets.
    pub secret_key: Vec<u8>,
    /// Previous master secret, for data that still depends on it. `None` if only `secret_key` is in use.
    pub previous_secret_key: Option<Vec<u8>>,
    /// The `aud` claim that every token must have.
    pub audience: String,
    /// The deployment's own issuer.
    pub operator: Option<OperatorIssuer>,
    /// Whether issuers may use key URLs in private networks and over plain HTTP (development, closed networks).
    pub private_issuers: bool,
}

impl GateState {
    /// Creates the state with empty caches.
    ///
    /// # Errors
    /// `Malformed` if a master secret has less than 32 bytes; `Internal` if the machine has no root certificates.
    pub fn new(config: GateConfig, clock: Arc<dyn Clock>) -> Result<Self> {
        Ok(Self {
            sealer: sealer(&config)?,
            jwks: JwksCache::new(clock.clone()).map_err(Error::internal)?,
            clock,
            audience: config.audience,
            operator: config.operator,
            private_issuers: config.private_issuers,
            tokens: TokenCache::default(),
            locator: TenantLocator::new(),
            tenants: Recent::new(),
            keys: Recent::new(),
            known: moka::sync::Cache::builder().max_capacity(NAMES).time_to_idle(KNOWN).build(),
            users: Cache::builder().max_capacity(USERS_BYTES).weigher(weight_of_user).time_to_live(USERS).build(),
            key_uses: moka::sync::Cache::builder().max_capacity(10_000).time_to_live(KEY_USE).build(),
            refused: RefusedLogins::default(),
        })
    }

    /// Returns the tenant and issuer of an origin as of at most one second ago.
    pub(crate) async fn tenant(self: &Arc<Self>, db: &Database, origin: Origin) -> Result<Option<Found>> {
        let find = || {
            let (state, db, origin) = (self.clone(), db.clone(), origin.clone());
            async move { state.find_tenant(&db, &origin).await }
        };
        self.tenants.get(origin.clone(), find).await
    }

    /// Reads the tenant from the database and updates the cache. For callers that expect a change which the cache may
    /// not show yet.
    pub(crate) async fn fresh_tenant(&self, db: &Database, origin: Origin) -> Result<Option<Found>> {
        let found = self.find_tenant(db, &origin).await?;
        self.tenants.put(origin, found.clone()).await;
        Ok(found)
    }

    async fn find_tenant(&self, db: &Database, origin: &Origin) -> Result<Option<Found>> {
        let issuers = IssuerReader { sealer: &self.sealer, private_network: self.private_issuers };
        let found = self.locator.find_tenant(db, origin, &issuers).await?;
        if found.as_ref().is_some_and(|found| found.issuer.is_some()) {
            self.known.insert(Name::Origin(origin.clone()), ());
        }
        Ok(found)
    }

    /// Clears the cached tenants and API keys. API keys are included because each entry contains its tenant.
    pub fn forget_tenants(&self) {
        self.tenants.clear();
        self.keys.clear();
    }

    /// Returns the API keys with a prefix as of at most one second ago.
    pub(crate) async fn keys(self: &Arc<Self>, db: &Database, prefix: &str) -> Result<Arc<Vec<KnownKey>>> {
        let find = || {
            let (state, db, prefix) = (self.clone(), db.clone(), prefix.to_owned());
            async move {
                let found = state.locator.find_keys(&db, &prefix).await?;
                if !found.is_empty() {
                    state.known.insert(Name::Prefix(prefix), ());
                }
                Ok(Arc::new(found))
            }
        };
        self.keys.get(prefix.to_owned(), find).await
    }

    /// Returns whether the key or issuer of a credential was found recently. If so, the credential is not merely an
    /// attacker's guess.
    pub(crate) fn is_known(&self, name: &Name) -> bool {
        self.known.contains_key(name)
    }

    /// Notes that the database has a credential of this name.
    pub(crate) fn note_known(&self, name: Name) {
        self.known.insert(name, ());
    }

    /// Returns the user of a request. Creates the user with the first request.
    pub(crate) async fn user(&self, db: &Database, requested: &RequestUser<'_>) -> Result<KnownUser> {
        let key = (requested.tenant, requested.external_id.to_owned());
        let find = async || {
            self.users.try_get_with_by_ref(&key, system::ensure_user(db, requested)).await.map_err(Error::of_many)
        };
        let is_older = |known: &KnownUser| known.erasures < requested.erasures;
        let known = find().await?;
        if !is_older(&known) {
            return Ok(known);
        }
        // A user of the tenant was erased or suspended since this entry was read, perhaps this user. Only one of
        // several concurrent requests reads the user again.
        let drop_older = async |known: Option<Entry<_, KnownUser>>| match known {
            Some(known) if is_older(known.value()) => Op::Remove,
            _ => Op::Nop,
        };
        self.users.entry_by_ref(&key).and_compute_with(drop_older).await;
        let known = find().await?;
        if !is_older(&known) {
            return Ok(known);
        }
        // The concurrent read may itself have started before the last erasure.
        system::ensure_user(db, requested).await
    }

    /// Records in the cache that the user has this release of the starter skills.
    pub async fn note_starters(&self, principal: &crate::Principal, release: &[u8]) {
        if let (Ok(id), Some(external)) = (principal.user(), principal.external_id()) {
            let (starters_release, erasures) = (Some(release.into()), principal.known_erasures());
            // The user was not suspended when this principal was created. If the user was suspended since, the
            // tenant's counter is higher and this entry is ignored.
            let known = KnownUser { id, starters_release, suspended: None, erasures };
            self.users.insert((principal.tenant(), external.to_owned()), known).await;
        }
    }

    /// Returns whether to record the use of a key. Returns `true` for one request of the key per minute.
    pub(crate) fn use_is_due(&self, key: KeyId) -> bool {
        self.key_uses.entry(key).or_insert(()).is_fresh()
    }

    /// Returns whether key URLs in private networks are allowed.
    pub fn private_issuers(&self) -> bool {
        self.private_issuers
    }

    /// Returns the `aud` claim that every token must have.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// Returns the sealer that encrypts and hashes secrets.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }
}

fn sealer(config: &GateConfig) -> Result<Sealer> {
    let sealer = Sealer::new(&config.secret_key).map_err(|e| Error::Malformed(format!("KNOWHOW_SECRET_KEY: {e}")))?;
    match &config.previous_secret_key {
        Some(previous) => {
            let wrong = |e| Error::Malformed(format!("KNOWHOW_SECRET_KEY_PREVIOUS: {e}"));
            sealer.with_previous(previous).map_err(wrong)
        }
        None => Ok(sealer),
    }
}

/// Estimates the size of a cache entry in bytes.
fn weight_of_user((_, external_id): &(TenantId, String), user: &KnownUser) -> u32 {
    let texts = external_id.len() + user.suspended.as_ref().map_or(0, |why| why.len());
    u32::try_from(300 + texts).unwrap_or(u32::MAX)
}
