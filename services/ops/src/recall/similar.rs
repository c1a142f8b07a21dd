//! Near-duplicates of a skill that is new.

use std::time::Duration;

use knowhow_domain::Result;
use knowhow_domain::recall::embedded_text;
use knowhow_store::Principal;
use tokio::time::Instant;

use super::{Query, catalogue_now, embed, recall};
use crate::App;
use crate::skills::{Similar, Skill};

/// Most that are named.
const MOST: usize = 5;
/// From this cosine on two skills say much the same: of neighbouring skills of one repository 1 in 100 is as near.
const CLOSE_COSINE: f32 = 0.8;
/// Without vectors: the share of the best possible words, which is what a skill scores for its own text.
const CLOSE_WORDS: f32 = 0.6;
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

async fn look_for(app: &App, principal: &Principal, skill: &Skill) -> Result<Vec<Similar>> {
    let text = embedded_text(&skill.name, &skill.description, &skill.triggers);
    let deadline = Some(Instant::now() + WAIT);
    let (catalogue, embedding) = tokio::join!(catalogue_now(app, principal), embed(app, principal, &text, deadline));
    let (catalogue, (embedding, _)) = (catalogue?, embedding?);
    let has_meaning = embedding.is_some();
    let query = Query { message: &text, embedding, searched: true, limit: MOST + 1 };
    let hits = recall(app, principal, &catalogue, query).await?.ranking.hits;
    let own = hits.iter().find(|hit| catalogue.skills.get(hit.skill).is_some_and(|s| s.id == skill.id.0));
    let own_words = own.map(|hit| hit.signals.text).filter(|words| *words > 0.0);
    let mut similar: Vec<Similar> = hits
        .iter()
        .filter_map(|hit| {
            let other = catalogue.skills.get(hit.skill).filter(|other| other.id != skill.id.0)?;
            let (similarity, floor) = match own_words {
                _ if has_meaning => (hit.signals.cosine, CLOSE_COSINE),
                Some(own) => (hit.signals.text / own, CLOSE_WORDS),
                None => return None,
            };
            let similarity = (similarity.min(1.0) * 1000.0).round() / 1000.0;
            (similarity >= floor).then(|| Similar { name: other.name.to_string(), similarity })
        })
        .collect();
    similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.name.cmp(&b.name)));
    similar.truncate(MOST);
    Ok(similar)
}
