//! Makes a skill's vector from its name, description and triggers; in bulk, also those of other skills of the user that
//! lack one.

use knowhow_domain::job::task;
use knowhow_domain::recall::embedded_text;
use knowhow_domain::{Result, SkillId, manifest};
use knowhow_store::TenantTx;
use knowhow_store::embeddings::{self, Embedding, Pending};
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::embed::{EmbedError, Embedder, Vectors};
use crate::{Asker, Asking, Ctx, Priority};

/// Other skills whose vectors a bulk job makes: all of them are one new revision of the catalogue, after which it is built
/// anew.
const OTHERS: i64 = 63;
/// Those of them that are embedded in one go: a batch costs half of what its texts cost one by one.
const CHUNK: usize = 16;

#[derive(Deserialize)]
pub(super) struct EmbedSkill {
    skill_id: SkillId,
}

impl UserJob for EmbedSkill {
    const TASK: &'static str = task::EMBED_SKILL;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        let embedder = ctx.app.models.embedder.as_deref().ok_or_else(|| refusal(EmbedError::NoModel))?;
        let others = if priority == Priority::Background { OTHERS } else { 0 };
        let Some((asked, others)) = collect(ctx, self.skill_id, embedder.model(), others).await? else {
            return Ok(());
        };
        let asking = Asking::of_job(&ctx.principal, priority)?;
        let asked = std::slice::from_ref(&asked);
        let mut made = with(asked, embed(embedder, asked, asking).await.map_err(refusal)?);
        for chunk in others.chunks(CHUNK) {
            match embed(embedder, chunk, asking).await {
                Ok(vectors) => made.extend(with(chunk, vectors)),
                // Each of them has a job of its own.
                Err(error) if error.is_transient() => break,
                Err(_) => {}
            }
        }
        put(ctx, embedder, &made).await?;
        Ok(())
    }
}

/// Makes one skill's vector, unless it is good or the skill gone.
pub(super) async fn embed_now(ctx: &Ctx, skill: SkillId) -> Result<()> {
    let Some(embedder) = ctx.app.models.embedder.as_deref() else { return Ok(()) };
    let Some((asked, _)) = collect(ctx, skill, embedder.model(), 0).await? else { return Ok(()) };
    // A new skill was just compared with others by this very vector.
    let vector = ctx
        .app
        .models
        .embed_changed(Asker::of(&ctx.principal)?, &text(&asked))
        .await
        .map_err(knowhow_domain::Error::from)?;
    put(ctx, embedder, &with(&[asked], vec![vector.to_vec()])).await
}

/// The skill, and so many others that have no vector; nothing where it is gone or its own is good.
async fn collect(ctx: &Ctx, skill: SkillId, model: &str, others: i64) -> Result<Option<(Pending, Vec<Pending>)>> {
    let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal, "jobs.embed_skill").await?;
    let asked = embeddings::find_pending(&mut tx, model, skill).await?;
    let Some(asked) = asked.filter(|pending| !is_good(pending)) else { return Ok(None) };
    let mut stale = Vec::new();
    if others > 0 {
        stale = embeddings::list_stale(&mut tx, model, skill, others).await?;
    }
    tx.commit().await?;
    Ok(Some((asked, stale)))
}

async fn put(ctx: &Ctx, embedder: &dyn Embedder, made: &[Embedding]) -> Result<()> {
    let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal, "jobs.embed_skill").await?;
    embeddings::put_embeddings(&mut tx, embedder.model(), made, ctx.now()).await?;
    tx.commit().await
}

fn with(pending: &[Pending], vectors: Vectors) -> Vec<Embedding> {
    let pairs = pending.iter().cloned().zip(vectors);
    pairs.map(|(of, vector)| Embedding { text_digest: digest(&of), of, vector }).collect()
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

async fn embed(embedder: &dyn Embedder, pending: &[Pending], asking: Asking) -> Result<Vectors, EmbedError> {
    embedder.embed(pending.iter().map(text).collect(), asking.asker, asking.priority, asking.deadline).await
}

/// Worth another try whatever it is: a key that is wrong and a server that answers nonsense are put right some day.
fn refusal(error: EmbedError) -> knowhow_domain::Error {
    tracing::warn!(%error, "a skill was not embedded");
    error.into()
}
