//! The starters of this release in the database, with their vectors: brought once by each process, for all users.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use knowhow_domain::{Error, Result, SkillDocument, SkillName, manifest};
use knowhow_store::starters::{self, StarterText};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::embed::embedded_text;
use crate::starters::{STARTERS, Starter};
use crate::{App, Asker, Priority};

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

/// What this process has done for the starters.
#[derive(Default)]
pub struct Library {
    published: OnceCell<()>,
    vectors: AtomicU64,
}

impl Library {
    /// Puts the texts into the database, and begins to make their vectors beside the caller. The first time alone.
    pub(crate) async fn publish(&self, app: &App) -> Result<()> {
        let publish = async || {
            publish(app).await?;
            if app.models.embedder.is_some() {
                tokio::spawn(embed_all(app.clone()));
            }
            Ok(())
        };
        self.published.get_or_try_init(publish).await.copied()
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

/// Tries until the vectors are there. Words serve meanwhile.
async fn embed_all(app: App) {
    let (mut pause, longest) = PAUSES;
    while let Err(error) = embed(&app).await {
        tracing::warn!(%error, "the starter skills were not embedded; it is tried again");
        tokio::time::sleep(pause).await;
        pause = longest.min(pause * 2);
    }
    app.library.vectors.fetch_add(1, Ordering::Release);
}

async fn embed(app: &App) -> Result<()> {
    let Some(embedder) = app.models.embedder.as_deref() else { return Ok(()) };
    let missing = starters::list_unembedded(&app.db, embedder.model()).await?;
    if missing.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = missing.iter().map(|t| embedded_text(&t.name, &t.description, &t.triggers)).collect();
    let digests = texts.iter().map(|text| manifest::digest(text.as_bytes())).collect::<Vec<_>>();
    let vectors = embedder.embed(texts, Asker::HOUSE, Priority::Change, None).await.map_err(Error::from)?;
    let made = missing.iter().zip(digests).zip(vectors);
    let made: Vec<_> = made.map(|((text, digest), vector)| (text.starter, digest, vector)).collect();
    starters::put_vectors(&app.db, embedder.model(), &made).await
}
