//! Computes vectors and stores them.

use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{Error, Result, SkillId};
use knowhow_store::skills::embeddings::{self, TextToEmbed, TextWithVector, Vectors};

use crate::models::embed::{EmbedError, Embedder, text_kind};
use crate::recall::{SkillChanged, note_own_changes};
use crate::{Asker, Asking, Ctx};

/// Embeds a skill, unless its vector is current or the skill was deleted.
pub(super) async fn embed_now(ctx: &Ctx, skill: SkillId) -> Result<()> {
    let embedder = embedder_of(ctx)?;
    let pending = embeddings::find_pending(&ctx.app.db, &ctx.principal, embedder.model(), skill).await?;
    let Some(asked) = pending else { return Ok(()) };
    // The vector is usually cached, because a new skill is compared with others by the same vector.
    let vector = ctx.app.models.embed_changed(Asker::of(&ctx.principal)?, &asked.text).await.map_err(Error::from)?;
    put(ctx, EmbeddedKind::Skill, vec![(asked, vector.to_vec())]).await
}

/// Stores vectors. Vectors of skills are also added to the cached catalogue of recall.
pub(crate) async fn put(ctx: &Ctx, kind: EmbeddedKind, vectors: Vec<TextWithVector>) -> Result<()> {
    if vectors.is_empty() {
        return Ok(());
    }
    let made = Vectors { model: embedder_of(ctx)?.model(), vectors: &vectors, now: ctx.now() };
    let put = embeddings::put(&ctx.app.db, &ctx.principal, kind, made).await?;
    if kind == EmbeddedKind::Skill && !put.ids.is_empty() {
        note_own_changes(ctx, put.revision, || {
            let stored = vectors.into_iter().filter(|(of, _)| put.ids.contains(&of.id));
            stored
                .map(|(of, vector)| SkillChanged::Vector { skill: SkillId(of.id), stamp: put.stamp, vector })
                .collect()
        });
    }
    Ok(())
}

/// Embeds texts. If the model permanently rejects some texts, they are omitted and can still be found by words.
pub(crate) async fn embed_what_can_be(
    embedder: &dyn Embedder,
    kind: EmbeddedKind,
    pending: &[TextToEmbed],
    asking: Asking,
) -> Result<Vec<TextWithVector>> {
    match embed(embedder, kind, pending.to_vec(), asking).await {
        Err(error) if !error.is_transient() => {}
        made => return made.map_err(Error::from),
    }
    let mut made = Vec::new();
    for text in pending {
        match embed(embedder, kind, vec![text.clone()], asking).await {
            Err(error) if !error.is_transient() => tracing::warn!(%error, "a text was not embedded"),
            vectors => made.extend(vectors?),
        }
    }
    Ok(made)
}

/// Embeds all texts, or returns an error if the model rejects any of them.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    kind: EmbeddedKind,
    pending: Vec<TextToEmbed>,
    asking: Asking,
) -> Result<Vec<TextWithVector>, EmbedError> {
    let texts = pending.iter().map(|pending| pending.text.clone()).collect();
    let vectors = embedder.embed(texts, text_kind(kind), asking).await?;
    Ok(pending.into_iter().zip(vectors).collect())
}

/// Returns the embedding model of this process; an error if there is no model.
pub(crate) fn embedder_of(ctx: &Ctx) -> Result<&dyn Embedder> {
    ctx.app.models.embedder.as_deref().ok_or_else(|| EmbedError::NoModel.into())
}
