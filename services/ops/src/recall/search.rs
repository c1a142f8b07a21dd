//! Search: the best skills for a question, with why.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::Result;
use knowhow_domain::recall::Hit;
use knowhow_store::Principal;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Query, UserCatalogue, catalogue_now, embed, recall};
use crate::App;

/// Longest wait of a search for the vector of what is searched; then it goes by words. As long as a turn waits that
/// names no deadline.
const PATIENCE: Duration = Duration::from_millis(500);

/// A skill that a search found.
pub(crate) struct SearchedSkill {
    /// Its id.
    pub(crate) id: Uuid,
    /// Full name.
    pub(crate) name: String,
    /// The line of the index.
    pub(crate) summary: String,
    /// 0 to 1.
    pub(crate) importance: f32,
    /// Comparable within one answer.
    pub(crate) score: f32,
    /// How likely the text asks for any of the skills at all, 0 to 1.
    pub(crate) fit: f32,
    /// Why, in words and numbers.
    pub(crate) reason: String,
}

/// The vector of what is searched, where there is one in time.
pub(crate) async fn embed_searched(app: &App, principal: &Principal, text: &str) -> Result<Option<Arc<[f32]>>> {
    let (embedding, _) = embed(app, principal, text, Some(Instant::now() + PATIENCE)).await?;
    Ok(embedding)
}

/// The best skills for a text, best first.
pub(crate) async fn search_skills(
    app: &App,
    principal: &Principal,
    text: &str,
    limit: usize,
) -> Result<Vec<SearchedSkill>> {
    let embedding = embed_searched(app, principal, text);
    let (catalogue, embedding) = tokio::join!(catalogue_now(app, principal), embedding);
    let query = Query { message: text, embedding: embedding?, searched: true, limit };
    search_catalogue(app, principal, &catalogue?, query).await
}

/// The best skills of a catalogue, best first. Whoever searches wants to see: where the text as a whole fits nothing,
/// those that share a word with it are found nevertheless.
pub(crate) async fn search_catalogue(
    app: &App,
    principal: &Principal,
    catalogue: &Arc<UserCatalogue>,
    query: Query<'_>,
) -> Result<Vec<SearchedSkill>> {
    let ranking = recall(app, principal, catalogue, query).await?.ranking;
    let fits = !ranking.above_floor().is_empty();
    let hits = ranking.hits.iter().filter(|hit| fits || hit.signals.text > 0.0 || hit.signals.body > 0.0);
    Ok(hits
        .filter_map(|hit| Some((hit, catalogue.skills.get(hit.skill)?)))
        .map(|(hit, skill)| SearchedSkill {
            id: skill.id,
            name: skill.name.to_string(),
            summary: skill.summary.to_string(),
            importance: skill.importance,
            score: hit.score,
            fit: ranking.fit,
            reason: reason(hit),
        })
        .collect())
}

/// Why a skill was found: what it has in common with the message.
pub(crate) fn reason(hit: &Hit) -> String {
    let signals = &hit.signals;
    let mut reasons = Vec::new();
    if signals.text > 0.0 {
        reasons.push(format!("words of its description ({:.1})", signals.text));
    }
    if signals.body > 0.0 {
        reasons.push(format!("words of its text ({:.1})", signals.body));
    }
    if signals.cosine > 0.0 {
        reasons.push(format!("meaning ({:.2})", signals.cosine));
    }
    reasons.join(", ")
}
