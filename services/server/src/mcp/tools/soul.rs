//! `soul_update`.

use knowhow_domain::{Error, Result};
use knowhow_ops::App;
use knowhow_ops::soul::{self, PutSoul, SoulView};
use rmcp::model::CallToolResult;

use super::{MARKED, result};
use crate::mcp::handler::Caller;
use crate::mcp::problem::tool_refusal;

pub(super) type Arguments = PutSoul;
pub(super) type Answer = SoulView;

pub(super) const TITLE: &str = "Update the soul";
pub(super) const TEXT: &str = "Writes the soul: how the user wants you to be, in every conversation, whatever the topic \
    (tone, language, how to be addressed). Call it only when the user asks for such a change, and show them the text \
    first. A fact about the user is no soul but a memory: memory_save. text is the whole soul, at most 8,000 \
    characters; an empty one takes it away. Give expected_version, 0 where there is none yet: if another version is \
    current nothing is written, and you are shown the current soul to work on.\n\
    Returns the soul with its version. Conversations that begin with the next snapshot have it; every version is kept.";

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let soul = match soul::put_soul(app, &caller.principal, &caller.call, &arguments).await {
        Err(Error::VersionConflict { .. }) => {
            let current = soul::get_soul(app, &caller.principal).await?;
            let error = Error::VersionConflict { current_version: current.version };
            return Ok(tool_refusal(conflict(&current), error, &caller.request_id));
        }
        written => written?,
    };
    let version = soul.version;
    let mut text =
        format!("The soul is at version {version}; conversations that begin with the next snapshot have it.");
    if soul.tainted {
        text.push_str(MARKED);
    }
    result(text, &soul)
}

/// The text comes last: whatever is in it, nothing of ours follows. One that was written in a tainted session is not shown:
/// a clean one would write it down as its own.
fn conflict(current: &SoulView) -> String {
    let version = current.version;
    if current.tainted {
        return format!(
            "The soul is at version {version}, and nothing was changed. That version was written in a conversation that \
             had read untrusted content, so it is in no snapshot and not shown here. Ask the user what the soul should \
             be, and call soul_update again with the whole text and expected_version {version}."
        );
    }
    let there = if current.text.is_empty() { "It is empty.".to_owned() } else { format!("It is:\n\n{}", current.text) };
    format!(
        "The soul is at version {version}, and nothing was changed. Make your change to the current text and call \
         soul_update again with expected_version {version}. {there}"
    )
}
