//! The tool `skill_submit`.

use knowhow_domain::kernel::validation_message::read_value;
use knowhow_domain::{Error, Result, Scope, Submission, SubmissionId, SubmissionState};
use knowhow_ops::review::{self, Submit};
use knowhow_ops::sessions::NamedSession;
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    name: String,
    /// For the reviewer.
    reason: Option<String>,
    /// Purpose and when to use it.
    description: Option<String>,
    /// The markdown body of a whole skill.
    content: Option<String>,
    /// A whole SKILL.md instead.
    skill_md: Option<String>,
    /// For a change; old_string copied exactly.
    #[schema(value_type = Option<Vec<EditArgument>>)]
    edits: Option<Vec<Map<String, Value>>>,
    #[schema(minimum = 0)]
    expected_version: Option<i32>,
}

/// Describes an edit; its members are read as those of REST.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the members")]
struct EditArgument {
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
    path: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    submission: SubmissionId,
    name: String,
    #[schema(value_type = String)]
    state: SubmissionState,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
}

pub(super) struct SubmitSkill;

impl Tool for SubmitSkill {
    const NAME: &'static str = "skill_submit";
    const TITLE: &'static str = "Submit a skill";
    const TEXT: &'static str = "Proposes a skill, or edits of one, for review: when you are not sure that it is right \
        or safe. Checks approve it at once, or a person decides later. For ordinary work use \
        skill_save and skill_patch.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let input = input(arguments)?;
        let submission = review::submit_skill(caller.ctx()?, &input).await?;
        let text = match submission.state {
            SubmissionState::Approved => format!(
                "Approved by the checks: '{}' is now at version {}.",
                submission.skill,
                submission.applied_version.unwrap_or_default()
            ),
            _ => marks::of_waiting(&submission),
        };
        let Submission { id, skill, state, applied_version, .. } = submission;
        result(text, &Answer { submission: id, name: skill, state, version: applied_version })
    }
}

/// Builds the request body that REST would accept.
fn input(arguments: Arguments) -> Result<Submit> {
    let Arguments { name, reason, description, content, skill_md, edits, expected_version } = arguments;
    let named = if edits.is_some() { "skill" } else { "name" };
    let members = [
        (named, json!(name)),
        ("reason", json!(reason)),
        ("description", json!(description)),
        ("content", json!(content)),
        ("skill_md", json!(skill_md)),
        ("edits", json!(edits)),
        ("expected_version", json!(expected_version)),
    ];
    let given = members.into_iter().filter(|(_, value)| !value.is_null());
    let body = Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect());
    read_value(&body).map_err(|finding| Error::Invalid(vec![finding]))
}
