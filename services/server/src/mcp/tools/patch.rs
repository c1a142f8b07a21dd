//! `skill_patch`.

use knowhow_domain::Result;
use knowhow_domain::patch::{Edit, Strategy};
use knowhow_ops::App;
use knowhow_ops::skills::{self, PatchSkill, Patched};
use rmcp::model::CallToolResult;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{count, result};
use crate::mcp::handler::Caller;

pub(super) type Answer = Patched;

pub(super) const TITLE: &str = "Patch a skill";
pub(super) const TEXT: &str = "Replaces text in a skill: the preferred way to change one. Call it at once when a skill \
    you followed turned out wrong, incomplete or out of date. Each edit replaces old_string, copied exactly from \
    skill_view and occurring exactly once (or give replace_all), by new_string; with path it works on one of the \
    skill's other files, without on SKILL.md, frontmatter included. All edits are made or none. The same patch again \
    changes nothing. Give expected_version where the change makes sense on that version alone.\n\
    Returns the skill with its new version, the number of replacements, and in matched how the text was found: \
    anything but exact means that blanks or indentation differed. If old_string is not there or not unique, the error \
    shows the closest passages with their line numbers.";

/// Which skill, and the edits to make, in order, all or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The skill's name, e.g. plan-meeting or mcp/email.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Replacements; each works on the result of the one before.
    #[schema(min_items = 1, max_items = 100)]
    edits: Vec<Edit>,
    /// The version the edits are based on.
    #[schema(minimum = 1)]
    expected_version: Option<i32>,
}

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let Arguments { name, edits, expected_version } = arguments;
    let input = PatchSkill { edits, expected_version };
    let patched = skills::patch_skill(app, &caller.principal, &caller.call, &name, &input).await?;
    let (name, version) = (&patched.skill.name, patched.skill.version);
    let text = if patched.unchanged {
        format!("'{name}' had this patch already: still version {version}.")
    } else {
        let replacements = count(i64::try_from(patched.replacements).unwrap_or(i64::MAX), "replacement");
        let how = match patched.matched {
            Strategy::Exact => "",
            _ => " The text was found although blanks or indentation differed; view it to be sure.",
        };
        format!("Patched '{name}': {replacements}, version {version}.{how}")
    };
    result(text, &patched)
}
