//! The tool `memory_forget`.

use knowhow_domain::{Result, Scope};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::sessions::memories;
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, text_result};
use crate::mcp::caller::Caller;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// From memory_recall.
    id: String,
}

/// Data for programs, returned in addition to the text.
#[derive(Serialize)]
struct Answer<'a> {
    deleted: &'a str,
}

pub(super) struct Forget;

impl Tool for Forget {
    const NAME: &'static str = "memory_forget";
    const TITLE: &'static str = "Forget a memory";
    const TEXT: &'static str = "Deletes a memory for good. Call it when the user asks you to forget \
        it, or it is wrong and has no correction.";
    const SCOPE: Scope = Scope::Memories;
    const EFFECT: Effect = Effect::Destroys;
    type Arguments = Arguments;

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        memories::delete_memory(caller.ctx()?, &arguments.id).await?;
        text_result("Forgotten.".into(), &Answer { deleted: &arguments.id })
    }
}
