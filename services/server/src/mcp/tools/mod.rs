//! The MCP tools. Each has a file with its description, arguments and result.

mod delete;
mod forget;
mod history;
mod list;
mod marks;
mod patch;
mod recall;
mod remember;
mod save;
mod soul;
mod submit;
mod suggest;
mod used;
mod view;

use std::pin::Pin;
use std::sync::OnceLock;

use knowhow_domain::kernel::validation_message::read_value;
use knowhow_domain::sessions::session::spent_notice;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::sessions::{NamedSession, OpenableNames, join_session_by_tool};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::arguments::fit;
use super::caller::Caller;
use super::problem::tool_failure;
use super::schema::{JsonSchema, schema_of, without_descriptions};

/// Key in `_meta` with data for programs, for tools with a text as result.
const ANSWER: &str = "dev.knowhow/answer";

/// Member of structured content with a note for the model.
const NOTE: &str = "note";

/// Text after the name of a skill that the search text excludes.
const EXCLUDED: &str = " (the user excluded it)";

/// A tool. It is defined in its own file, and registered in [`AnyTool::ALL`].
pub trait Tool {
    /// Name of the tool.
    const NAME: &'static str;
    /// Title for users.
    const TITLE: &'static str;
    /// Description for models.
    const TEXT: &'static str;
    /// Scope that is required to see and call the tool.
    const SCOPE: Scope;
    /// Effect of a call.
    const EFFECT: Effect;
    type Arguments: DeserializeOwned + ToSchema;

    /// Returns the schema of the structured content; `None` if the result is only text.
    fn output_schema() -> Option<JsonSchema> {
        None
    }

    /// Returns whether a call with these arguments needs the state of the conversation that it names.
    fn needs_session(_: &Value) -> bool {
        Self::EFFECT != Effect::Reads
    }

    /// Calls the tool. `named_session` is the state of the conversation that the call names, if the tool needs it.
    ///
    /// # Errors
    /// Returns the operation's errors.
    async fn call(caller: &Caller, named_session: &NamedSession, arguments: Self::Arguments) -> Result<CallToolResult>;
}

/// The effect of calling a tool, as a hint for MCP hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Stores a new version, and keeps the earlier ones. Repeating the call has no effect.
    Writes,
    /// Adds an item. Repeating the call adds another one.
    Adds,
    /// Deletes an item. Repeating the call has no further effect.
    Destroys,
}

/// Any of the tools, without its type.
#[derive(Clone, Copy)]
pub struct AnyTool {
    /// Name of the tool.
    pub name: &'static str,
    /// Scope that is required to see and call the tool.
    pub scope: Scope,
    effect: Effect,
    needs_session: fn(&Value) -> bool,
    define: fn() -> Definition,
    call: for<'a> fn(&'a Caller, &'a NamedSession, Value) -> Calling<'a>,
}

/// The future of a tool call. It is not `Send`, because operations stay on the thread that owns their connections.
type Calling<'a> = Pin<Box<dyn Future<Output = Result<CallToolResult>> + 'a>>;

impl AnyTool {
    /// All tools, in the order of the list that clients receive.
    pub const ALL: [Self; 13] = [
        Self::of::<suggest::Suggest>(),
        Self::of::<list::List>(),
        Self::of::<view::View>(),
        Self::of::<used::Used>(),
        Self::of::<save::Save>(),
        Self::of::<patch::Patch>(),
        Self::of::<delete::Delete>(),
        Self::of::<submit::SubmitSkill>(),
        Self::of::<history::History>(),
        Self::of::<recall::Recollect>(),
        Self::of::<remember::Remember>(),
        Self::of::<forget::Forget>(),
        Self::of::<soul::UpdateSoul>(),
    ];

    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            scope: T::SCOPE,
            effect: T::EFFECT,
            needs_session: T::needs_session,
            define: define::<T>,
            call: call::<T>,
        }
    }

    /// Returns the tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name == name)
    }

    /// Calls the tool. If the tool writes, the call opens the session that it names. Every call counts as activity of
    /// the session, and towards the budget of its turn. A failure becomes a result that the model reads.
    pub async fn call(self, caller: &Caller, arguments: Option<JsonObject>) -> CallToolResult {
        let (named_session, answer) = match self.join_and_call(caller, self.read(arguments)).await {
            Ok((named_session, answer)) => (named_session, answer),
            Err(error) => (NamedSession::Unnamed, Err(error)),
        };
        let mut result = answer.unwrap_or_else(|error| tool_failure(error, &caller.request_id));
        if let Some(max_turns) = named_session.spent_budget() {
            add_notice(&mut result, &spent_notice(max_turns));
        }
        result
    }

    fn read(self, arguments: Option<JsonObject>) -> Result<Value> {
        let definition = definitions().iter().find(|definition| definition.name == self.name);
        let definition = definition.ok_or_else(|| Error::internal("a tool without a definition"))?;
        fit(&definition.input_schema, arguments.unwrap_or_default())
    }

    /// Calls the tool, and returns its result with the state of the session. A call with invalid arguments opens no
    /// session, but counts towards the budget.
    async fn join_and_call(
        self,
        caller: &Caller,
        arguments: Result<Value>,
    ) -> Result<(NamedSession, Result<CallToolResult>)> {
        let ctx = caller.ctx()?;
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return Ok((join_session_by_tool(ctx, OpenableNames::Nothing).await?, Err(error))),
        };
        let opens = if self.effect == Effect::Reads { OpenableNames::Nothing } else { OpenableNames::Keys };
        let joining = join_session_by_tool(ctx, opens);
        if (self.needs_session)(&arguments) {
            let named_session = joining.await?;
            let answer = (self.call)(caller, &named_session, arguments).await;
            return Ok((named_session, answer));
        }
        let (joined, answer) = tokio::join!(joining, (self.call)(caller, &NamedSession::Unnamed, arguments));
        Ok((joined?, answer))
    }
}

/// Adds a notice to a result: to its text and to its structured content, because models may see only one of them.
fn add_notice(result: &mut CallToolResult, notice: &str) {
    result.content.push(ContentBlock::text(notice));
    if let Some(Value::Object(answer)) = &mut result.structured_content {
        let before = answer.get(NOTE).and_then(Value::as_str).map(|note| format!("{note} ")).unwrap_or_default();
        answer.insert(NOTE.into(), format!("{before}{notice}").into());
    }
}

/// Adds the member `note` of [`add_notice`] to the schema of structured content, unless the schema has it already.
fn with_note(schema: JsonSchema) -> JsonSchema {
    let mut schema = schema.as_ref().clone();
    schema.values_mut().for_each(without_descriptions);
    if let Some(Value::Object(members)) = schema.get_mut("properties") {
        members.entry(NOTE).or_insert_with(|| json!({"type": "string"}));
    }
    schema.into()
}

fn call<'a, T: Tool>(caller: &'a Caller, named_session: &'a NamedSession, arguments: Value) -> Calling<'a> {
    Box::pin(async move {
        let arguments = read_value(&arguments).map_err(|finding| Error::Invalid(vec![finding]))?;
        T::call(caller, named_session, arguments).await
    })
}

/// Returns the definitions of all tools, in the order of [`AnyTool::ALL`].
pub fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| AnyTool::ALL.into_iter().map(|tool| (tool.define)()).collect())
}

fn define<T: Tool>() -> Definition {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match T::EFFECT {
        Effect::Reads => annotations.read_only(true),
        // MCP defines defaults for omitted hints: not read-only, destructive, not idempotent.
        Effect::Writes => annotations.destructive(false).idempotent(true),
        Effect::Adds => annotations.destructive(false),
        Effect::Destroys => annotations.idempotent(true),
    };
    let mut definition = Definition::new(T::NAME, T::TEXT, schema_of::<T::Arguments>());
    definition.title = Some(T::TITLE.into());
    definition.annotations = Some(annotations);
    definition.output_schema = T::output_schema().map(with_note);
    definition
}

/// Returns a result with a text and structured content. Some clients show their model only one of them, so each must
/// contain everything important.
fn result(text: String, answer: &impl Serialize) -> Result<CallToolResult> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json_of(answer)?);
    Ok(result)
}

/// Returns a result with only a text, so that every client shows it to its model exactly once. Data for programs is
/// in `_meta`, which models do not see.
fn text_result(text: String, answer: &impl Serialize) -> Result<CallToolResult> {
    let mut meta = MetaObject::default();
    meta.0.insert(ANSWER.into(), json_of(answer)?);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.meta = Some(meta);
    Ok(result)
}

/// Converts an answer to JSON. It is serialized to text first, because a direct conversion to `Value` would add
/// digits to an `f32`.
fn json_of(answer: &impl Serialize) -> Result<Value> {
    let answer = serde_json::to_vec(answer).map_err(Error::internal)?;
    serde_json::from_slice(&answer).map_err(Error::internal)
}

/// Returns a count with its noun, e.g. `1 use` or `2 uses`.
fn count(number: i64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}
