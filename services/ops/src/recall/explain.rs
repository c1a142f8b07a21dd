//! Explain: why a message brings the skills that it brings, for people who ask why one did not come.

use std::collections::HashMap;

use chrono::TimeDelta;
use knowhow_domain::graph::Offers;
use knowhow_domain::recall::{Hit, Mention, Ranking, Stance};
use knowhow_domain::used::USE_DAYS;
use knowhow_domain::{Result, SkillId};
use knowhow_store::offered;
use serde::Serialize;
use utoipa::ToSchema;

use super::UserCatalogue;
use crate::Ctx;

/// Most candidates that are explained.
const CANDIDATES: usize = 20;

/// How the skills that fit a message were found and judged.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Explanation {
    /// Whether the message was searched: one without letters and digits is not.
    pub searched: bool,
    /// How likely the message asks for any skill at all besides those that it names, 0 to 1.
    pub fit: f32,
    /// What it must reach in a turn.
    pub min_score: f32,
    /// The best candidates, best first, whether they come or not.
    pub candidates: Vec<Candidate>,
    /// What was not there in time: `embedding`, without which words alone decided; `bodies`, of a large library that was
    /// not looked at for long, whose skills are found by their descriptions meanwhile.
    pub degraded: Vec<String>,
}

/// One candidate.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Candidate {
    /// The skill's full name, with its namespaces.
    pub name: String,
    /// Whether a turn would bring it, if it was not shown before and as far as the channel takes so many.
    pub comes: bool,
    /// The sum by which candidates are ordered; a difference of 1 makes one 2.7 times as likely as the other.
    pub score: f32,
    /// How likely it is beside the best one, 0 to 1.
    pub closeness: f32,
    /// What the score was made of.
    pub parts: Parts,
    /// How often turns offered it in the last 30 days, and what came of that. The score does not depend on it.
    pub offers: Offers,
}

/// The parts of a score, before they are weighed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Parts {
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body.
    pub body: f32,
    /// Phrases of the message that the body repeats.
    pub phrases: f32,
    /// How rare the words are of a trigger phrase that the message says whole.
    pub trigger: f32,
    /// Cosine of the message to name, description and triggers; without vectors 0.
    pub meaning: f32,
    /// Cosine of the message to the nearest message after which the skill was used.
    pub examples: f32,
    /// Cosine of the message to the nearest message to which the skill did not apply. As far as that is nearer than what speaks for
    /// the skill, the other parts, but for the name, are less than they would be.
    pub counter_examples: f32,
    /// Share of the message that the skill holds anywhere.
    pub cover: f32,
}

/// How a ranking was asked for.
pub(super) struct Asked {
    /// Whether the text was long enough to be looked for.
    pub(super) searched: bool,
    /// Whether its vector should have been there and was not.
    pub(super) is_late: bool,
    /// How likely the text must ask for any skill.
    pub(super) min_score: f32,
}

impl Explanation {
    /// Explains a ranking that has at least as many hits as are explained.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(super) async fn of(ctx: &Ctx, catalogue: &UserCatalogue, ranking: &Ranking, asked: &Asked) -> Result<Self> {
        let Asked { searched, is_late, min_score } = *asked;
        let coming = ranking.relevant(min_score).len();
        let skills = ranking.hits.iter().take(CANDIDATES).filter_map(|hit| Some(catalogue.skills.get(hit.skill)?.id));
        let offers = list_offers(ctx, skills.collect()).await?;
        let candidate = |(place, hit): (usize, &Hit)| {
            let skill = catalogue.skills.get(hit.skill)?;
            Some(Candidate {
                name: skill.name.to_string(),
                comes: place < coming,
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
            degraded: list_degraded(is_late, catalogue),
        })
    }
}

async fn list_offers(ctx: &Ctx, skills: Vec<SkillId>) -> Result<HashMap<SkillId, Offers>> {
    if skills.is_empty() {
        return Ok(HashMap::new());
    }
    let since = (ctx.now() - TimeDelta::days(USE_DAYS)).date_naive();
    Ok(offered::list(&ctx.app.db, &ctx.principal, &skills, since).await?.into_iter().collect())
}

fn list_degraded(is_late: bool, catalogue: &UserCatalogue) -> Vec<String> {
    let (embedding, bodies) = (is_late.then_some("embedding"), (!catalogue.has_bodies).then_some("bodies"));
    embedding.into_iter().chain(bodies).map(str::to_owned).collect()
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

/// Why a name in a message is meant as such, or not.
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
        (_, _, false) => "it is an ordinary word, and nothing else in the message points to the skill",
    }
}
