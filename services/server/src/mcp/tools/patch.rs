//! The tool `skill_patch`.

use knowhow_domain::skills::patch::{self, Strategy};
use knowhow_domain::{Error, ResourcePath, Result, Scope, SubmissionId};
use knowhow_ops::sessions::NamedSession;
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
    /// Copied exactly; must occur once unless replace_all.
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
    /// Default: SKILL.md.
    path: Option<String>,
}

impl From<Edit> for patch::Edit {
    fn from(edit: Edit) -> Self {
        let Edit { old_string, new_string, replace_all, path } = edit;
        let path = path.map(|path| ResourcePath::without_dot(&path).to_owned());
        Self { old_string, new_string, replace_all: replace_all.unwrap_or_default(), path }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    unchanged: bool,
    /// The submission, if the change awaits review.
    #[serde(skip_serializing_if = "Option::is_none")]
    submission: Option<SubmissionId>,
    #[schema(value_type = i32)]
    replacements: u32,
    #[schema(value_type = String)]
    matched: Strategy,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Describes how the text that a strategy matched differs from `old_string`; `None` if they are identical.
fn difference(matched: Strategy) -> Option<&'static str> {
    Some(match matched {
        Strategy::Exact => return None,
        Strategy::TrailingWhitespace => "blanks at the end of lines differed",
        Strategy::LineEndings => "line ends differed",
        Strategy::Whitespace => "the number of blanks differed",
        Strategy::Indentation => "indentation differed",
        Strategy::Unicode => "dashes, quotes, special blanks or composed letters differed",
        Strategy::Escapes => "old_string had escapes such as \\n, which were read as the characters they mean",
        Strategy::Similarity => "blanks next to punctuation or quotes differed",
    })
}

pub(super) struct Patch;

impl Tool for Patch {
    const NAME: &'static str = "skill_patch";
    const TITLE: &'static str = "Patch a skill";
    const TEXT: &'static str = "Replaces text in a skill. Call it at once when a skill you followed was wrong, \
        incomplete or out of date. If an edit does not match, no edit is applied, and the \
        closest passages are shown.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, named_session: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
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
            format!("'{name}' already had this patch: still version {version}.")
        } else {
            let replaced = count(replacements.into(), "replacement");
            format!("Patched '{name}': {replaced}, version {version}.")
        };
        let loosely = (!unchanged)
            .then(|| difference(matched))
            .flatten()
            .map(|what| format!("The text was found although {what}; view it to be sure."));
        let notes: Vec<String> =
            loosely.into_iter().chain(marks::of_skill(named_session, tainted && !unchanged)).collect();
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        marks::append(&mut text, note.as_deref());
        result(text, &Answer { name, version: Some(version), unchanged, submission: None, replacements, matched, note })
    }
}
