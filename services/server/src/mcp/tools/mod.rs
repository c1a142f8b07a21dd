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
mod submit;
mod suggest;
mod used;
mod view;

use std::pin::Pin;
use std::sync::OnceLock;

use knowhow_domain::session::spent_notice;
use knowhow_domain::validation_message::read_value;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::sessions::{Opens, Standing, join_session_by_tool};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::arguments::fit;
use super::caller::Caller;
use super::problem::tool_failure;
use super::schema::{JsonSchema, schema_of};

/// Key of `_meta` under which a tool that answers with a text alone tells programs what they need beside it.
const ANSWER: &str = "dev.knowhow/answer";

/// Member of structured content with what a model should know beside the answer.
const NOTE: &str = "note";

/// A tool: its file says all of it, and one line of [`AnyTool::ALL`] that it is there.
pub trait Tool {
    /// What it is called by.
    const NAME: &'static str;
    /// The tool's name, as people are shown it.
    const TITLE: &'static str;
    /// What a model is told about it.
    const TEXT: &'static str;
    /// What a caller needs to see and to call it.
    const SCOPE: Scope;
    /// What calling it may do.
    const EFFECT: Effect;
    type Arguments: DeserializeOwned + ToSchema;

    /// The form of what programs read, where it is more than a text.
    fn output_schema() -> Option<JsonSchema> {
        None
    }

    /// Does it. `standing` is that of the conversation that the call names, where the tool writes.
    ///
    /// # Errors
    /// What the operation refuses.
    async fn call(caller: &Caller, standing: &Standing, arguments: Self::Arguments) -> Result<CallToolResult>;
}

/// What calling a tool may do, as a hint to hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Every version is kept, and the same call again changes nothing.
    Writes,
    /// The same call again adds another.
    Adds,
    /// The same call again finds nothing to destroy.
    Destroys,
}

/// Any of the tools.
#[derive(Clone, Copy)]
pub struct AnyTool {
    /// What it is called by.
    pub name: &'static str,
    /// What a caller needs to see and to call it.
    pub scope: Scope,
    effect: Effect,
    define: fn() -> Definition,
    call: for<'a> fn(&'a Caller, &'a Standing, Value) -> Calling<'a>,
}

/// The operations stay on the thread whose connections they use.
type Calling<'a> = Pin<Box<dyn Future<Output = Result<CallToolResult>> + 'a>>;

impl AnyTool {
    /// Every tool, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
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
        Self::of::<soul::UpdateSoul>(),
    ];

    const fn of<T: Tool>() -> Self {
        Self { name: T::NAME, scope: T::SCOPE, effect: T::EFFECT, define: define::<T>, call: call::<T> }
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name == name)
    }

    /// Calls it. A tool that writes opens the conversation that the call names; any call keeps it from falling silent, and counts
    /// towards the budget of its turn. A failure is a result that a model reads.
    pub async fn call(self, caller: &Caller, arguments: Option<JsonObject>) -> CallToolResult {
        let (standing, answer) = match self.join_and_call(caller, self.read(arguments)).await {
            Ok((standing, answer)) => (standing, answer),
            Err(error) => (Standing::Unnamed, Err(error)),
        };
        let mut result = answer.unwrap_or_else(|error| tool_failure(error, &caller.request_id));
        if let Some(max_turns) = standing.spent_budget() {
            add_notice(&mut result, &spent_notice(max_turns));
        }
        result
    }

    fn read(self, arguments: Option<JsonObject>) -> Result<Value> {
        let definition = definitions().iter().find(|definition| definition.name == self.name);
        let definition = definition.ok_or_else(|| Error::internal("a tool without a definition"))?;
        fit(&definition.input_schema, arguments.unwrap_or_default())
    }

    /// Returns the answer with the state of the conversation. Arguments that do not fit open no conversation, but count as a call.
    async fn join_and_call(
        self,
        caller: &Caller,
        arguments: Result<Value>,
    ) -> Result<(Standing, Result<CallToolResult>)> {
        let ctx = caller.ctx()?;
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return Ok((join_session_by_tool(ctx, Opens::Nothing).await?, Err(error))),
        };
        if self.effect != Effect::Reads {
            let standing = join_session_by_tool(ctx, Opens::Keys).await?;
            let answer = (self.call)(caller, &standing, arguments).await;
            return Ok((standing, answer));
        }
        // Nothing that is read depends on where the call comes from.
        let joining = join_session_by_tool(ctx, Opens::Nothing);
        let (joined, answer) = tokio::join!(joining, (self.call)(caller, &Standing::Unnamed, arguments));
        Ok((joined?, answer))
    }
}

/// Adds a notice to a result, for models that read its text and for those that read its structured content.
fn add_notice(result: &mut CallToolResult, notice: &str) {
    result.content.push(ContentBlock::text(notice));
    if let Some(Value::Object(answer)) = &mut result.structured_content {
        let before = answer.get(NOTE).and_then(Value::as_str).map(|note| format!("{note} ")).unwrap_or_default();
        answer.insert(NOTE.into(), format!("{before}{notice}").into());
    }
}

/// Adds the member of [`add_notice`] to the schema of structured content, if it has none.
fn with_note(schema: JsonSchema) -> JsonSchema {
    let mut schema = schema.as_ref().clone();
    if let Some(Value::Object(members)) = schema.get_mut("properties") {
        members.entry(NOTE).or_insert_with(|| json!({"type": "string"}));
    }
    schema.into()
}

fn call<'a, T: Tool>(caller: &'a Caller, standing: &'a Standing, arguments: Value) -> Calling<'a> {
    Box::pin(async move {
        let arguments = read_value(&arguments).map_err(|finding| Error::Invalid(vec![finding]))?;
        T::call(caller, standing, arguments).await
    })
}

/// All definitions, in the order of [`AnyTool::ALL`].
pub fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| AnyTool::ALL.into_iter().map(|tool| (tool.define)()).collect())
}

fn define<T: Tool>() -> Definition {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match T::EFFECT {
        Effect::Reads => annotations.read_only(true),
        // What is left out is so by default: not read-only, destructive, not idempotent.
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
