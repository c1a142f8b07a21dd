//! The tool `skill_delete`.

use knowhow_domain::{Error, Result, Scope, SubmissionId};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, DeleteSkill, Deleted};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    name: String,
    /// The skill that replaces it.
    absorbed_into: Option<String>,
    #[schema(minimum = 1)]
    expected_version: Option<i32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answer {
    /// Full name of the deleted skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<String>,
    /// The submission, if the deletion awaits review.
    #[serde(skip_serializing_if = "Option::is_none")]
    submission: Option<SubmissionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absorbed_into: Option<String>,
}

pub(super) struct Delete;

impl Tool for Delete {
    const NAME: &'static str = "skill_delete";
    const TITLE: &'static str = "Delete a skill";
    const TEXT: &'static str = "Deletes an obsolete skill; only an admin can restore it. To merge two, save the \
        combined text under one name and delete the other with absorbed_into.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Destroys;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { name, absorbed_into, expected_version } = arguments;
        let input = DeleteSkill { skill: name, absorbed_into, expected_version };
        let deleted = match skills::delete_skill(caller.ctx()?, &input).await {
            Err(Error::Waits(waiting)) => {
                let answer = Answer { deleted: None, submission: Some(waiting.id), absorbed_into: None };
                return result(marks::of_waiting(&waiting), &answer);
            }
            deleted => deleted?,
        };
        let Deleted { name, absorbed_into } = deleted;
        let text = match &absorbed_into {
            Some(successor) => format!("Deleted '{name}'; that name now leads to '{successor}'."),
            None => format!("Deleted '{name}'."),
        };
        result(text, &Answer { deleted: Some(name), submission: None, absorbed_into })
    }
}
