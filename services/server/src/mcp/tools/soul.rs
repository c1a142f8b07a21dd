//! The tool `soul_update`.

use knowhow_domain::{Error, Result, Scope, Soul};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::sessions::soul::{self, PutSoul};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, result};
use crate::mcp::caller::Caller;
use crate::mcp::problem::tool_refusal;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The whole soul; an empty text removes it.
    text: String,
    /// 0 if it is empty.
    #[schema(minimum = 0)]
    expected_version: Option<i32>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    version: i32,
    tainted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) struct UpdateSoul;

impl Tool for UpdateSoul {
    const NAME: &'static str = "soul_update";
    const TITLE: &'static str = "Update the soul";
    const TEXT: &'static str = "Writes the soul: how the user wants you to be in every conversation (tone, language, \
        form of address). Only when the user asks for it; show them the text first. Facts \
        about the user go to memory_save.";
    const SCOPE: Scope = Scope::Memories;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, named_session: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { text, expected_version } = arguments;
        let input = PutSoul { text, expected_version };
        let soul = match soul::put_soul(caller.ctx()?, &input).await {
            Err(Error::VersionConflict { .. }) => {
                let current = soul::get_soul(caller.ctx()?).await?;
                let error = Error::VersionConflict { current_version: current.version };
                return Ok(tool_refusal(conflict(&current), error, &caller.request_id));
            }
            written => written?,
        };
        let Soul { version, tainted, .. } = soul;
        let note = tainted.then(|| marks::of_soul(named_session, version));
        let text = note.clone().unwrap_or_else(|| {
            format!("The soul is at version {version}; conversations that start with the next snapshot have it.")
        });
        result(text, &Answer { version, tainted, note })
    }
}

/// Returns the text for a version conflict. The soul comes last, so that its text cannot imitate our own text. A
/// tainted soul is not shown, because a session without taint could save it as its own text.
fn conflict(current: &Soul) -> String {
    let version = current.version;
    if current.tainted {
        return format!(
            "The soul is at version {version}; your change was not saved. That version was written in a conversation \
             that had read untrusted content, so it is not in snapshots and not shown here. Ask the user for the text \
             of the soul, and call soul_update again with the whole text and expected_version {version}."
        );
    }
    let there = if current.text.is_empty() { "It is empty.".to_owned() } else { format!("It is:\n\n{}", current.text) };
    format!(
        "The soul is at version {version}; your change was not saved. Apply your change to the current text and call \
         soul_update again with expected_version {version}. {there}"
    )
}
