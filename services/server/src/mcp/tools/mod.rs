//! The tools: one file each, with what a model is told about it, its arguments and its answer.

mod delete;
mod history;
mod list;
mod patch;
mod recall;
mod remember;
mod save;
mod soul;
mod suggest;
mod view;

use std::sync::{Arc, OnceLock};

use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::App;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use super::handler::Caller;
use super::schema::{arguments_of, schema_of};

/// Said of what a tainted conversation has written.
const MARKED: &str = " It is marked as coming from a conversation that may have read untrusted content.";

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `skill_save`
    Save,
    /// `skill_list`
    List,
    /// `skill_view`
    View,
    /// `skill_patch`
    Patch,
    /// `skill_delete`
    Delete,
    /// `skill_history`
    History,
    /// `skill_suggest`
    Suggest,
    /// `memory_recall`
    MemoryRecall,
    /// `memory_save`
    MemorySave,
    /// `soul_update`
    SoulUpdate,
}

/// What calling a tool may do, as a hint to hosts.
enum Effect {
    Reads,
    /// Every version is kept, and the same call again changes nothing.
    Writes,
    /// The same call again adds another.
    Adds,
    /// The same call again finds nothing to destroy.
    Destroys,
}

impl Tool {
    /// Every tool, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Suggest,
        Self::List,
        Self::View,
        Self::Save,
        Self::Patch,
        Self::Delete,
        Self::History,
        Self::MemoryRecall,
        Self::MemorySave,
        Self::SoulUpdate,
    ];

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Save => "skill_save",
            Self::List => "skill_list",
            Self::View => "skill_view",
            Self::Patch => "skill_patch",
            Self::Delete => "skill_delete",
            Self::History => "skill_history",
            Self::Suggest => "skill_suggest",
            Self::MemoryRecall => "memory_recall",
            Self::MemorySave => "memory_save",
            Self::SoulUpdate => "soul_update",
        }
    }

    /// What a caller needs to see and to call it.
    pub fn scope(self) -> Scope {
        match self {
            Self::Suggest | Self::List | Self::View | Self::History => Scope::SkillsRead,
            Self::Save | Self::Patch | Self::Delete => Scope::SkillsWrite,
            Self::MemoryRecall | Self::MemorySave | Self::SoulUpdate => Scope::Memories,
        }
    }

    fn define(self) -> Definition {
        match self {
            Self::Save => definition::<save::Arguments, save::Answer>(self, save::TITLE, save::TEXT, Effect::Writes),
            Self::List => definition::<list::Arguments, list::Answer>(self, list::TITLE, list::TEXT, Effect::Reads),
            Self::View => definition::<view::Arguments, view::Answer>(self, view::TITLE, view::TEXT, Effect::Reads),
            Self::Patch => {
                definition::<patch::Arguments, patch::Answer>(self, patch::TITLE, patch::TEXT, Effect::Writes)
            }
            Self::Delete => {
                definition::<delete::Arguments, delete::Answer>(self, delete::TITLE, delete::TEXT, Effect::Destroys)
            }
            Self::History => {
                definition::<history::Arguments, history::Answer>(self, history::TITLE, history::TEXT, Effect::Reads)
            }
            Self::Suggest => {
                definition::<suggest::Arguments, suggest::Answer>(self, suggest::TITLE, suggest::TEXT, Effect::Reads)
            }
            Self::MemoryRecall => {
                definition::<recall::Arguments, recall::Answer>(self, recall::TITLE, recall::TEXT, Effect::Reads)
            }
            Self::MemorySave => {
                definition::<remember::Arguments, remember::Answer>(self, remember::TITLE, remember::TEXT, Effect::Adds)
            }
            Self::SoulUpdate => {
                definition::<soul::Arguments, soul::Answer>(self, soul::TITLE, soul::TEXT, Effect::Writes)
            }
        }
    }

    /// Calls it.
    ///
    /// # Errors
    /// What the operation refuses; `Invalid` for arguments that do not fit.
    pub async fn call(self, app: &App, caller: &Caller, arguments: Option<JsonObject>) -> Result<CallToolResult> {
        let arguments = Value::Object(arguments.unwrap_or_default());
        match self {
            Self::Save => save::call(app, caller, read(arguments)?).await,
            Self::List => list::call(app, caller, read(arguments)?).await,
            Self::View => view::call(app, caller, read(arguments)?).await,
            Self::Patch => patch::call(app, caller, read(arguments)?).await,
            Self::Delete => delete::call(app, caller, read(arguments)?).await,
            Self::History => history::call(app, caller, read(arguments)?).await,
            Self::Suggest => suggest::call(app, caller, read(arguments)?).await,
            Self::MemoryRecall => recall::call(app, caller, read(arguments)?).await,
            Self::MemorySave => remember::call(app, caller, read(arguments)?).await,
            Self::SoulUpdate => soul::call(app, caller, read(arguments)?).await,
        }
    }
}

/// All definitions, in the order of [`Tool::ALL`].
pub fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| Tool::ALL.into_iter().map(Tool::define).collect())
}

fn definition<A: ToSchema, R: ToSchema>(
    tool: Tool,
    title: &'static str,
    text: &'static str,
    effect: Effect,
) -> Definition {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match effect {
        Effect::Reads => annotations.read_only(true),
        Effect::Writes => annotations.read_only(false).destructive(false).idempotent(true),
        Effect::Adds => annotations.read_only(false).destructive(false).idempotent(false),
        Effect::Destroys => annotations.read_only(false).destructive(true).idempotent(true),
    };
    let mut definition = Definition::new(tool.name(), text, arguments_of::<A>());
    definition.title = Some(title.into());
    definition.output_schema = Some(Arc::new(schema_of::<R>()));
    definition.annotations = Some(annotations);
    definition
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| Error::invalid("", error.to_string()))
}

/// A result that programs read as `answer` and models as `text`.
fn result(text: String, answer: &impl Serialize) -> Result<CallToolResult> {
    // By way of the text that REST answers with: in a `Value` an `f32` would get digits that it has not.
    let answer = serde_json::to_vec(answer).map_err(Error::internal)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(serde_json::from_slice(&answer).map_err(Error::internal)?);
    Ok(result)
}

/// `1 use`, `2 uses`.
fn count(number: i64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}
