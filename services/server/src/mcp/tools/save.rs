//! `skill_save`.

use knowhow_domain::Result;
use knowhow_ops::App;
use knowhow_ops::skills::{self, SaveSkill, SavedSkill};
use rmcp::model::CallToolResult;

use super::result;
use crate::mcp::handler::Caller;

pub(super) type Arguments = SaveSkill;
pub(super) type Answer = SavedSkill;

pub(super) const TITLE: &str = "Save a skill";
pub(super) const TEXT: &str = "Creates a skill, or replaces the text of an existing one. A skill is a named procedure \
    in markdown that you can follow again later. Save one after work that took five or more tool calls, after a tricky \
    error you solved, when you found a workflow that is not obvious, or when the user asks you to remember how \
    something is done. Look with skill_list first: to change a part of an existing skill use skill_patch instead.\n\
    Give name (lowercase words joined by '-', a namespace before '/': plan-meeting, mcp/email), description (what it \
    does and when to use it) and content (## When to Use, ## Procedure, ## Pitfalls, ## Verification); or skill_md, a \
    whole SKILL.md. The text is always given whole; other fields of an existing skill that you leave out keep their \
    values. Never save secrets.\n\
    Returns the skill with its version. unchanged: it was saved like this before. similar: existing skills that may \
    be about the same; view them and merge.";

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let saved = skills::save_skill(app, &caller.principal, &caller.call, &arguments, false).await?;
    let (name, version) = (&saved.skill.skill.name, saved.skill.skill.version);
    let mut text = match (saved.created, saved.skill.unchanged) {
        (true, _) => format!("Created the skill '{name}', version {version}."),
        (_, true) => format!("The skill '{name}' was like this already: still version {version}."),
        _ => format!("Saved the skill '{name}' as version {version}."),
    };
    if !saved.skill.similar.is_empty() {
        let names: Vec<&str> = saved.skill.similar.iter().map(|s| s.name.as_str()).collect();
        text.push_str(&format!(" Existing skills that may be about the same: {}.", names.join(", ")));
    }
    result(text, &saved.skill)
}
