//! The tool `skill_history`.

use std::fmt::Write;

use knowhow_domain::review::untrusted;
use knowhow_domain::{Error, Result, Scope, Version};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, Diff, GetVersion, ListVersions};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, text_result};
use crate::mcp::caller::Caller;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    name: String,
    #[schema(minimum = 1)]
    version: Option<i32>,
    /// Default: the version before to.
    #[schema(minimum = 1)]
    from: Option<i32>,
    /// Default: the current version.
    #[schema(minimum = 1)]
    to: Option<i32>,
    /// Diff of this file only.
    path: Option<String>,
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// Data for programs, returned in addition to the text.
#[derive(Debug, Default, Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<Version>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Version>,
}

pub(super) struct History;

impl Tool for History {
    const NAME: &'static str = "skill_history";
    const TITLE: &'static str = "History of a skill";
    const TEXT: &'static str = "Lists a skill's versions, newest first; with version, shows its SKILL.md; with from or \
        to, the diff of two versions. Call it to check a change, or to restore old text with \
        skill_save.";
    const SCOPE: Scope = Scope::SkillsRead;
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        let Arguments { name, version, from, to, path, limit, cursor } = arguments;
        match (version, from.is_some() || to.is_some() || path.is_some()) {
            (Some(_), true) => Err(Error::invalid("/version", "give either version, or from and to, not both")),
            (Some(version), false) => {
                let detail = skills::get_version(caller.ctx()?, &GetVersion { skill: name.clone(), version }).await?;
                let tainted = detail.version.tainted;
                let text = marks::set_apart(tainted, &detail.skill_md);
                let text = format!("Version {version} of '{name}'{}:\n\n{text}", untrusted::mark(tainted));
                text_result(text, &Answer { version: Some(detail.version), ..Answer::default() })
            }
            (None, true) => {
                let query = Diff { skill: name, from, to, path };
                let diff = skills::diff_versions(caller.ctx()?, &query).await?.text;
                if diff.is_empty() {
                    return text_result("The versions do not differ.".to_owned(), &Answer::default());
                }
                let tainted = is_tainted(caller, &query).await?;
                text_result(marks::set_apart(tainted, &diff), &Answer::default())
            }
            (None, false) => {
                let query = ListVersions { skill: name, page: PageQuery { limit, cursor } };
                let page = skills::list_versions(caller.ctx()?, &query).await?;
                let mut text = format!("Versions of '{}', newest first:", query.skill);
                page.items.iter().for_each(|version| line(&mut text, version));
                if let Some(cursor) = &page.next_cursor {
                    let _ = write!(text, "\nThere are older versions: call again with cursor {cursor}");
                }
                let next_cursor = page.next_cursor;
                text_result(text, &Answer { versions: Some(page.items), next_cursor, version: None })
            }
        }
    }
}

/// Returns whether the difference is tainted: it contains text from both versions, so it is tainted if either of them
/// is.
async fn is_tainted(caller: &Caller, diff: &Diff) -> Result<bool> {
    let Diff { skill, from, to, .. } = diff;
    let newest = ListVersions { skill: skill.clone(), page: PageQuery { limit: Some(1), cursor: None } };
    let current = skills::list_versions(caller.ctx()?, &newest).await?.items;
    let to = to.or(current.first().map(|version| version.version)).unwrap_or(1);
    let from = from.unwrap_or(to.saturating_sub(1).max(1));
    for version in [from, to] {
        if skills::get_version(caller.ctx()?, &GetVersion { skill: skill.clone(), version }).await?.version.tainted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn line(text: &mut String, version: &Version) {
    let Version { version, change, actor, created_at, tainted, .. } = version;
    let mark = if *tainted { ", untrusted" } else { "" };
    let _ = write!(text, "\n- {version}: {change} by {actor} at {}{mark}", created_at.format("%Y-%m-%d %H:%M UTC"));
}
