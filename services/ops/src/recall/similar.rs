//! Near-duplicates of a skill that is new.

use std::collections::HashSet;
use std::time::Duration;

use knowhow_domain::Result;
use knowhow_domain::recall::{embedded_text, list_terms};
use knowhow_store::Principal;
use knowhow_store::skills::{self, Claims};
use tokio::time::Instant;

use super::embed;
use crate::skills::{Similar, Skill};
use crate::{App, compute};

/// Most that are named.
const MOST: usize = 5;
/// From this cosine on two skills say much the same: of neighbouring skills of one repository 1 in 100 is as near.
const CLOSE_COSINE: f32 = 0.8;
/// Where one of them has no vector: from this share of their words in common.
const CLOSE_WORDS: f32 = 0.5;
/// Longest wait for a vector; a save does not hang on it.
const WAIT: Duration = Duration::from_millis(200);

/// The existing skills that are semantically close to one just made, closest first. None where they cannot be looked
/// for: the skill is saved, and that is what must be told.
pub(crate) async fn find_similar(app: &App, principal: &Principal, skill: &Skill) -> Vec<Similar> {
    look_for(app, principal, skill).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a saved skill was not compared with others");
        Vec::new()
    })
}

/// What skills claim is compared, not their bodies: the catalogue would have to be built anew for that.
async fn look_for(app: &App, principal: &Principal, skill: &Skill) -> Result<Vec<Similar>> {
    let text = embedded_text(&skill.name, &skill.description, &skill.triggers);
    let (embedding, _) = embed(app, principal, &text, Some(Instant::now() + WAIT)).await?;
    let model = app.models.embedder.as_deref().map(|embedder| embedder.model());
    let others = skills::list_claims(&app.db, principal, skill.id.0, model.zip(embedding.as_deref())).await?;
    compute(move || Ok(closest(&text, others))).await
}

fn closest(text: &str, others: Vec<Claims>) -> Vec<Similar> {
    let own = terms_of(text);
    let mut similar: Vec<Similar> = others
        .into_iter()
        .filter_map(|other| {
            let (similarity, floor) = match other.cosine {
                Some(cosine) => (cosine, CLOSE_COSINE),
                None => (shared(&own, &terms_of_claims(&other)), CLOSE_WORDS),
            };
            let similarity = (similarity.min(1.0) * 1000.0).round() / 1000.0;
            (similarity >= floor).then_some(Similar { name: other.name, similarity })
        })
        .collect();
    similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.name.cmp(&b.name)));
    similar.truncate(MOST);
    similar
}

fn terms_of(text: &str) -> HashSet<String> {
    list_terms(text).into_iter().collect()
}

fn terms_of_claims(claims: &Claims) -> HashSet<String> {
    terms_of(&embedded_text(&claims.name, &claims.description, &claims.triggers))
}

/// Jaccard's index: the share of all their words that two texts have in common.
fn shared(one: &HashSet<String>, other: &HashSet<String>) -> f32 {
    let common = one.intersection(other).count() as f32;
    common / (one.len() as f32 + other.len() as f32 - common).max(1.0)
}
