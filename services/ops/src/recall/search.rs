//! Search: the best skills for a question, with why.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::recall::{FLOOR, Hit, Ranking, Signals};
use knowhow_domain::{Result, SkillId};
use tokio::time::Instant;

use super::source::Found;
use super::{Query, UserCatalogue, catalogue_now, embed, find_in};
use crate::Ctx;

/// Longest wait of a search for the vector of what is searched; then it goes by words. As long as a turn waits that
/// names no deadline.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// A skill that a search found.
pub(crate) struct SearchedSkill {
    pub(crate) id: SkillId,
    /// The skill's full name, with its namespaces.
    pub(crate) name: String,
    /// The line of the index.
    pub(crate) summary: String,
    /// How likely it is beside the best one, 0 to 1.
    pub(crate) closeness: f32,
}

/// The vector of what is searched, where there is one in time.
pub(crate) async fn embed_searched(ctx: &Ctx, text: &str) -> Result<Option<Arc<[f32]>>> {
    let (embedding, _) = embed(ctx, text, Some(Instant::now() + PATIENCE)).await?;
    Ok(embedding)
}

/// The best skills for a text, best first, with those that want to be recalled by name alone.
pub(crate) async fn search_skills(ctx: &Ctx, text: &str, limit: usize) -> Result<Vec<Found<SearchedSkill>>> {
    search_skills_in(ctx, catalogue_now(ctx), text, limit).await
}

/// The same in a catalogue that is looked up while the text is embedded.
pub(crate) async fn search_skills_in(
    ctx: &Ctx,
    catalogue: impl Future<Output = Result<Arc<UserCatalogue>>>,
    text: &str,
    limit: usize,
) -> Result<Vec<Found<SearchedSkill>>> {
    let embedding = embed_searched(ctx, text);
    let (catalogue, embedding) = tokio::join!(catalogue, embedding);
    let (catalogue, embedding) = (catalogue?, embedding?);
    let query = Query { message: text, embedding, searched: true, reserved: true, limit, ..Query::default() };
    let ranking = rank(ctx, &catalogue, query).await?;
    Ok(list_found(&catalogue, &ranking))
}

/// Cosine from which on a skill is near without a common word: 1 or 2 of 100 pairs of a message and any skill have it.
pub(crate) const NEAR: f32 = 0.27;

/// Ranks the skills of a catalogue by a whole text, including those that the text names.
pub(crate) async fn rank(ctx: &Ctx, catalogue: &Arc<UserCatalogue>, query: Query<'_>) -> Result<Ranking> {
    Ok(find_in(ctx, catalogue, Query { is_search: true, ..query }).await?.ranking)
}

/// Lists the skills of a ranking, best first. If the text as a whole fits no skill, lists those that share a word with
/// it or are near in meaning: a search that shows weak hits helps more than one that shows none. The score is how likely
/// the text asks for any of the skills at all, times how likely this one is beside the best.
pub(crate) fn list_found(catalogue: &UserCatalogue, ranking: &Ranking) -> Vec<Found<SearchedSkill>> {
    let is_near = |signals: &Signals| signals.text > 0.0 || signals.body > 0.0 || signals.meaning >= NEAR;
    let hits = ranking.hits.iter().filter(|hit| ranking.fit >= FLOOR || is_near(&hit.signals));
    hits.filter_map(|hit| Some((hit, catalogue.skills.get(hit.skill)?)))
        .map(|(hit, skill)| Found {
            item: SearchedSkill {
                id: skill.id,
                name: skill.name.to_string(),
                summary: skill.summary.to_string(),
                closeness: hit.closeness,
            },
            score: ranking.fit * hit.closeness,
            reason: reason(hit),
        })
        .collect()
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
    if signals.trigger > 0.0 {
        reasons.push("a trigger phrase".to_owned());
    }
    if signals.cosine > 0.0 {
        reasons.push(format!("meaning ({:.2})", signals.cosine));
    }
    if 0.9 * signals.example > signals.cosine {
        reasons.push(format!("a message after which it was used ({:.2})", signals.example));
    }
    reasons.join(", ")
}
