//! The starters of this release in the database, and what each tenant makes of them with its own library, with their
//! vectors: brought once by each process, for all users.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use knowhow_domain::{Error, Result, SkillDocument, SkillName, TenantId, UserId, manifest};
use knowhow_store::starters::{self, NewVector, StarterText, TenantRelease, Unembedded};
use knowhow_store::{PlaceId, Principal};
use moka::future::Cache;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::embed::{TextKind, embedded_text};
use crate::starters::{STARTERS, Starter};
use crate::{App, Asker, Asking, Priority};

/// Identifies this binary's set of starters.
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

/// Between two tries to make the vectors: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(600));

/// What the users of a tenant are to be given: the built-in starters, where its settings say so, and its own library.
/// `None` where there is neither.
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

/// Most releases of tenants that a process remembers to have published.
const RELEASES: u64 = 10_000;

/// What this process has done for the starters.
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
    /// Does the same for what the tenant's users are given, where that is its own.
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
            tokio::spawn(embed_all(app.clone(), Owner::Tenant(tenant, library.ids.clone())));
        }
        Ok(())
    }

    /// Puts the texts into the database, and begins to make their vectors beside the caller. The first time alone, at each place.
    pub(crate) async fn publish(&self, app: &App) -> Result<()> {
        if self.published.contains_key(&app.db.here()) {
            return Ok(());
        }
        let publish = async {
            publish(app).await?;
            if app.models.embedder.is_some() {
                tokio::spawn(embed_all(app.clone(), Owner::House));
            }
            Ok(())
        };
        self.published.try_get_with(app.db.here(), publish).await.map_err(Error::of_many)
    }

    /// Goes up when all starters have got vectors: what was read before may be without them.
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
            return Err(Error::internal("a starter whose frontmatter is not complete"));
        }
        let frontmatter = Value::Object(served.frontmatter);
        Ok((name, document, frontmatter))
    };
    let parsed = STARTERS.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let texts: Vec<StarterText<'_>> =
        parsed.iter().map(|(name, document, frontmatter)| StarterText { name, document, frontmatter }).collect();
    starters::publish(&app.db, RELEASE.as_slice(), &texts).await
}

/// Whose texts get vectors.
enum Owner {
    /// The built-in ones.
    House,
    /// Those of a tenant's library, by their numbers.
    Tenant(TenantId, Vec<i32>),
}

/// Tries until the vectors are there. Words serve meanwhile.
async fn embed_all(app: App, owner: Owner) {
    let (mut pause, longest) = PAUSES;
    while let Err(error) = embed(&app, &owner).await {
        tracing::warn!(%error, "the starter skills were not embedded; it is tried again");
        tokio::time::sleep(pause).await;
        pause = longest.min(pause * 2);
    }
    app.library.vectors.fetch_add(1, Ordering::Release);
}

async fn embed(app: &App, owner: &Owner) -> Result<()> {
    let Some(embedder) = app.models.embedder.as_deref() else { return Ok(()) };
    let model = embedder.model();
    let (missing, asker) = match owner {
        Owner::House => (starters::list_unembedded(&app.db, model).await?, Asker::HOUSE),
        Owner::Tenant(tenant, ids) => {
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
        Owner::House => starters::put_vectors(&app.db, model, &made).await,
        Owner::Tenant(tenant, _) => starters::put_vectors_of_tenant(&app.db, *tenant, model, &made).await,
    }
}
