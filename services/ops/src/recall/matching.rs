//! Matches the names of skills in a message, with their positions.

use std::collections::HashSet;
use std::time::Duration;

use knowhow_domain::recall::{Judge, Stance, has_words};
use knowhow_domain::{Channel, Error, Result, Scope, check_message};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::explain::{Explanation, RankingContext, why_meant};
use super::meaning::PATIENCE;
use super::{Query, Recalled, UserCatalogue, catalogue_now, embed, find_in};
use crate::Ctx;
use crate::recall::judge::{JudgeRequest, Judgement, judge_found};

/// A message to find names of skills in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "use the News-Summary skill please"}))]
pub struct MatchSkills {
    /// The user's message.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Whether to include reasons: the reason for `meant` for each name, and the parts of the score for each
    /// candidate.
    #[serde(default)]
    pub explain: Option<bool>,
    /// Mode of judging the candidates with a chat model; used only with `explain`. The default is `off`, even if the
    /// tenant's setting for turns differs.
    #[serde(default)]
    pub judge: Option<Judge>,
}

/// A skill's name in a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Matched {
    /// The skill's full name, with its namespaces.
    #[schema(example = "news-summary")]
    pub name: String,
    /// The words of the message that name the skill.
    #[schema(example = "News-Summary")]
    pub text: String,
    /// Start of these words, in Unicode characters from 0.
    pub start: usize,
    /// End of these words, exclusive, in Unicode characters from 0.
    pub end: usize,
    /// Whether the form of the words marks a skill's name: `/weather`, "use weather", "weather skill".
    pub explicit: bool,
    /// Whether a turn would include the skill. False if only a common word matches, or if the message only asks about
    /// the skill or forbids it.
    pub meant: bool,
    /// Whether the message calls for the skill, only names it, asks about it, or forbids it.
    pub stance: Stance,
    /// The words of the message that determined the stance; absent if there are no such words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "use")]
    pub cue: Option<String>,
    /// The reason for `meant`; absent unless requested with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Names in a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Matches {
    /// Each skill once, the most specific name first.
    pub items: Vec<Matched>,
    /// The scores and decisions; absent unless requested with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Maximum number of ranked hits. An explanation shows at most this number.
const LOOKED_AT: usize = 20;

/// Maximum wait for a model that judges. It equals the default of a turn.
const JUDGE_PATIENCE: Duration = Duration::from_millis(2_000);

/// Finds the names of the user's skills in a message.
///
/// # Errors
/// `Invalid` if the message is empty, `TooLarge` if it is too long.
pub async fn match_skills(ctx: &Ctx, input: &MatchSkills) -> Result<Matches> {
    ctx.principal.require(Scope::SkillsRead)?;
    let message = check_message(&input.message)?;
    let searched = has_words(message);
    let embedding =
        async { if searched { embed(ctx, message, Some(Instant::now() + PATIENCE)).await } else { Ok((None, false)) } };
    let (catalogue, embedding) = tokio::join!(catalogue_now(ctx), embedding);
    let (catalogue, (embedding, is_late)) = (catalogue?, embedding?);
    let query = Query { message, embedding, searched, limit: LOOKED_AT, ..Query::default() };
    let found = find_in(ctx, &catalogue, query).await?;
    let explains = input.explain.unwrap_or_default();
    let meant = found.named.iter().map(|mention| (mention, true));
    let others = found.asked.iter().chain(&found.excluded).chain(&found.unmeant).map(|mention| (mention, false));
    let mut items = Vec::new();
    for (mention, meant) in meant.chain(others) {
        let skill = catalogue.skills.get(mention.skill).ok_or_else(|| Error::internal("a place without a skill"))?;
        items.push(Matched {
            name: skill.name.to_string(),
            text: message.get(mention.bytes.clone()).unwrap_or_default().to_owned(),
            start: mention.chars.start,
            end: mention.chars.end,
            explicit: mention.explicit,
            meant,
            stance: mention.stance,
            cue: mention.cue.clone().and_then(|cue| message.get(cue)).map(str::to_owned),
            reason: explains.then(|| why_meant(mention, meant).to_owned()),
        });
    }
    let min_score = ctx.principal.settings().min_score(Channel::default());
    let explanation = match explains {
        true => {
            let judgement = judge(ctx, input, &catalogue, &found).await?;
            let asked = RankingContext { searched, is_late, min_score, judgement };
            Some(Explanation::of(ctx, &catalogue, &found.ranking, &asked).await?)
        }
        false => None,
    };
    Ok(Matches { items, explanation })
}

/// Asks a model to judge the ranking, if the caller requested judging and a model is configured.
async fn judge(
    ctx: &Ctx,
    input: &MatchSkills,
    catalogue: &UserCatalogue,
    found: &Recalled,
) -> Result<Option<Judgement>> {
    let mode = input.judge.unwrap_or_default();
    if mode == Judge::Off || ctx.app.models.judge.is_none() {
        return Ok(None);
    }
    let judging = JudgeRequest {
        mode,
        message: &input.message,
        before: None,
        min_score: ctx.principal.settings().min_score(Channel::default()),
        deadline: Instant::now() + JUDGE_PATIENCE,
        catalogue,
        shown: &HashSet::new(),
    };
    judge_found(ctx, &judging, found).await.map(Some)
}
