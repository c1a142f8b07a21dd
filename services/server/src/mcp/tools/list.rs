//! `skill_list`.

use std::fmt::Write;

use knowhow_domain::{Result, inert_line};
use knowhow_ops::App;
use knowhow_ops::page::Page;
use knowhow_ops::skills::{self, IndexItem, ListSkills};
use rmcp::model::CallToolResult;
use serde::Serialize;
use utoipa::ToSchema;

use super::{count, result};
use crate::mcp::handler::Caller;

pub(super) type Arguments = ListSkills;

/// A page of the index.
#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    /// At most `limit` of them.
    items: Vec<IndexItem>,
    /// Give it as `cursor` for the next page; null where this is the last.
    next_cursor: Option<String>,
}

pub(super) const TITLE: &str = "List skills";
pub(super) const TEXT: &str = "Lists the skills you have, one line each: name, version, uses, what it is for. Call it \
    before work that is not trivial, and before you save a skill, to see whether there is one already; then read what \
    fits with skill_view. All arguments are optional: prefix (names that begin so, e.g. 'mcp/'), category, tag, ranked \
    (most important first), limit (1-200, 50 by default) and cursor (next_cursor of the page before).\n\
    Returns a page of items, and next_cursor where there are more. Listing does not count as use.";

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let Page { items, next_cursor } = skills::list_skills(app, &caller.principal, &arguments).await?;
    let mut text = match items.len() {
        0 => String::from("No skills."),
        n => format!("{}; read one with skill_view:", count(i64::try_from(n).unwrap_or(i64::MAX), "skill")),
    };
    for item in &items {
        let about = inert_line(&item.summary);
        let uses = count(item.times_used, "use");
        let _ = write!(text, "\n- {} (version {}, {uses}): {about}", item.name, item.version);
    }
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere are more: call again with cursor {cursor}");
    }
    result(text, &Answer { items, next_cursor })
}
