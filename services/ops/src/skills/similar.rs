//! Finds existing skills that are nearly equal to a new skill.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::Result;
use knowhow_domain::recall::{SkillText, embedded_text};
use knowhow_store::skills::{self, CloseTo};
use tokio::time::{Instant, timeout, timeout_at};

use super::{Similar, Skill};
use crate::recall::{UserCatalogue, embed_document};
use crate::{Ctx, compute};

/// Maximum number of similar skills in an answer.
const MOST: usize = 5;
/// Minimum cosine of similar skills. Of 100 pairs of skills from one repository, about 1 reaches it.
const CLOSE_COSINE: f32 = 0.8;
/// Minimum share of common words of similar skills. It is used if either skill has no vector.
const CLOSE_WORDS: f32 = 0.5;
/// Maximum wait for vector and catalogue, so that a slow model does not delay a save.
const WAIT: Duration = Duration::from_millis(200);

/// Returns the existing skills that are semantically close to a new one, closest first. Returns an empty list on
/// errors, because the save itself succeeded. `made` is the catalogue revision of the save.
pub(crate) async fn find_similar(ctx: &Ctx, skill: &Skill, made: Option<i64>) -> Vec<Similar> {
    look_for(ctx, skill, made).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a saved skill was not compared with others");
        Vec::new()
    })
}

/// Compares a skill with the user's others by names, descriptions and triggers, but not by bodies.
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
    // The catalogue is not cached. Loading all of a user's texts for one comparison would cost more than the save.
    let embedding = embed_document(ctx, &text, Some(deadline)).await?;
    if let Some(close) = compare_in_database(ctx, skill, embedding.as_deref()).await? {
        return Ok(close);
    }
    // If loading a large catalogue exceeds the deadline, loading continues and the catalogue is cached for later
    // requests.
    match timeout_at(deadline, ctx.app.catalogues.get_beside(ctx, made)).await {
        Ok(catalogue) => compare(ctx, skill, catalogue?, embedding).await,
        Err(_) => Ok(Vec::new()),
    }
}

/// Compares by vectors alone. Returns `None` if a skill has no vector.
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
    let elsewhere = catalogue.cosines(ctx, &[embedding.as_deref()]).await?.pop().flatten();
    let skill = skill.clone();
    compute(move || {
        let here = || embedding.map(|embedding| catalogue.index.cosines(&embedding)).unwrap_or_default();
        Ok(closest(&catalogue, &skill, &elsewhere.unwrap_or_else(here)))
    })
    .await
}

/// Rounds to thousandths; further digits carry no information.
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
