//! `skill_suggest`.

use std::fmt::Write;

use knowhow_domain::Result;
use knowhow_ops::App;
use knowhow_ops::recall::{self, SuggestSkills, Suggestions};
use rmcp::model::CallToolResult;

use super::{count, result};
use crate::mcp::handler::Caller;

pub(super) type Arguments = SuggestSkills;
pub(super) type Answer = Suggestions;

pub(super) const TITLE: &str = "Suggest skills";
pub(super) const TEXT: &str = "Finds the skills that may help with what is going on. Give context: the user's message, \
    the task, or a sentence or two about what you are about to do, in any language. Call it before work that is not \
    trivial, and again when the work takes a turn; then read what fits with skill_view. limit is 1 to 50, 5 by default.\n\
    Returns items, best first, each with the reason: how well it fits, how important it is, how lately it was used. \
    None is no error: no skill has anything to do with it. Being suggested does not count as use.";

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let suggestions = recall::suggest_skills(app, &caller.principal, &arguments).await?;
    let mut text = match suggestions.items.len() {
        0 => String::from(
            "No skill fits. Say it in other words, look through skill_list, or go on without; skill_save what you learn.",
        ),
        n => format!("{} may help, best first; read with skill_view what fits:", count(n as i64, "skill")),
    };
    for item in &suggestions.items {
        let _ = write!(text, "\n- {}: {} ({})", item.name, item.summary, item.reason);
    }
    result(text, &suggestions)
}
