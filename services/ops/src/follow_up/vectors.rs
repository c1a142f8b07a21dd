//! Makes vectors, and stores them.

use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{Error, Result, SkillId};
use knowhow_store::embeddings::{self, Made, Pending, Vectors};

use crate::embed::{EmbedError, Embedder, text_kind};
use crate::recall::{SkillChanged, hand_in};
use crate::{Asker, Asking, Ctx};

/// Makes one skill's vector, unless it is good or the skill gone.
pub(super) async fn embed_now(ctx: &Ctx, skill: SkillId) -> Result<()> {
    let embedder = embedder_of(ctx)?;
    let pending = embeddings::find_pending(&ctx.app.db, &ctx.principal, embedder.model(), skill).await?;
    let Some(asked) = pending else { return Ok(()) };
    // A new skill was just compared with others by this very vector.
    let vector = ctx.app.models.embed_changed(Asker::of(&ctx.principal)?, &asked.text).await.map_err(Error::from)?;
    put(ctx, EmbeddedKind::Skill, vec![(asked, vector.to_vec())]).await
}

/// Stores vectors, and hands those of skills to what recall has in memory.
pub(crate) async fn put(ctx: &Ctx, kind: EmbeddedKind, vectors: Vec<Made>) -> Result<()> {
    if vectors.is_empty() {
        return Ok(());
    }
    let made = Vectors { model: embedder_of(ctx)?.model(), vectors: &vectors, now: ctx.now() };
    let put = embeddings::put(&ctx.app.db, &ctx.principal, kind, made).await?;
    if kind == EmbeddedKind::Skill && !put.ids.is_empty() {
        hand_in(ctx, put.revision, || {
            let handed = vectors.into_iter().filter(|(of, _)| put.ids.contains(&of.id));
            handed
                .map(|(of, vector)| SkillChanged::Vector { skill: SkillId(of.id), stamp: put.stamp, vector })
                .collect()
        });
    }
    Ok(())
}

/// The vectors of texts. One that the model refuses for good is left out: what it says stays findable by its words.
pub(crate) async fn embed_what_can_be(
    embedder: &dyn Embedder,
    kind: EmbeddedKind,
    pending: &[Pending],
    asking: Asking,
) -> Result<Vec<Made>> {
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

/// The vectors of texts, all or none.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    kind: EmbeddedKind,
    pending: Vec<Pending>,
    asking: Asking,
) -> Result<Vec<Made>, EmbedError> {
    let texts = pending.iter().map(|pending| pending.text.clone()).collect();
    let vectors = embedder.embed(texts, text_kind(kind), asking).await?;
    Ok(pending.into_iter().zip(vectors).collect())
}

/// The model that makes vectors in this process.
pub(crate) fn embedder_of(ctx: &Ctx) -> Result<&dyn Embedder> {
    ctx.app.models.embedder.as_deref().ok_or_else(|| EmbedError::NoModel.into())
}
