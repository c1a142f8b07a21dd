//! Match: the names of skills in a message, and where they stand.

use knowhow_domain::recall::{Stance, has_words};
use knowhow_domain::{Channel, Error, Result, Scope, check_message};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::explain::{Asked, Explanation, why_meant};
use super::search::PATIENCE;
use super::{Query, catalogue_now, embed, find_in};
use crate::Ctx;

/// A message to look for names in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "use the News-Summary skill please"}))]
pub struct MatchSkills {
    /// What the user said.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Whether to say why: of each name whether it is meant, of each candidate what its score is made of.
    #[serde(default)]
    pub explain: Option<bool>,
}

/// A skill's name in a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Matched {
    /// The skill.
    #[schema(example = "news-summary")]
    pub name: String,
    /// The words of the message.
    #[schema(example = "News-Summary")]
    pub text: String,
    /// Where they begin, in Unicode characters from 0.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// Whether its form shows that it is a skill's name: `/weather`, "use weather", "weather skill".
    pub explicit: bool,
    /// Whether a turn would inject it: one common word alone is not enough, nor is a skill that is only asked about or
    /// that is forbidden.
    pub meant: bool,
    /// Whether the message calls for the skill, only names it, asks about it, or forbids it.
    pub stance: Stance,
    /// The words of the message that the stance was read from; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "use")]
    pub cue: Option<String>,
    /// Why it is meant or not, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Names in a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Matches {
    /// Each skill once, the most specific name first.
    pub items: Vec<Matched>,
    /// Why, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Hits that are looked at: what may be explained.
const LOOKED_AT: usize = 20;

/// Finds the names of the user's skills in a message.
///
/// # Errors
/// `Invalid` for an empty message, `TooLarge`.
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
    let asked = Asked { searched, is_late, min_score };
    let explanation = match explains {
        true => Some(Explanation::of(ctx, &catalogue, &found.ranking, &asked).await?),
        false => None,
    };
    Ok(Matches { items, explanation })
}
