//! `skill_list`.

use std::fmt::Write;

use knowhow_domain::Result;
use knowhow_domain::index::gist;
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
    fits with skill_view. All arguments are optional: q (words to search for, in any language: the best first, in one \
    page), prefix (names that begin so, e.g. 'mcp/'), category, tag, ranked (most important first), limit (1-200, 50 by \
    default) and cursor (next_cursor of the page before).\n\
    Returns a page of items, with q each with the reason, and next_cursor where there are more. Listing does not count \
    as use.";

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let Page { items, next_cursor } = skills::list_skills(app, &caller.principal, &arguments).await?;
    let mut text = match (items.len(), &arguments.q) {
        (0, Some(_)) => String::from("No skill is found by these words. Try others, or list all without q."),
        (0, None) => String::from("No skills."),
        (n, _) => format!("{}; read one with skill_view:", count(n as i64, "skill")),
    };
    for item in &items {
        let about = gist(Some(&item.summary), "");
        let uses = count(item.times_used, "use");
        let _ = write!(text, "\n- {} (version {}, {uses}): {about}", item.name, item.version);
    }
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere are more: call again with cursor {cursor}");
    }
    result(text, &Answer { items, next_cursor })
}
