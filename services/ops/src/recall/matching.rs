//! Match: the names of skills in a message, and where they stand.

use knowhow_domain::recall::is_short;
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::Principal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Query, catalogue_now, embed_searched, recall};
use crate::App;
use crate::sessions::check_message;

/// A message to look for names in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "use the News-Summary skill please"}))]
pub struct MatchSkills {
    /// What the user said.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
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
    /// Whether it is called in so many words: `/weather`, "use weather", "weather skill".
    pub explicit: bool,
    /// Whether a turn would inject it: one common word alone is not enough.
    pub meant: bool,
}

/// Names in a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Matches {
    /// Each skill once, the most specific name first.
    pub items: Vec<Matched>,
}

/// Finds the names of the user's skills in a message.
///
/// # Errors
/// `Invalid` for an empty message, `TooLarge`.
pub async fn match_skills(app: &App, principal: &Principal, input: &MatchSkills) -> Result<Matches> {
    principal.require(Scope::SkillsRead)?;
    let message = check_message(&input.message)?;
    let searched = !is_short(message);
    let embedding = async { if searched { embed_searched(app, principal, message).await } else { Ok(None) } };
    let (catalogue, embedding) = tokio::join!(catalogue_now(app, principal), embedding);
    let (catalogue, embedding) = (catalogue?, embedding?);
    let query = Query { message, embedding, searched, limit: 10 };
    let found = recall(app, principal, &catalogue, query).await?;
    let meant = found.named.iter().map(|mention| (mention, true));
    let mut items = Vec::new();
    for (mention, meant) in meant.chain(found.unmeant.iter().map(|mention| (mention, false))) {
        let skill = catalogue.skills.get(mention.skill).ok_or_else(|| Error::internal("a place without a skill"))?;
        items.push(Matched {
            name: skill.name.to_string(),
            text: message.get(mention.bytes.clone()).unwrap_or_default().to_owned(),
            start: mention.chars.start,
            end: mention.chars.end,
            explicit: mention.explicit,
            meant,
        });
    }
    Ok(Matches { items })
}
