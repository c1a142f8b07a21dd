//! The tool `skill_suggest`.

use std::fmt::Write;

use knowhow_domain::review::untrusted;
use knowhow_domain::{Result, Scope};
use knowhow_ops::recall::{self, SuggestSkills, Suggested, Suggestions};
use knowhow_ops::sessions::NamedSession;
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{EXCLUDED, Effect, Tool, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The user's message, the task or your plan, in any language.
    context: String,
    #[schema(minimum = 1, maximum = 50, default = 5)]
    limit: Option<u32>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[schema(value_type = Vec<Object>)]
    items: Vec<SuggestItem>,
}

#[derive(Serialize)]
struct SuggestItem {
    name: String,
    summary: String,
    fits: bool,
    score: f32,
    reason: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    excluded: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tainted: bool,
}

impl SuggestItem {
    fn of(suggested: Suggested) -> Self {
        let Suggested { name, summary, score, reason, fits, excluded, tainted, .. } = suggested;
        Self { name, summary, fits, score, reason, excluded, tainted }
    }
}

/// Text to return if all results have a score below the tenant's `min_score`.
const NONE_FITS: &str = "No skill fits well; these are merely the closest.";
/// Text to return if there are no results.
const NONE_NEAR: &str = "No skill fits. Try other words, or continue without one and skill_save what you learn.";

pub(super) struct Suggest;

impl Tool for Suggest {
    const NAME: &'static str = "skill_suggest";
    const TITLE: &'static str = "Suggest skills";
    const TEXT: &'static str = "Finds skills for what you are about to do. Call it before non-trivial work and when \
        the work changes direction. Read results marked `fits` with skill_view; the others are \
        merely the closest.";
    const SCOPE: Scope = Scope::SkillsRead;
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { context, limit } = arguments;
        let query = SuggestSkills { context, limit, explain: None };
        let Suggestions { items, .. } = recall::suggest_skills(caller.ctx()?, &query).await?;
        let (fitting, near): (Vec<Suggested>, Vec<Suggested>) = items.into_iter().partition(|item| item.fits);
        let note = match (fitting.is_empty(), near.is_empty()) {
            (false, _) => None,
            (true, false) => Some(NONE_FITS),
            (true, true) => Some(NONE_NEAR),
        };
        let text = describe(&fitting, &near, note);
        let items = fitting.into_iter().chain(near).map(SuggestItem::of).collect();
        result(text, &Answer { note, items })
    }
}

fn describe(fitting: &[Suggested], near: &[Suggested], note: Option<&str>) -> String {
    let mut text = note.unwrap_or_default().to_owned();
    match fitting.len() {
        0 => {}
        1 => text.push_str("1 skill may help; read it with skill_view:"),
        n => text.push_str(&format!("{n} skills may help, best first; read those that fit with skill_view:")),
    }
    let line = |text: &mut String, item: &Suggested| {
        let (excluded, mark) = (if item.excluded { EXCLUDED } else { "" }, untrusted::mark(item.tainted));
        let _ = write!(text, "\n- {}{excluded}{mark}: {} ({})", item.name, item.summary, item.reason);
    };
    fitting.iter().for_each(|item| line(&mut text, item));
    if !fitting.is_empty() && !near.is_empty() {
        text.push_str("\nClose, but less likely:");
    }
    near.iter().for_each(|item| line(&mut text, item));
    if fitting.iter().chain(near).any(|item| item.tainted) {
        let _ = write!(text, "\n({})", untrusted::MEANING);
    }
    text
}
