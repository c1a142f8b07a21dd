//! The tool `skill_save`.

use knowhow_domain::{Error, Result, Role, Scope, SubmissionId, with_skill_fields};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, SaveSkill, Similar};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::{Object, ObjectBuilder};

use super::{Effect, Tool, marks, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

macro_rules! arguments {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// The members of [`SaveSkill`]. Models receive the descriptions with each request, so members with clear names
        /// have no description, and the tool's text explains the others.
        #[derive(Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Arguments {
            /// Like plan-meeting or mcp/email.
            name: Option<String>,
            /// Purpose and when to use it.
            description: Option<String>,
            /// ## When to Use, ## Procedure, ## Pitfalls, ## Verification
            content: Option<String>,
            /// A whole SKILL.md, instead of other fields.
            skill_md: Option<String>,
            $($single: Option<$type>,)*
            $($list: Option<Vec<String>>,)*
            #[schema(schema_with = metadata, required = false)]
            metadata: Option<Map<String, Value>>,
            /// 0 for a new one.
            #[schema(minimum = 0)]
            expected_version: Option<i32>,
        }

        impl From<Arguments> for SaveSkill {
            fn from(arguments: Arguments) -> Self {
                let Arguments { name, description, content, skill_md, metadata, expected_version, .. } = arguments;
                Self {
                    create_only: false,
                    name,
                    skill_md,
                    description,
                    content,
                    $($single: arguments.$single,)*
                    $($list: arguments.$list,)*
                    metadata,
                    expected_version,
                }
            }
        }
    };
}
with_skill_fields!(arguments);

/// Returns the schema for free-form metadata. It has a property, because strict clients reject an object schema without
/// properties.
fn metadata() -> Object {
    let text = Object::with_type(Type::String);
    ObjectBuilder::new()
        .property("title", text)
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .build()
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
        after work of five or more tool calls, a tricky error you solved, or a non-obvious \
        workflow. Save too if the user asks you to remember how something is done. Check \
        skill_list first; change a part with skill_patch. A new one needs name, description \
        and content; an existing one keeps omitted fields. Never save secrets. summary: at \
        most 15 words; triggers: short phrases that call for it; see_also: related skills; \
        allowed_tools: tools it may use without approval. `similar` in the answer lists skills \
        to compare and merge.";
    const SCOPE: Scope = Scope::SkillsWrite;
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, named_session: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let saved = match skills::save_skill(caller.ctx()?, &arguments.into()).await {
            Err(Error::Waits(waiting)) => {
                let (text, submission) = (marks::of_waiting(&waiting), Some(waiting.id));
                let answer = Answer {
                    name: waiting.skill,
                    version: None,
                    unchanged: true,
                    submission,
                    similar: Vec::new(),
                    note: Some(text.clone()),
                };
                return result(text, &answer);
            }
            saved => saved?,
        };
        let (unchanged, similar) = (saved.skill.unchanged, saved.skill.similar);
        let (name, version, tainted) = (saved.skill.skill.name, saved.skill.skill.version, saved.skill.skill.tainted);
        let mut text = match (saved.created, unchanged) {
            (true, _) => format!("Created the skill '{name}', version {version}."),
            (_, true) => format!("The skill '{name}' is unchanged: still version {version}."),
            _ => format!("Saved the skill '{name}' as version {version}."),
        };
        if !similar.is_empty() {
            let names: Vec<&str> = similar.iter().map(|s| s.name.as_str()).collect();
            text.push_str(&format!(" Existing skills that may overlap: {}.", names.join(", ")));
        }
        let note = marks::of_skill(named_session, tainted && !unchanged);
        marks::append(&mut text, note.as_deref());
        result(text, &Answer { name, version: Some(version), unchanged, submission: None, similar, note })
    }
}
