//! Makes a skill's vector from its name, description and triggers, and those of other skills of the user that lack one.

use knowhow_domain::recall::embedded_text;
use knowhow_domain::{Result, SkillId, manifest};
use knowhow_store::embeddings::{self, Embedding, Pending};
use knowhow_store::{Principal, TenantTx};
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::embed::{EmbedError, Embedder, Vectors};
use crate::{App, Priority};

/// Skills whose vectors are made in one go: a batch costs half of what its texts cost one by one, and one new revision of
/// the catalogue.
const BATCH: i64 = 16;

#[derive(Deserialize)]
pub(super) struct EmbedSkill {
    skill_id: SkillId,
}

impl UserJob for EmbedSkill {
    const TASK: &'static str = "embed_skill";

    async fn run(self, app: &App, principal: &Principal) -> JobResult {
        let embedder = app.models.embedder.as_deref().ok_or_else(|| refusal(EmbedError::NoModel))?;
        let mut pending = self.collect(app, principal, embedder.model()).await?;
        if pending.is_empty() {
            return Ok(());
        }
        let mut vectors = embed(embedder, &pending).await;
        if pending.len() > 1 && vectors.as_ref().is_err_and(|error| !error.is_transient()) {
            // One of the others may be at fault; it has a job of its own.
            pending.truncate(1);
            vectors = embed(embedder, &pending).await;
        }
        let made: Vec<Embedding> = pending
            .into_iter()
            .zip(vectors.map_err(refusal)?)
            .map(|(of, vector)| Embedding { text_digest: digest(&of), of, vector })
            .collect();
        let mut tx = TenantTx::begin(&app.db, principal).await?;
        embeddings::put_embeddings(&mut tx, embedder.model(), &made, app.now()).await?;
        Ok(tx.commit().await?)
    }
}

impl EmbedSkill {
    /// The skill, and behind it others that have no vector; nothing where it is gone or its own is good.
    async fn collect(&self, app: &App, principal: &Principal, model: &str) -> Result<Vec<Pending>> {
        let mut tx = TenantTx::begin(&app.db, principal).await?;
        let asked = embeddings::find_pending(&mut tx, model, self.skill_id).await?;
        let Some(asked) = asked.filter(|pending| !is_good(pending)) else { return Ok(Vec::new()) };
        let others = embeddings::list_stale(&mut tx, model, BATCH).await?;
        tx.commit().await?;
        Ok(std::iter::once(asked).chain(others.into_iter().filter(|other| other.skill != self.skill_id)).collect())
    }
}

fn is_good(pending: &Pending) -> bool {
    pending.text_digest.as_ref().is_some_and(|of| *of == digest(pending))
}

fn digest(pending: &Pending) -> [u8; 32] {
    manifest::digest(text(pending).as_bytes())
}

fn text(pending: &Pending) -> String {
    embedded_text(&pending.name, &pending.description, &pending.triggers)
}

async fn embed(embedder: &dyn Embedder, pending: &[Pending]) -> Result<Vectors, EmbedError> {
    embedder.embed(pending.iter().map(text).collect(), Priority::Background, None).await
}

/// Worth another try whatever it is: a key that is wrong and a server that answers nonsense are put right some day.
fn refusal(error: EmbedError) -> knowhow_domain::Error {
    tracing::warn!(%error, "a skill was not embedded");
    error.into()
}
