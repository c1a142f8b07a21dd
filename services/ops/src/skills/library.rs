//! Publishes starters to the database with their vectors: the starters of this release, and the starters of each
//! tenant's own library. Each process publishes them once for all users.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, SkillDocument, SkillName, TenantId, UserId};
use knowhow_store::skills::starters::{self, NewVector, StarterText, TenantRelease, Unembedded};
use knowhow_store::{PlaceId, Principal};
use moka::future::Cache;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::models::embed::{TextKind, embedded_text};
use crate::skills::starters::{STARTERS, Starter};
use crate::{App, Asker, Asking, Priority};

/// SHA-256 of this binary's starters.
pub(crate) static RELEASE: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for starter in STARTERS {
        hash.update(starter.name);
        hash.update([0]);
        hash.update(starter.skill_md);
        hash.update([0]);
    }
    hash.finalize().into()
});

/// First and longest pause between two attempts to embed the starters.
const PAUSES: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(600));

/// Returns the hash of the starters for a tenant's users: the built-in ones, if enabled, and the tenant's library.
/// Returns `None` if the tenant has no starters.
pub(crate) fn release_of(principal: &Principal) -> Option<[u8; 32]> {
    let builtin = principal.settings().starter_skills;
    let Some(library) = principal.library() else { return builtin.then_some(*RELEASE) };
    let mut hash = Sha256::new();
    hash.update(principal.tenant().0);
    hash.update(if builtin { RELEASE.as_slice() } else { &[] });
    for id in &library.ids {
        hash.update(id.to_be_bytes());
    }
    Some(hash.finalize().into())
}

/// Maximum number of published tenant releases that a process caches.
const RELEASES: u64 = 10_000;

/// Records which starters this process has published.
pub struct Library {
    published: Cache<PlaceId, ()>,
    of_tenants: Cache<(PlaceId, [u8; 32]), ()>,
    vectors: AtomicU64,
}

impl Default for Library {
    fn default() -> Self {
        let of_tenants = Cache::builder().max_capacity(RELEASES).build();
        Self { published: Cache::builder().build(), of_tenants, vectors: AtomicU64::default() }
    }
}

impl Library {
    /// Publishes the starters of a tenant that has a library.
    pub(crate) async fn publish_for_tenant(&self, app: &App, principal: &Principal, release: [u8; 32]) -> Result<()> {
        let Some(library) = principal.library() else { return Ok(()) };
        let known = (app.db.here(), release);
        if self.of_tenants.contains_key(&known) {
            return Ok(());
        }
        let builtin = principal.settings().starter_skills.then_some(RELEASE.as_slice());
        let tenant = principal.tenant();
        let new = TenantRelease { tenant, release: &release, builtin, library: &library.ids };
        starters::publish_for_tenant(&app.db, new).await?;
        self.of_tenants.insert(known, ()).await;
        if app.models.embedder.is_some() && !library.ids.is_empty() {
            tokio::spawn(embed_all(app.clone(), LibraryOwner::Tenant(tenant, library.ids.clone())));
        }
        Ok(())
    }

    /// Publishes the built-in starters, and starts to embed them in the background. Runs once per database.
    pub(crate) async fn publish(&self, app: &App) -> Result<()> {
        if self.published.contains_key(&app.db.here()) {
            return Ok(());
        }
        let publish = async {
            publish(app).await?;
            if app.models.embedder.is_some() {
                tokio::spawn(embed_all(app.clone(), LibraryOwner::House));
            }
            Ok(())
        };
        self.published.try_get_with(app.db.here(), publish).await.map_err(Error::of_many)
    }

    /// Returns a number that increases when all starters have vectors. Data that was read before the increase may
    /// lack vectors.
    pub(crate) fn vectors(&self) -> u64 {
        self.vectors.load(Ordering::Acquire)
    }
}

async fn publish(app: &App) -> Result<()> {
    let parse = |starter: &Starter| {
        let name = SkillName::parse(starter.name)?;
        let document = SkillDocument::parse(starter.skill_md, &app.limits)?;
        let served = document.served(&name);
        if !matches!(served.text, Cow::Borrowed(_)) {
            return Err(Error::internal("a starter with an incomplete frontmatter"));
        }
        let frontmatter = Value::Object(served.frontmatter);
        Ok((name, document, frontmatter))
    };
    let parsed = STARTERS.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let texts: Vec<StarterText<'_>> =
        parsed.iter().map(|(name, document, frontmatter)| StarterText { name, document, frontmatter }).collect();
    starters::publish(&app.db, RELEASE.as_slice(), &texts).await
}

/// The owner of the starters to embed.
enum LibraryOwner {
    /// The built-in starters.
    House,
    /// The library of a tenant, with the ids of its texts.
    Tenant(TenantId, Vec<i32>),
}

/// Embeds the starters, and retries until all vectors are stored. Until then the starters can be found only by words.
async fn embed_all(app: App, owner: LibraryOwner) {
    let (mut pause, longest) = PAUSES;
    while let Err(error) = embed(&app, &owner).await {
        tracing::warn!(%error, "the starter skills were not embedded; trying again");
        tokio::time::sleep(pause).await;
        pause = longest.min(pause * 2);
    }
    app.library.vectors.fetch_add(1, Ordering::Release);
}

async fn embed(app: &App, owner: &LibraryOwner) -> Result<()> {
    let Some(embedder) = app.models.embedder.as_deref() else { return Ok(()) };
    let model = embedder.model();
    let (missing, asker) = match owner {
        LibraryOwner::House => (starters::list_unembedded(&app.db, model).await?, Asker::HOUSE),
        LibraryOwner::Tenant(tenant, ids) => {
            let missing = starters::list_unembedded_of_tenant(&app.db, *tenant, ids, model).await?;
            (missing, Asker { tenant: *tenant, user: UserId::TENANT_WIDE })
        }
    };
    if missing.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = missing.iter().map(|t| embedded_text(&t.name, &t.description, &t.triggers)).collect();
    let digests: Vec<[u8; 32]> = texts.iter().map(|text| manifest::digest(text.as_bytes())).collect();
    let asking = Asking { asker, priority: Priority::Change, deadline: None };
    let vectors = embedder.embed(texts, TextKind::Document, asking).await.map_err(Error::from)?;
    let new = |((text, text_digest), embedding): ((&Unembedded, [u8; 32]), Vec<f32>)| NewVector {
        starter: text.starter,
        text_digest,
        embedding,
    };
    let made: Vec<NewVector> = missing.iter().zip(digests).zip(vectors).map(new).collect();
    match owner {
        LibraryOwner::House => starters::put_vectors(&app.db, model, &made).await,
        LibraryOwner::Tenant(tenant, _) => starters::put_vectors_of_tenant(&app.db, *tenant, model, &made).await,
    }
}
