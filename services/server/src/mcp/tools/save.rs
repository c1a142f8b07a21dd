//! `skill_save`.

use knowhow_domain::{Result, Role, Scope};
use knowhow_ops::sessions::Standing;
use knowhow_ops::skills::{self, SaveSkill, Similar};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, result};
use crate::mcp::handler::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Like plan-meeting or mcp/email.
    name: Option<String>,
    /// What it does and when to use it.
    description: Option<String>,
    /// ## When to Use, ## Procedure, ## Pitfalls, ## Verification
    content: Option<String>,
    /// A whole SKILL.md, instead of other fields.
    skill_md: Option<String>,
    /// One line, at most 15 words.
    summary: Option<String>,
    category: Option<String>,
    tags: Option<Vec<String>>,
    /// Short phrases that call for it.
    triggers: Option<Vec<String>>,
    /// Names of related skills.
    see_also: Option<Vec<String>>,
    role: Option<Role>,
    license: Option<String>,
    compatibility: Option<String>,
    allowed_tools: Option<String>,
    author: Option<String>,
    metadata: Option<Map<String, Value>>,
    /// 0 for a new one.
    #[schema(minimum = 0)]
    expected_version: Option<i32>,
}

impl From<Arguments> for SaveSkill {
    fn from(arguments: Arguments) -> Self {
        Self {
            name: arguments.name,
            skill_md: arguments.skill_md,
            description: arguments.description,
            content: arguments.content,
            summary: arguments.summary,
            category: arguments.category,
            tags: arguments.tags,
            triggers: arguments.triggers,
            see_also: arguments.see_also,
            role: arguments.role,
            license: arguments.license,
            compatibility: arguments.compatibility,
            allowed_tools: arguments.allowed_tools,
            author: arguments.author,
            metadata: arguments.metadata,
            expected_version: arguments.expected_version,
            create_only: false,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    name: String,
    version: i32,
    unchanged: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    similar: Vec<Similar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) struct Save;

impl Tool for Save {
    const NAME: &'static str = "skill_save";
    const TITLE: &'static str = "Save a skill";
    const TEXT: &'static str = "Creates a skill, a named procedure in markdown, or replaces the text of one. Save \
    after work that took five or more tool calls, a tricky error you solved, a workflow that is not obvious, or when \
    the user asks you to remember how something is done. Look with skill_list first; to change a part use \
    skill_patch. Give name, description and content; fields you leave out keep their values. Never save secrets. \
    similar: skills to view and merge.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, standing: &Standing, arguments: Arguments) -> Result<CallToolResult> {
        let saved = skills::save_skill(caller.ctx()?, &arguments.into()).await?;
        let (unchanged, similar) = (saved.skill.unchanged, saved.skill.similar);
        let (name, version, tainted) = (saved.skill.skill.name, saved.skill.skill.version, saved.skill.skill.tainted);
        let mut text = match (saved.created, unchanged) {
            (true, _) => format!("Created the skill '{name}', version {version}."),
            (_, true) => format!("The skill '{name}' was like this already: still version {version}."),
            _ => format!("Saved the skill '{name}' as version {version}."),
        };
        if !similar.is_empty() {
            let names: Vec<&str> = similar.iter().map(|s| s.name.as_str()).collect();
            text.push_str(&format!(" Existing skills that may be about the same: {}.", names.join(", ")));
        }
        let note = marks::of_skill(standing, tainted && !unchanged);
        marks::append(&mut text, note.as_deref());
        result(text, &Answer { name, version, unchanged, similar, note })
    }
}
