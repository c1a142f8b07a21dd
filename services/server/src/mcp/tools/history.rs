//! `skill_history`.

use std::fmt::Write;

use knowhow_domain::{Error, Result};
use knowhow_ops::App;
use knowhow_ops::page::PageQuery;
use knowhow_ops::skills::{self, Diff, Version, VersionDetail};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::result;
use crate::mcp::handler::Caller;

pub(super) const TITLE: &str = "History of a skill";
pub(super) const TEXT: &str = "Shows how a skill came to be what it is. With the name alone it lists the versions, \
    newest first: who changed it, when, how. With version it returns the SKILL.md of that version. With from or to it \
    returns the unified diff between two versions (by default between the current one and the one before). Call it \
    to check what a change really did, or to bring back what was lost: take the old text and save it with skill_save.";

/// Which skill, and what of its past.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The skill's name, e.g. plan-meeting or mcp/email.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Read this version.
    #[schema(minimum = 1)]
    version: Option<i32>,
    /// Compare from this version; by default the one before `to`.
    #[schema(minimum = 1)]
    from: Option<i32>,
    /// Compare to this version; by default the current one.
    #[schema(minimum = 1)]
    to: Option<i32>,
    /// Most versions to list.
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[schema(max_length = 2048)]
    cursor: Option<String>,
}

/// The part of the past that was asked for.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct Answer {
    /// Newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<Version>>,
    /// Give it as `cursor` for older versions; null where these are the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// With `version`: everything it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<VersionDetail>,
    /// With `from` or `to`: the unified diff, empty where nothing differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    let Arguments { name, version, from, to, limit, cursor } = arguments;
    match (version, from.or(to)) {
        (Some(_), Some(_)) => Err(Error::invalid("/version", "give version, or from and to, not both")),
        (Some(version), None) => {
            let detail = skills::get_version(app, &caller.principal, &name, version).await?;
            let text = format!("Version {version} of '{name}':\n\n{}", detail.skill_md);
            result(text, &Answer { version: Some(detail), ..Answer::default() })
        }
        (None, Some(_)) => {
            let diff = skills::diff_versions(app, &caller.principal, &name, &Diff { from, to }).await?;
            let text = if diff.is_empty() { "The versions do not differ.".to_owned() } else { diff.clone() };
            result(text, &Answer { diff: Some(diff), ..Answer::default() })
        }
        (None, None) => {
            let page = skills::list_versions(app, &caller.principal, &name, &PageQuery { limit, cursor }).await?;
            let mut text = format!("Versions of '{name}', newest first:");
            for version in &page.items {
                let Version { version, change, actor, created_at, .. } = version;
                let _ =
                    write!(text, "\n- {version}: {change} by {actor} at {}", created_at.format("%Y-%m-%d %H:%M UTC"));
            }
            if let Some(cursor) = &page.next_cursor {
                let _ = write!(text, "\nThere are older ones: call again with cursor {cursor}");
            }
            let answer = Answer { versions: Some(page.items), next_cursor: page.next_cursor, ..Answer::default() };
            result(text, &answer)
        }
    }
}
