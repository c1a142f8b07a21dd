//! The tool `skill_view`.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use knowhow_domain::kernel::limits::SHOWN_FILES;
use knowhow_domain::review::untrusted;
use knowhow_domain::{ResourceEntry, Result, Scope, inert_line};
use knowhow_ops::sessions::NamedSession;
use knowhow_ops::skills::{self, GetResource, LoadedSkill};
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Tool, marks, text_result};
use crate::mcp::caller::Caller;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Like plan-meeting or mcp/email.
    name: String,
    /// Like references/api.md.
    path: Option<String>,
}

/// Maximum size in bytes of a binary file that is returned in a result. Larger files can be read as a resource or over
/// REST.
const SHOWN_BYTES: usize = 1024 * 1024;

/// Data for programs, returned in addition to the text.
#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    version: i32,
    digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    resources: &'a [ResourceEntry],
    /// Number of files that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_resources: Option<usize>,
}

/// Data for programs about a file, returned in addition to the text.
#[derive(Serialize)]
struct FileAnswer<'a> {
    path: &'a str,
    media_type: &'a str,
    size: usize,
    digest: &'a str,
    /// The content in base64, if the file is not text and has at most 1 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

pub(super) struct View;

impl Tool for View {
    const NAME: &'static str = "skill_view";
    const TITLE: &'static str = "View a skill";
    const TEXT: &'static str = "Reads a skill to follow it: its procedure and the paths of its files; with path, that \
        file. Call it when one fits what you are about to do, and before you change it. The \
        last segment of a unique name is enough.";
    const SCOPE: Scope = Scope::SkillsRead;
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;

    async fn call(caller: &Caller, _: &NamedSession, arguments: Arguments) -> Result<CallToolResult> {
        match &arguments.path {
            Some(path) => view_file(caller, &arguments.name, path).await,
            None => view_skill(caller, &arguments.name).await,
        }
    }
}

async fn view_skill(caller: &Caller, asked: &str) -> Result<CallToolResult> {
    let (loaded, relations) = skills::view_skill(caller.ctx()?, asked).await?;
    let loaded = loaded.to_loaded();
    let (skill, moved_from) = (&loaded.skill, loaded.moved_from.as_deref());
    let (name, version, digest) = (&skill.name, skill.version, &skill.digest);
    let (resources, more) = shown_files(&skill.resources);
    let more_resources = (more > 0).then_some(more);
    text_result(describe(&loaded, &relations), &Answer { name, version, digest, moved_from, resources, more_resources })
}

/// Returns the files that are listed, and the number of files that are not.
fn shown_files(files: &[ResourceEntry]) -> (&[ResourceEntry], usize) {
    let shown = &files[..files.len().min(SHOWN_FILES)];
    (shown, files.len() - shown.len())
}

fn describe(loaded: &LoadedSkill, relations: &[String]) -> String {
    let skill = &loaded.skill;
    // Texts from authors are put on one line, so that they cannot imitate the lines that follow.
    let mark = untrusted::mark(skill.tainted);
    let description = inert_line(&skill.description);
    let mut text = format!("Skill '{}', version {}{mark}: {description}", skill.name, skill.version);
    if let Some(moved_from) = &loaded.moved_from {
        let _ = write!(text, "\n'{moved_from}' was merged into this skill; use this name from now on.");
    }
    if !skill.see_also.is_empty() {
        let _ = write!(text, "\nSee also: {}", skill.see_also.join(", "));
    }
    if !relations.is_empty() {
        let _ = write!(text, "\nRelations: {}", relations.join(", "));
    }
    if !skill.resources.is_empty() {
        let shown =
            |file: &ResourceEntry| format!("{}{}", file.path, if file.executable { " (executable)" } else { "" });
        let (files, more) = shown_files(&skill.resources);
        let paths: Vec<String> = files.iter().map(shown).collect();
        let _ = write!(text, "\nFiles (skill_view with path): {}", paths.join(", "));
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
    }
    text.push_str("\n\n");
    text.push_str(&marks::set_apart(skill.tainted, &skill.content));
    text
}

async fn view_file(caller: &Caller, name: &str, path: &str) -> Result<CallToolResult> {
    let file =
        skills::get_resource(caller.ctx()?, &GetResource { skill: name.to_owned(), path: path.to_owned() }).await?;
    let (media_type, size) = (file.media_type, file.content.len());
    let (text, base64) = match String::from_utf8(file.content) {
        Ok(text) => (marks::set_apart(file.tainted, &text), None),
        // The text in the result has no base64, because models cannot read it and it would fill their context.
        Err(binary) => (
            format!(
                "{path} is not text ({media_type}, {size} bytes) and is not shown; programs can read it as a resource."
            ),
            (size <= SHOWN_BYTES).then(|| STANDARD.encode(binary.as_bytes())),
        ),
    };
    text_result(text, &FileAnswer { path, media_type, size, digest: &file.digest, base64 })
}
