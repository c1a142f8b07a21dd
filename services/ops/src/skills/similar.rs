//! Near-duplicates of a skill that is new.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::Result;
use knowhow_domain::recall::{SkillText, embedded_text};
use knowhow_store::skills::{self, CloseTo};
use tokio::time::{Instant, timeout, timeout_at};

use super::{Similar, Skill};
use crate::recall::{UserCatalogue, embed_document};
use crate::{Ctx, compute};

/// Most that are named.
const MOST: usize = 5;
/// From this cosine on two skills say much the same: of neighbouring skills of one repository 1 in 100 is as near.
const CLOSE_COSINE: f32 = 0.8;
/// Where one of them has no vector: from this share of their words in common.
const CLOSE_WORDS: f32 = 0.5;
/// Longest wait for a vector; a save does not hang on it.
const WAIT: Duration = Duration::from_millis(200);

/// The existing skills that are semantically close to one just made, closest first. None where they cannot be looked
/// for: the skill is saved, and that is what must be told. `made` is the revision of the catalogue that it made.
pub(crate) async fn find_similar(ctx: &Ctx, skill: &Skill, made: Option<i64>) -> Vec<Similar> {
    look_for(ctx, skill, made).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a saved skill was not compared with others");
        Vec::new()
    })
}

/// What skills claim is compared, not their bodies.
async fn look_for(ctx: &Ctx, skill: &Skill, made: Option<i64>) -> Result<Vec<Similar>> {
    let text = embedded_text(&skill.name, &skill.description, &skill.triggers);
    let deadline = Instant::now() + WAIT;
    if ctx.app.catalogues.has(ctx) {
        let embedding = embed_document(ctx, &text, Some(deadline));
        let catalogue = timeout(WAIT, ctx.app.catalogues.get_beside(ctx, made));
        let (embedding, catalogue) = tokio::join!(embedding, catalogue);
        let (embedding, Ok(catalogue)) = (embedding?, catalogue) else { return Ok(Vec::new()) };
        return compare(ctx, skill, catalogue?, embedding).await;
    }
    // To read all of a user's texts for one comparison would cost more than the save.
    let embedding = embed_document(ctx, &text, Some(deadline)).await?;
    if let Some(close) = compare_in_database(ctx, skill, embedding.as_deref()).await? {
        return Ok(close);
    }
    // That of many skills, where there is none yet, is there for the next one.
    match timeout_at(deadline, ctx.app.catalogues.get_beside(ctx, made)).await {
        Ok(catalogue) => compare(ctx, skill, catalogue?, embedding).await,
        Err(_) => Ok(Vec::new()),
    }
}

/// By meaning alone, where each of the others has a vector too.
async fn compare_in_database(ctx: &Ctx, skill: &Skill, embedding: Option<&[f32]>) -> Result<Option<Vec<Similar>>> {
    let Some((embedder, embedding)) = ctx.app.models.embedder.as_deref().zip(embedding) else { return Ok(None) };
    let (own, model) = (skill.id, embedder.model());
    let close_to = CloseTo { own, model, embedding, least: CLOSE_COSINE, most: MOST as i64 };
    let found = skills::list_close(&ctx.app.db, &ctx.principal, close_to).await?;
    let similar = |(name, cosine): (String, f32)| Similar { name, similarity: rounded(cosine) };
    Ok(found.map(|found| found.into_iter().map(similar).collect()))
}

async fn compare(
    ctx: &Ctx,
    skill: &Skill,
    catalogue: Arc<UserCatalogue>,
    embedding: Option<Arc<[f32]>>,
) -> Result<Vec<Similar>> {
    let elsewhere = match &embedding {
        Some(embedding) => catalogue.cosines(ctx, embedding).await?,
        None => None,
    };
    let skill = skill.clone();
    compute(move || {
        let here = || embedding.map(|embedding| catalogue.index.cosines(&embedding)).unwrap_or_default();
        Ok(closest(&catalogue, &skill, &elsewhere.unwrap_or_else(here)))
    })
    .await
}

/// A thousandth tells nothing more.
fn rounded(similarity: f32) -> f32 {
    (similarity.min(1.0) * 1000.0).round() / 1000.0
}

fn closest(catalogue: &UserCatalogue, own: &Skill, cosines: &[Option<f32>]) -> Vec<Similar> {
    let text =
        SkillText { name: &own.name, description: &own.description, triggers: &own.triggers, ..SkillText::default() };
    let words = catalogue.index.shared_words(&text);
    let others = catalogue.skills.iter().enumerate().filter(|(_, skill)| skill.id != own.id);
    let mut similar: Vec<Similar> = others
        .filter_map(|(place, skill)| {
            let (similarity, floor) = match cosines.get(place).copied().flatten() {
                Some(cosine) => (cosine, CLOSE_COSINE),
                None => (words.get(place).copied().unwrap_or_default(), CLOSE_WORDS),
            };
            let similarity = rounded(similarity);
            (similarity >= floor).then(|| Similar { name: skill.name.to_string(), similarity })
        })
        .collect();
    similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.name.cmp(&b.name)));
    similar.truncate(MOST);
    similar
}
