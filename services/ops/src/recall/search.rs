//! Searches for the best skills for a question, with reasons.

use std::sync::Arc;

use knowhow_domain::recall::{FLOOR, Hit, Ranking, Signals};
use knowhow_domain::{Result, SkillId};

use super::meaning::{NEAR, embed_searched};
use super::source::SourceHit;
use super::{Query, Recalled, UserCatalogue, catalogue_now, find_in};
use crate::Ctx;

/// A skill that a search found.
pub(crate) struct SearchedSkill {
    pub(crate) id: SkillId,
    /// The skill's full name, with its namespaces.
    pub(crate) name: String,
    /// The skill's summary in the index.
    pub(crate) summary: String,
    /// Probability that the text asks for the skill, relative to the best skill, 0 to 1.
    pub(crate) closeness: f32,
    /// Whether the text forbids the skill, as in "without X".
    pub(crate) excluded: bool,
}

/// Returns the best skills for a text, best first. Includes skills that are otherwise recalled only by name.
pub(crate) async fn search_skills(ctx: &Ctx, text: &str, limit: usize) -> Result<Vec<SourceHit<SearchedSkill>>> {
    search_skills_in(ctx, catalogue_now(ctx), text, limit).await
}

/// Searches like [`search_skills`]. The catalogue is looked up while the text is embedded.
pub(crate) async fn search_skills_in(
    ctx: &Ctx,
    catalogue: impl Future<Output = Result<Arc<UserCatalogue>>>,
    text: &str,
    limit: usize,
) -> Result<Vec<SourceHit<SearchedSkill>>> {
    let embedding = embed_searched(ctx, text);
    let (catalogue, embedding) = tokio::join!(catalogue, embedding);
    let (catalogue, embedding) = (catalogue?, embedding?);
    let query = Query { message: text, embedding, searched: true, reserved: true, limit, ..Query::default() };
    let found = rank(ctx, &catalogue, query).await?;
    Ok(list_found(&catalogue, &found))
}

/// Ranks the skills of a catalogue by a whole text, including skills that the text names, and finds the skills that
/// the text forbids.
pub(crate) async fn rank(ctx: &Ctx, catalogue: &Arc<UserCatalogue>, query: Query<'_>) -> Result<Recalled> {
    find_in(ctx, catalogue, Query { is_search: true, ..query }).await
}

/// Lists the skills of a ranking, best first. If the text as a whole fits no skill, lists skills that share a word or
/// are near in meaning. Weak hits help more than an empty answer.
///
/// The score is the probability that the text asks for any skill, multiplied by this skill's closeness to the best.
/// Skills that the text forbids are marked and keep their rank.
pub(crate) fn list_found(catalogue: &UserCatalogue, found: &Recalled) -> Vec<SourceHit<SearchedSkill>> {
    let Recalled { ranking, excluded, .. } = found;
    let hits = ranking.hits.iter().filter(|hit| has_evidence(ranking, hit));
    hits.filter_map(|hit| Some((hit, catalogue.skills.get(hit.skill)?)))
        .map(|(hit, skill)| SourceHit {
            item: SearchedSkill {
                id: skill.id,
                name: skill.name.to_string(),
                summary: skill.summary.to_string(),
                closeness: hit.closeness,
                excluded: excluded.iter().any(|mention| mention.skill == hit.skill),
            },
            score: ranking.fit * hit.closeness,
            reason: reason(hit),
        })
        .collect()
}

/// Returns whether a search lists a hit: the text as a whole fits some skill, or shares a word with this skill, or is
/// near in meaning.
pub(crate) fn has_evidence(ranking: &Ranking, hit: &Hit) -> bool {
    let Signals { text, body, meaning, .. } = hit.signals;
    ranking.fit >= FLOOR || text > 0.0 || body > 0.0 || meaning >= NEAR
}

/// Describes the common features of the skill and the message.
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
