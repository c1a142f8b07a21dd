//! Remembers callers in memory: tenants with their issuers, API keys, users. Entries live a second where a
//! revocation must bite, so a request costs no query and a revoked key dies within a second.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use knowhow_domain::{Clock, Error, KeyId, Result, Scopes, TenantId, TenantSettings, UserId};
use moka::Entry;
use moka::future::Cache;
use moka::ops::compute::Op;

use crate::Database;
use crate::across::refused::RefusedLogins;
use crate::across::system::{self, Newcomer};
use crate::credential::{Issuer, JwksCache, KeptTokens, Sealer};
use crate::vault::place::{HOME, PlaceId};
use crate::vault::principal::OperatorIssuer;
use crate::vault::recent::Recent;
use crate::vault::whereabouts;

/// The time for which a name that was found counts as known, after it was last asked for.
const KNOWN: Duration = Duration::from_secs(600);
/// Names that are known at most.
const NAMES: u64 = 100_000;
const USERS: Duration = Duration::from_secs(600);
/// Bytes that known users take at most, roughly: enough for some 200,000 with ids of the usual length.
const USERS_BYTES: u64 = 64 * 1024 * 1024;
const KEY_USE: Duration = Duration::from_secs(60);

/// A tenant as credentials need it.
pub(crate) struct KnownTenant {
    pub(crate) id: TenantId,
    /// Where its rows were found.
    pub(crate) place: PlaceId,
    /// Whether it lives at another place: these rows are on their way here, or were left behind.
    pub(crate) is_elsewhere: bool,
    pub(crate) slug: String,
    pub(crate) settings: TenantSettings,
    /// The tenant's own starters, where it has, or had, any.
    pub(crate) library: Option<TenantLibrary>,
    /// How many of its users were erased, suspended or let in again: whoever knows fewer looks users up anew.
    pub(crate) erasures: i64,
    /// Why its callers are refused, where they are.
    pub(crate) suspended: Option<Arc<str>>,
}

/// The tenant and the issuer that a token names, as they are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) slug: String,
    /// Empty if the tenant alone is looked for.
    pub(crate) iss: String,
}

/// A tenant, and its issuer of the name that was looked for.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) tenant: Arc<KnownTenant>,
    pub(crate) issuer: Option<Arc<Issuer>>,
}

impl KnownTenant {
    /// Where an operator stands whose token names no tenant: no row has this id.
    pub(crate) fn nowhere() -> Self {
        Self {
            id: TenantId::FIRST,
            place: HOME,
            is_elsewhere: false,
            slug: String::new(),
            settings: TenantSettings::default(),
            library: None,
            erasures: 0,
            suspended: None,
        }
    }
}

/// The current texts of a tenant's library, as every caller of the tenant is known with them.
#[derive(Debug)]
pub struct TenantLibrary {
    /// Their numbers, sorted.
    pub ids: Vec<i32>,
}

impl From<Vec<i32>> for TenantLibrary {
    fn from(mut ids: Vec<i32>) -> Self {
        ids.sort_unstable();
        Self { ids }
    }
}

/// The part of a credential that says where its row is.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// The prefix of an API key.
    Prefix(String),
    /// The tenant and the issuer of a token.
    Origin(Origin),
}

/// An API key as stored.
pub(crate) struct KnownKey {
    pub(crate) id: KeyId,
    pub(crate) tenant: Arc<KnownTenant>,
    pub(crate) secret_hash: Vec<u8>,
    /// The mark of the master key that the hash is under, where that was noted.
    pub(crate) hashed_under: Option<Vec<u8>>,
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
    /// Why the user is refused, where that is so.
    pub(crate) suspended: Option<Arc<str>>,
    /// Erasures that the tenant had had when this was read, or more: later ones may be of this user.
    pub(crate) erasures: i64,
}

/// Shared by all gates of the process.
pub struct GateState {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sealer: Sealer,
    pub(crate) jwks: JwksCache,
    pub(crate) audience: String,
    pub(crate) operator: Option<OperatorIssuer>,
    private_issuers: bool,
    pub(crate) tokens: KeptTokens,
    tenants: Arc<Recent<Origin, Option<Found>>>,
    /// Where a tenant was found last: it is looked for there first.
    pub(super) whereabouts: moka::sync::Cache<String, PlaceId>,
    keys: Arc<Recent<String, Arc<Vec<KnownKey>>>>,
    /// Prefixes of keys, and origins of tokens, that were found. A caller with another one is a stranger until it is found.
    known: moka::sync::Cache<Name, ()>,
    users: Cache<(TenantId, String), KnownUser>,
    key_uses: moka::sync::Cache<KeyId, ()>,
    pub(crate) refused: RefusedLogins,
}

/// What a deployment decides about credentials.
pub struct GateConfig {
    /// Master secret of the deployment, at least 32 bytes: hashes API keys, seals issuers' secrets.
    pub secret_key: Vec<u8>,
    /// The one before, while things are under it still.
    pub previous_secret_key: Option<Vec<u8>>,
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
            sealer: sealer(&config)?,
            jwks: JwksCache::new(clock.clone()).map_err(Error::internal)?,
            clock,
            audience: config.audience,
            operator: config.operator,
            private_issuers: config.private_issuers,
            tokens: KeptTokens::default(),
            whereabouts: moka::sync::Cache::builder().max_capacity(10_000).time_to_idle(USERS).build(),
            tenants: Recent::new(),
            keys: Recent::new(),
            known: moka::sync::Cache::builder().max_capacity(NAMES).time_to_idle(KNOWN).build(),
            users: Cache::builder().max_capacity(USERS_BYTES).weigher(weight_of_user).time_to_live(USERS).build(),
            key_uses: moka::sync::Cache::builder().max_capacity(10_000).time_to_live(KEY_USE).build(),
            refused: RefusedLogins::default(),
        })
    }

    /// Returns the tenant and the issuer of an origin, at most a second old.
    pub(crate) async fn tenant(self: &Arc<Self>, db: &Database, origin: Origin) -> Result<Option<Found>> {
        let find = || {
            let (state, db, origin) = (self.clone(), db.clone(), origin.clone());
            async move { state.find_tenant(&db, &origin).await }
        };
        self.tenants.get(origin.clone(), find).await
    }

    /// Reads the tenant now: the cache may have asked before the change that is looked for.
    pub(crate) async fn fresh_tenant(&self, db: &Database, origin: Origin) -> Result<Option<Found>> {
        let found = self.find_tenant(db, &origin).await?;
        self.tenants.put(origin, found.clone()).await;
        Ok(found)
    }

    async fn find_tenant(&self, db: &Database, origin: &Origin) -> Result<Option<Found>> {
        let found = whereabouts::find_tenant(self, db, origin).await?;
        if found.as_ref().is_some_and(|found| found.issuer.is_some()) {
            self.known.insert(Name::Origin(origin.clone()), ());
        }
        Ok(found)
    }

    /// Drops what is cached of tenants, and of keys, which are cached with their tenants.
    pub fn forget_tenants(&self) {
        self.tenants.clear();
        self.keys.clear();
    }

    /// Returns the API keys of a prefix, at most a second old.
    pub(crate) async fn keys(self: &Arc<Self>, db: &Database, prefix: &str) -> Result<Arc<Vec<KnownKey>>> {
        let find = || {
            let (state, db, prefix) = (self.clone(), db.clone(), prefix.to_owned());
            async move {
                let found = whereabouts::find_keys(&state, &db, &prefix).await?;
                if !found.is_empty() {
                    state.known.insert(Name::Prefix(prefix), ());
                }
                Ok(Arc::new(found))
            }
        };
        self.keys.get(prefix.to_owned(), find).await
    }

    /// Whether the key or the issuer of a credential was found lately, so that verifying it is not a stranger's guess.
    pub(crate) fn knows(&self, name: &Name) -> bool {
        self.known.contains_key(name)
    }

    /// The user that comes, who is made at first sight.
    pub(crate) async fn user(&self, db: &Database, newcomer: &Newcomer<'_>) -> Result<KnownUser> {
        let key = (newcomer.tenant, newcomer.external_id.to_owned());
        let find = async || {
            self.users.try_get_with_by_ref(&key, system::ensure_user(db, newcomer)).await.map_err(Error::of_many)
        };
        let is_older = |known: &KnownUser| known.erasures < newcomer.erasures;
        let known = find().await?;
        if !is_older(&known) {
            return Ok(known);
        }
        // Somebody of the tenant was erased or suspended since, perhaps this user. One of those that ask at once finds out.
        let drop_older = async |known: Option<Entry<_, KnownUser>>| match known {
            Some(known) if is_older(known.value()) => Op::Remove,
            _ => Op::Nop,
        };
        self.users.entry_by_ref(&key).and_compute_with(drop_older).await;
        let known = find().await?;
        if !is_older(&known) {
            return Ok(known);
        }
        // Whoever asked first for all did not know of the last one yet.
        system::ensure_user(db, newcomer).await
    }

    /// Remembers that the user has this release of the starter skills.
    pub async fn note_starters(&self, principal: &crate::Principal, release: &[u8]) {
        if let (Ok(id), Some(external)) = (principal.user(), principal.external_id()) {
            let (starters_release, erasures) = (Some(release.into()), principal.known_erasures());
            // Whoever is suspended has no principal; who was since has a tenant that counts more erasures.
            let known = KnownUser { id, starters_release, suspended: None, erasures };
            self.users.insert((principal.tenant(), external.to_owned()), known).await;
        }
    }

    /// Whether the use of a key is to be noted, which is so for one of all that ask within a minute.
    pub(crate) fn use_is_due(&self, key: KeyId) -> bool {
        self.key_uses.entry(key).or_insert(()).is_fresh()
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

/// With its place among the others.
fn weight_of_user((_, external_id): &(TenantId, String), user: &KnownUser) -> u32 {
    let texts = external_id.len() + user.suspended.as_ref().map_or(0, |why| why.len());
    u32::try_from(300 + texts).unwrap_or(u32::MAX)
}
