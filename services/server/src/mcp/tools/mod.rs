//! The tools: one file each, with what a model is told about it, its arguments and its answer.

mod delete;
mod history;
mod list;
mod marks;
mod patch;
mod recall;
mod remember;
mod save;
mod soul;
mod suggest;
mod view;

use std::sync::OnceLock;

use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::sessions::{Opens, Standing, join_session};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use super::arguments::fit;
use super::handler::Caller;
use super::schema::schema_of;

/// Key of `_meta` under which a tool that answers with a text alone tells programs what they need beside it.
const ANSWER: &str = "dev.knowhow/answer";

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    fn definition(self) -> &'static Definition {
        let place = Self::ALL.iter().position(|tool| *tool == self).unwrap_or_default();
        &definitions()[place]
    }

    /// What a caller needs to see and to call it.
    pub fn scope(self) -> Scope {
        match self {
            Self::Suggest | Self::List | Self::View | Self::History => Scope::SkillsRead,
            Self::Save | Self::Patch | Self::Delete => Scope::SkillsWrite,
            Self::MemoryRecall | Self::MemorySave | Self::SoulUpdate => Scope::Memories,
        }
    }

    fn effect(self) -> Effect {
        match self {
            Self::Suggest | Self::List | Self::View | Self::History | Self::MemoryRecall => Effect::Reads,
            Self::Save | Self::Patch | Self::SoulUpdate => Effect::Writes,
            Self::MemorySave => Effect::Adds,
            Self::Delete => Effect::Destroys,
        }
    }

    fn define(self) -> Definition {
        match self {
            Self::Save => answering::<save::Answer>(taking::<save::Arguments>(self, save::TITLE, save::TEXT)),
            Self::List => answering::<list::Answer>(taking::<list::Arguments>(self, list::TITLE, list::TEXT)),
            Self::View => taking::<view::Arguments>(self, view::TITLE, view::TEXT),
            Self::Patch => answering::<patch::Answer>(taking::<patch::Arguments>(self, patch::TITLE, patch::TEXT)),
            Self::Delete => answering::<delete::Answer>(taking::<delete::Arguments>(self, delete::TITLE, delete::TEXT)),
            Self::History => taking::<history::Arguments>(self, history::TITLE, history::TEXT),
            Self::Suggest => {
                answering::<suggest::Answer>(taking::<suggest::Arguments>(self, suggest::TITLE, suggest::TEXT))
            }
            Self::MemoryRecall => {
                answering::<recall::Answer>(taking::<recall::Arguments>(self, recall::TITLE, recall::TEXT))
            }
            Self::MemorySave => {
                answering::<remember::Answer>(taking::<remember::Arguments>(self, remember::TITLE, remember::TEXT))
            }
            Self::SoulUpdate => answering::<soul::Answer>(taking::<soul::Arguments>(self, soul::TITLE, soul::TEXT)),
        }
    }

    /// Calls it. What writes opens the conversation that the call names; any call keeps it from falling silent.
    ///
    /// # Errors
    /// What the operation refuses; `Invalid` for arguments that do not fit.
    pub async fn call(self, caller: &Caller, arguments: Option<JsonObject>) -> Result<CallToolResult> {
        let arguments = fit(&self.definition().input_schema, arguments.unwrap_or_default())?;
        let ctx = caller.ctx()?;
        if self.effect() != Effect::Reads {
            let standing = join_session(ctx, Opens::Keys).await?;
            return self.carry_out(caller, &standing, arguments).await;
        }
        // Nothing that is read depends on where the call comes from.
        let joining = join_session(ctx, Opens::Nothing);
        let (joined, answer) = tokio::join!(joining, self.carry_out(caller, &Standing::Unnamed, arguments));
        joined.and(answer)
    }

    async fn carry_out(self, caller: &Caller, standing: &Standing, arguments: Value) -> Result<CallToolResult> {
        match self {
            Self::Save => save::call(caller, standing, read(arguments)?).await,
            Self::List => list::call(caller, read(arguments)?).await,
            Self::View => view::call(caller, read(arguments)?).await,
            Self::Patch => patch::call(caller, standing, read(arguments)?).await,
            Self::Delete => delete::call(caller, read(arguments)?).await,
            Self::History => history::call(caller, read(arguments)?).await,
            Self::Suggest => suggest::call(caller, read(arguments)?).await,
            Self::MemoryRecall => recall::call(caller, read(arguments)?).await,
            Self::MemorySave => remember::call(caller, standing, read(arguments)?).await,
            Self::SoulUpdate => soul::call(caller, standing, read(arguments)?).await,
        }
    }
}

/// All definitions, in the order of [`Tool::ALL`].
pub fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| Tool::ALL.into_iter().map(Tool::define).collect())
}

/// A tool that takes these arguments.
fn taking<A: ToSchema>(tool: Tool, title: &'static str, text: &'static str) -> Definition {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match tool.effect() {
        Effect::Reads => annotations.read_only(true),
        // What is left out is so by default: not read-only, destructive, not idempotent.
        Effect::Writes => annotations.destructive(false).idempotent(true),
        Effect::Adds => annotations.destructive(false),
        Effect::Destroys => annotations.idempotent(true),
    };
    let mut definition = Definition::new(tool.name(), text, schema_of::<A>());
    definition.title = Some(title.into());
    definition.annotations = Some(annotations);
    definition
}

/// The same with what it answers for programs.
fn answering<R: ToSchema>(mut definition: Definition) -> Definition {
    definition.output_schema = Some(schema_of::<R>());
    definition
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| Error::invalid("", error.to_string()))
}

/// A result that programs read as `answer` and models as `text`. Half of the clients show their model one of them, half
/// the other: each must say all that matters.
fn result(text: String, answer: &impl Serialize) -> Result<CallToolResult> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json_of(answer)?);
    Ok(result)
}

/// A result that is there to be read. Without structured content every client shows its model the text, as it is and
/// once; what programs need beside it is in `_meta`, which no model is shown.
fn text_result(text: String, answer: &impl Serialize) -> Result<CallToolResult> {
    let mut meta = MetaObject::default();
    meta.0.insert(ANSWER.into(), json_of(answer)?);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.meta = Some(meta);
    Ok(result)
}

/// By way of the text that REST answers with: in a `Value` an `f32` would get digits that it has not.
fn json_of(answer: &impl Serialize) -> Result<Value> {
    let answer = serde_json::to_vec(answer).map_err(Error::internal)?;
    serde_json::from_slice(&answer).map_err(Error::internal)
}

/// `1 use`, `2 uses`.
fn count(number: i64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}
