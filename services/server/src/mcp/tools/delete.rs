//! `skill_delete`.

use knowhow_domain::{Result, Scope};
use knowhow_ops::sessions::Standing;
use knowhow_ops::skills::{self, DeleteSkill, Deleted};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, result};
use crate::mcp::handler::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The full name.
    name: String,
    /// The skill that answers to its name from now on.
    absorbed_into: Option<String>,
    #[schema(minimum = 1)]
    expected_version: Option<i32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answer {
    deleted: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    absorbed_into: Option<String>,
}

pub(super) struct Delete;

impl Tool for Delete {
    const NAME: &'static str = "skill_delete";
    const TITLE: &'static str = "Delete a skill";
    const TEXT: &'static str = "Deletes a skill that is obsolete; only an admin can bring it back. To merge two, save \
    the combined text under one name, then delete the other with absorbed_into.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Destroys;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &Standing, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { name, absorbed_into, expected_version } = arguments;
        let input = DeleteSkill { skill: name, absorbed_into, expected_version };
        let deleted = skills::delete_skill(caller.ctx()?, &input).await?;
        let Deleted { name, absorbed_into } = deleted;
        let text = match &absorbed_into {
            Some(successor) => format!("Deleted '{name}'; '{successor}' answers to its name from now on."),
            None => format!("Deleted '{name}'."),
        };
        result(text, &Answer { deleted: name, absorbed_into })
    }
}
