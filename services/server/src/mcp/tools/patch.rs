//! `skill_patch`.

use knowhow_domain::patch::{self, Strategy};
use knowhow_domain::{Error, Result, Scope, SubmissionId};
use knowhow_ops::sessions::Standing;
use knowhow_ops::skills::{self, PatchSkill};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, count, marks, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    name: String,
    edits: Vec<Edit>,
    #[schema(minimum = 1)]
    expected_version: Option<i32>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// Copied exactly, occurring once or replace_all.
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
    /// A file of the skill; SKILL.md by default.
    path: Option<String>,
}

impl From<Edit> for patch::Edit {
    fn from(edit: Edit) -> Self {
        let Edit { old_string, new_string, replace_all, path } = edit;
        Self { old_string, new_string, replace_all: replace_all.unwrap_or_default(), path }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    unchanged: bool,
    /// The submission, where the change waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    submission: Option<SubmissionId>,
    #[schema(value_type = i32)]
    replacements: u32,
    #[schema(value_type = String)]
    matched: Strategy,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

const LOOSELY_FOUND: &str = "The text was found although blanks or indentation differed; view it to be sure.";

pub(super) struct Patch;

impl Tool for Patch {
    const NAME: &'static str = "skill_patch";
    const TITLE: &'static str = "Patch a skill";
    const TEXT: &'static str = "Replaces text in a skill: the preferred way to change one. Call it at once when a \
    skill you followed was wrong, incomplete or out of date. All edits are made, or none and the closest passages \
    shown.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, standing: &Standing, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { name, edits, expected_version } = arguments;
        let input = PatchSkill { skill: name, edits: edits.into_iter().map(Into::into).collect(), expected_version };
        let patched = match skills::patch_skill(caller.ctx()?, &input).await {
            Err(Error::Waits(waiting)) => {
                let (text, submission) = (marks::of_waiting(&waiting), Some(waiting.id));
                let answer = Answer {
                    name: waiting.skill,
                    version: None,
                    unchanged: true,
                    submission,
                    replacements: 0,
                    matched: Strategy::Exact,
                    note: Some(text.clone()),
                };
                return result(text, &answer);
            }
            patched => patched?,
        };
        let (name, version, tainted) = (patched.skill.name, patched.skill.version, patched.skill.tainted);
        let (unchanged, matched) = (patched.unchanged, patched.matched);
        let replacements = u32::try_from(patched.replacements).unwrap_or(u32::MAX);
        let mut text = if unchanged {
            format!("'{name}' had this patch already: still version {version}.")
        } else {
            let replaced = count(replacements.into(), "replacement");
            format!("Patched '{name}': {replaced}, version {version}.")
        };
        let loosely = (!unchanged && matched != Strategy::Exact).then(|| LOOSELY_FOUND.to_owned());
        let notes: Vec<String> = loosely.into_iter().chain(marks::of_skill(standing, tainted && !unchanged)).collect();
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        marks::append(&mut text, note.as_deref());
        result(text, &Answer { name, version: Some(version), unchanged, submission: None, replacements, matched, note })
    }
}
