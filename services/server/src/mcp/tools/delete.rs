//! `skill_delete`.

use knowhow_domain::Result;
use knowhow_ops::App;
use knowhow_ops::skills::{self, DeleteSkill, Deleted};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::result;
use crate::mcp::handler::Caller;

pub(super) const TITLE: &str = "Delete a skill";
pub(super) const TEXT: &str = "Deletes a skill with its files: it is gone for you at once, and only an admin can bring \
    it back. Call it for a skill that is obsolete, or to merge two: save the combined text under one name first, then \
    delete the other with absorbed_into set to that name, so that the old name keeps leading there. To correct a skill \
    use skill_patch instead. Takes the full name, exactly. A pinned skill is not deleted.\n\
    Returns the name that was deleted.";

/// Which skill, and what replaces it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The skill's full name, e.g. plan-meeting or mcp/email.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The skill that replaces it: from now on it answers to this one's name too.
    #[schema(max_length = 200, example = "mcp/guide")]
    absorbed_into: Option<String>,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    expected_version: Option<i32>,
}

/// What is gone.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answer {
    /// The name that was deleted.
    deleted: String,
    /// The skill that answers to it now.
    absorbed_into: Option<String>,
}

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let Arguments { name, absorbed_into, expected_version } = arguments;
    let input = DeleteSkill { absorbed_into, expected_version };
    let deleted = skills::delete_skill(app, &caller.principal, &caller.call, &name, &input).await?;
    let Deleted { name, absorbed_into } = deleted;
    let text = match &absorbed_into {
        Some(successor) => format!("Deleted '{name}'; '{successor}' answers to its name from now on."),
        None => format!("Deleted '{name}'."),
    };
    result(text, &Answer { deleted: name, absorbed_into })
}
