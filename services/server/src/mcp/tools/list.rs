//! The tool `skill_list`.

use std::fmt::Write;

use knowhow_domain::review::untrusted;
use knowhow_domain::skills::index::gist;
use knowhow_domain::{IndexItem, Result, Scope};
use knowhow_ops::context::page::Page;
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, ListSkills};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{EXCLUDED, Effect, Tool, count, result};
use crate::mcp::caller::Caller;
use crate::mcp::schema::{JsonSchema, schema_of};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words, in any language.
    q: Option<String>,
    /// Like mcp/
    prefix: Option<String>,
    category: Option<String>,
    tag: Option<String>,
    /// Most important first.
    ranked: Option<bool>,
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// next_cursor of the previous page.
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    #[schema(value_type = Vec<Object>)]
    items: Vec<ListItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The fields that a model needs to choose a skill. REST lists the other fields too.
#[derive(Serialize)]
struct ListItem {
    name: String,
    version: i32,
    times_used: i64,
    summary: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tainted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    excluded: bool,
}

impl ListItem {
    fn of(item: IndexItem) -> Self {
        let excluded = item.excluded.unwrap_or_default();
        let IndexItem { name, version, times_used, summary, category, tags, score, reason, tainted, .. } = item;
        Self { name, version, times_used, summary, tainted, category, tags, score, reason, excluded }
    }
}

pub(super) struct List;

impl Tool for List {
    const NAME: &'static str = "skill_list";
    const TITLE: &'static str = "List skills";
    const TEXT: &'static str = "Lists your skills by name, or searches them with q. Call it before you save a skill, \
        to see whether there is one already.";
    const SCOPE: Scope = Scope::SkillsRead;
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;

    fn output_schema() -> Option<JsonSchema> {
        Some(schema_of::<Answer>())
    }

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { q, prefix, category, tag, ranked, limit, cursor } = arguments;
        let query = ListSkills { q, prefix, category, tag, ranked, limit, cursor, findings: None };
        let Page { items, next_cursor } = skills::list_skills(caller.ctx()?, &query).await?.into_page()?;
        let mut text = match (items.len(), &query.q) {
            (0, Some(_)) => String::from("No skill matches these words. Try others, or list all without q."),
            (0, None) => String::from("No skills."),
            (n, _) => format!("{}; read one with skill_view:", count(n as i64, "skill")),
        };
        for item in &items {
            let about = gist(Some(&item.summary), "");
            let uses = count(item.times_used, "use");
            let excluded = if item.excluded.unwrap_or_default() { EXCLUDED } else { "" };
            let mark = untrusted::mark(item.tainted);
            let _ = write!(text, "\n- {}{excluded}{mark} (version {}, {uses}): {about}", item.name, item.version);
        }
        if items.iter().any(|item| item.tainted) {
            let _ = write!(text, "\n({})", untrusted::MEANING);
        }
        if let Some(cursor) = &next_cursor {
            let _ = write!(text, "\nThere are more skills: call again with cursor {cursor}");
        }
        result(text, &Answer { items: items.into_iter().map(ListItem::of).collect(), next_cursor })
    }
}
