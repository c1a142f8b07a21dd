//! The tool `skill_used`.

use knowhow_domain::{Outcome, Result, Scope};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, ReportUse};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, count, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    name: String,
    outcome: Outcome,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    /// Whether this report was the first.
    counted: bool,
    times_used: i64,
}

pub(super) struct Used;

impl Tool for Used {
    const NAME: &'static str = "skill_used";
    const TITLE: &'static str = "Report an outcome";
    const TEXT: &'static str = "Reports the outcome of following a skill; it is then found more or less often. Call it \
        when you are done: success, partial, failure, or inapplicable if it does not fit the \
        user's request.";
    const SCOPE: Scope = Scope::SkillsRead;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { name, outcome } = arguments;
        // The client names the session in `_meta`; the model cannot choose it.
        let input = ReportUse {
            skill: name,
            session_key: None,
            memory_id: None,
            project: None,
            runtime_path: None,
            outcome: Some(outcome),
        };
        let counted = skills::report_use(caller.ctx()?, &input).await?;
        let noted = if counted.counted { "Noted" } else { "Noted before" };
        let text = match outcome {
            Outcome::Inapplicable => format!("{noted}: the skill does not fit this message."),
            _ => format!("{noted}; {} so far.", count(counted.times_used, "use")),
        };
        result(text, &Answer { counted: counted.counted, times_used: counted.times_used })
    }
}
