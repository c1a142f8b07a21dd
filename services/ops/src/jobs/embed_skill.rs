//! Makes a skill's vector from its name, description and triggers, and those of other skills of the user that lack one.

use knowhow_domain::{SkillId, manifest};
use knowhow_store::embeddings::{self, Embedding, Pending};
use knowhow_store::queue::JobError;
use knowhow_store::{Principal, TenantTx};
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::embed::{EmbedError, embedded_text};
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
        let Some(embedder) = app.models.embedder.as_deref() else { return Err(refusal(EmbedError::NoModel)) };
        let (texts, pending) = collect(app, principal, self.skill_id, embedder.model()).await?;
        if pending.is_empty() {
            return Ok(());
        }
        let digests: Vec<[u8; 32]> = texts.iter().map(|text| manifest::digest(text.as_bytes())).collect();
        let vectors = embedder.embed(texts, Priority::Background, None).await.map_err(refusal)?;
        let made: Vec<Embedding> = pending
            .into_iter()
            .zip(digests)
            .zip(vectors)
            .map(|((of, text_digest), vector)| Embedding { of, text_digest, vector })
            .collect();
        let mut tx = TenantTx::begin(&app.db, principal).await?;
        embeddings::put_embeddings(&mut tx, embedder.model(), &made, app.now()).await?;
        Ok(tx.commit().await?)
    }
}

/// The skill, unless it is gone or its vector is good, and with it others that have none; their texts first.
async fn collect(
    app: &App,
    principal: &Principal,
    skill: SkillId,
    model: &str,
) -> Result<(Vec<String>, Vec<Pending>), JobError> {
    let mut tx = TenantTx::begin(&app.db, principal).await?;
    let Some(asked) = embeddings::find_pending(&mut tx, skill).await? else { return Ok(<_>::default()) };
    let others = embeddings::list_stale(&mut tx, model, BATCH).await?;
    tx.commit().await?;
    let is_good = |p: &Pending, text: &str| {
        p.embedded.as_ref().is_some_and(|(m, digest)| m == model && *digest == manifest::digest(text.as_bytes()))
    };
    let others = others.into_iter().filter(|other| other.skill != skill);
    Ok(std::iter::once(asked)
        .chain(others)
        .map(|p| (embedded_text(&p.name, &p.description, &p.triggers), p))
        .filter(|(text, p)| !is_good(p, text))
        .unzip())
}

fn refusal(error: EmbedError) -> JobError {
    if error.is_transient() { JobError::Retry(error.into()) } else { JobError::Permanent(error.into()) }
}
