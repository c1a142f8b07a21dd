//! `skill_view`.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use knowhow_domain::{Result, inert_line};
use knowhow_ops::App;
use knowhow_ops::skills::{self, LoadedSkill};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::result;
use crate::mcp::handler::Caller;

pub(super) const TITLE: &str = "View a skill";
pub(super) const TEXT: &str = "Reads a whole skill, so that you can follow it: its procedure in markdown, its fields, \
    and the paths of its other files. Call it when a name in your index or in skill_list fits what you are about to \
    do, and before you change a skill. With path it reads one of those files instead (e.g. references/api.md; binary \
    files come as base64). A bare last segment ('email' for 'mcp/email') is enough where it is the only one; a skill \
    that was merged into another answers with that one and says so in moved_from.\n\
    Returns skill, or with path file. Viewing a skill counts as use; reading a file of it does not.";

/// Which skill, or which of its files.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The skill's name, e.g. plan-meeting or mcp/email.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// One of the skill's other files, relative to its folder.
    #[schema(max_length = 255, example = "references/api.md")]
    path: Option<String>,
}

/// The skill, or the file that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answer {
    /// Without `path`: the whole skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<LoadedSkill>,
    /// With `path`: the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<ViewedFile>,
}

/// One file of a skill.
#[derive(Debug, Serialize, ToSchema)]
struct ViewedFile {
    /// Relative to the skill's folder.
    path: String,
    /// By the file's ending.
    media_type: String,
    /// Bytes.
    #[schema(minimum = 0)]
    size: u64,
    /// SHA-256 of the bytes, lower-case hex.
    digest: String,
    /// The content, where it is text.
    text: Option<String>,
    /// The content, where it is not.
    base64: Option<String>,
}

pub(super) async fn call(app: &App, caller: &Caller, arguments: Arguments) -> Result<CallToolResult> {
    match &arguments.path {
        Some(path) => view_file(app, caller, &arguments.name, path).await,
        None => view_skill(app, caller, &arguments.name).await,
    }
}

async fn view_skill(app: &App, caller: &Caller, name: &str) -> Result<CallToolResult> {
    let loaded = skills::load_skill(app, &caller.principal, &caller.call, name, false).await?;
    let text = describe(&loaded);
    result(text, &Answer { skill: Some(loaded), file: None })
}

fn describe(loaded: &LoadedSkill) -> String {
    let skill = &loaded.skill;
    // What an author wrote stays on its line: those below are ours.
    let mut text = format!("Skill '{}', version {}: {}", skill.name, skill.version, inert_line(&skill.description));
    if let Some(moved_from) = &loaded.moved_from {
        let _ = write!(text, "\n'{moved_from}' was merged into it; use this name from now on.");
    }
    if !skill.see_also.is_empty() {
        let _ = write!(text, "\nSee also: {}", skill.see_also.join(", "));
    }
    if !skill.resources.is_empty() {
        let paths: Vec<&str> = skill.resources.iter().map(|r| r.path.as_str()).collect();
        let _ = write!(text, "\nFiles (skill_view with path): {}", paths.join(", "));
    }
    let _ = write!(text, "\n\n{}", skill.content);
    text
}

async fn view_file(app: &App, caller: &Caller, name: &str, path: &str) -> Result<CallToolResult> {
    let file = skills::get_resource(app, &caller.principal, name, path).await?;
    let size = file.content.len() as u64;
    let (text, base64) = match String::from_utf8(file.content) {
        Ok(text) => (Some(text), None),
        Err(binary) => (None, Some(STANDARD.encode(binary.as_bytes()))),
    };
    let shown = match &text {
        Some(text) => text.clone(),
        None => format!("{path} is not text ({}, {size} bytes); its bytes are in base64.", file.media_type),
    };
    let media_type = file.media_type.to_owned();
    let file = ViewedFile { path: path.to_owned(), media_type, size, digest: file.digest, text, base64 };
    result(shown, &Answer { skill: None, file: Some(file) })
}
