//! Explains recall: the scores and decisions behind the skills that fit a message.

use std::collections::HashMap;

use chrono::TimeDelta;
use knowhow_domain::graph::Offers;
use knowhow_domain::recall::{Hit, Mention, Ranking, Stance};
use knowhow_domain::tenants::usage::USE_DAYS;
use knowhow_domain::{Result, SkillId};
use knowhow_store::skills::offer_counts;
use serde::Serialize;
use utoipa::ToSchema;

use super::UserCatalogue;
use crate::Ctx;
use crate::recall::judge::{Judged, Judgement};

/// Maximum number of candidates in an explanation.
const CANDIDATES: usize = 20;

/// The scores and decisions behind the skills that fit a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Explanation {
    /// Whether the message was searched. A message without letters and digits is not searched.
    pub searched: bool,
    /// Probability that the message asks for any skill except the named ones, 0 to 1.
    pub fit: f32,
    /// Minimum `fit` at which a turn includes skills.
    pub min_score: f32,
    /// The best candidates, best first, whether a turn includes them or not.
    pub candidates: Vec<Candidate>,
    /// Parts that were not available in time:
    /// - `embedding`: the message's vector; only words were compared
    /// - `bodies`: the texts of a large library, which are still being read; skills are found by their descriptions
    /// - `judge`: the chat model's answer
    pub degraded: Vec<String>,
    /// Result of judging the candidates by a chat model; absent if `judge` was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Judged>,
}

/// A candidate of a ranking.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Candidate {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// Whether a turn would include the skill, if it was not shown before and the channel's limit permits.
    pub comes: bool,
    /// Weighted sum of the parts; candidates are ordered by it. A difference of 1 makes a skill 2.7 times as likely.
    pub score: f32,
    /// Probability relative to the best candidate, 0 to 1.
    pub closeness: f32,
    /// Parts of the score, before they are weighted.
    pub parts: Parts,
    /// Counts of the turns that offered the skill in the last 30 days, and of the results. The score does not depend on
    /// them.
    pub offers: Offers,
}

/// The parts of a score before they are weighted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Parts {
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body.
    pub body: f32,
    /// Phrases of the message that the body repeats.
    pub phrases: f32,
    /// Rarity of the words of a trigger phrase that the message contains in full.
    pub trigger: f32,
    /// Cosine of the message to name, description and triggers; 0 without vectors.
    pub meaning: f32,
    /// Cosine of the message to the nearest message after which the skill was used.
    pub examples: f32,
    /// Cosine of the message to the nearest message that the skill did not apply to. If it exceeds the evidence for
    /// the skill, all other parts except a name are reduced by the difference.
    pub counter_examples: f32,
    /// Share of the message that the skill contains anywhere.
    pub cover: f32,
}

/// The inputs of an explanation apart from the ranking.
pub(super) struct RankingContext {
    /// Whether the text had words to search for.
    pub(super) searched: bool,
    /// Whether the text's vector was not computed by the deadline.
    pub(super) is_late: bool,
    /// Minimum probability, 0 to 1, that the text asks for any skill. Below it a turn includes no skills.
    pub(super) min_score: f32,
    /// The result of the model that judged, if judging was requested.
    pub(super) judgement: Option<Judgement>,
}

impl Explanation {
    /// Explains the first `CANDIDATES` hits of a ranking.
    ///
    /// # Errors
    /// `Unavailable` if the database does not answer.
    pub(super) async fn of(
        ctx: &Ctx,
        catalogue: &UserCatalogue,
        ranking: &Ranking,
        asked: &RankingContext,
    ) -> Result<Self> {
        let RankingContext { searched, is_late, min_score, ref judgement } = *asked;
        let coming = ranking.relevant(min_score).len();
        let chosen = judgement.as_ref().and_then(|judgement| judgement.chosen.as_ref());
        let judged = judgement.as_ref().map(|judgement| judgement.judged);
        let skills = ranking.hits.iter().take(CANDIDATES).filter_map(|hit| Some(catalogue.skills.get(hit.skill)?.id));
        let offers = list_offers(ctx, skills.collect()).await?;
        let candidate = |(place, hit): (usize, &Hit)| {
            let skill = catalogue.skills.get(hit.skill)?;
            Some(Candidate {
                name: skill.name.to_string(),
                comes: chosen.map_or(place < coming, |chosen| chosen.contains(&skill.id)),
                score: hit.score,
                closeness: hit.closeness,
                parts: Parts::of(hit),
                offers: offers.get(&skill.id).copied().unwrap_or_default(),
            })
        };
        Ok(Self {
            searched,
            fit: ranking.fit,
            min_score,
            candidates: ranking.hits.iter().take(CANDIDATES).enumerate().filter_map(candidate).collect(),
            degraded: list_degraded(is_late, catalogue, judged),
            judge: judged,
        })
    }
}

async fn list_offers(ctx: &Ctx, skills: Vec<SkillId>) -> Result<HashMap<SkillId, Offers>> {
    if skills.is_empty() {
        return Ok(HashMap::new());
    }
    let since = (ctx.now() - TimeDelta::days(USE_DAYS)).date_naive();
    Ok(offer_counts::list(&ctx.app.db, &ctx.principal, &skills, since).await?.into_iter().collect())
}

fn list_degraded(is_late: bool, catalogue: &UserCatalogue, judged: Option<Judged>) -> Vec<String> {
    let lacks_judge = judged.is_some_and(|judged| judged.failure.is_some());
    let lacks = [(is_late, "embedding"), (!catalogue.has_bodies, "bodies"), (lacks_judge, "judge")];
    lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, name)| name.to_owned()).collect()
}

impl Parts {
    fn of(hit: &Hit) -> Self {
        let s = &hit.signals;
        Self {
            text: s.text,
            body: s.body,
            phrases: s.phrases,
            trigger: s.trigger,
            meaning: s.cosine,
            examples: s.example,
            counter_examples: s.counter,
            cover: s.cover,
        }
    }
}

/// Returns the reason why a name in a message refers to the skill or does not.
pub(super) fn why_meant(mention: &Mention, meant: bool) -> &'static str {
    let is_name = mention.explicit || !mention.common;
    match mention.stance {
        Stance::Forbidden if is_name => return "the user excluded it",
        Stance::AskedAbout => return "the message asks about it and does not call for it",
        Stance::Forbidden => return "it is an ordinary word, and the message negates it",
        Stance::Called | Stance::Named => {}
    }
    match (mention.explicit, mention.common, meant) {
        (true, ..) => "it is called explicitly",
        (_, false, _) => "it is no ordinary word",
        (_, _, true) => "it is an ordinary word, and the rest of the message or its meaning agrees",
        (_, _, false) => "it is an ordinary word, and the rest of the message does not point to the skill",
    }
}
