//! Returns skills as MCP resources, and as entries of the skills extension (SEP-2640).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use knowhow_domain::skills::name;
use knowhow_domain::{Error, Result};
use knowhow_ops::context::page::Page;
use knowhow_ops::skills::{self, Child, FileEntry, ReadFolder, RenderedEntries, SkillEntry};
use rmcp::model::{
    DIRECTORY_MIME_TYPE, GetSkillResult, ListResourcesResult, ListSkillsResult, MetaObject, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Skill, SkillFrontmatter, SkillResource, SkillResources,
    validate_skills,
};
use serde_json::Value;

use super::caller::Caller;

/// Key in `_meta` that marks untrusted content.
const TAINTED: &str = "dev.knowhow/tainted";

/// Returns the URI template for skill files.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("skill://{+path}", "skill-file")
        .with_title("File of a skill")
        .with_description("The skill's name followed by the path of one of its files: skill://mcp/email/SKILL.md")
}

/// Lists one page of SKILL.md files. The other files of a skill are found through its entry or its folders.
pub(super) async fn list(caller: &Caller, cursor: Option<String>) -> Result<ListResourcesResult> {
    let Page { items, next_cursor } = skills::list_documents(caller.ctx()?, cursor).await?;
    let mut result = ListResourcesResult::with_all_items(items.into_iter().map(skill_md).collect());
    result.next_cursor = next_cursor;
    Ok(result)
}

pub(super) async fn read(caller: &Caller, uri: &str) -> Result<ReadResourceResult> {
    let file = skills::read_file(caller.ctx()?, uri).await?;
    let contents = match String::from_utf8(file.content) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(binary) => ResourceContents::blob(STANDARD.encode(binary.as_bytes()), uri),
    };
    let contents = contents.with_mime_type(file.media_type);
    let contents = if file.tainted { contents.with_meta(untrusted()) } else { contents };
    Ok(ReadResourceResult::new(vec![contents]))
}

pub(super) async fn read_directory(caller: &Caller, query: ReadFolder) -> Result<ListResourcesResult> {
    let Page { items, next_cursor } = skills::read_folder(caller.ctx()?, &query).await?;
    let mut result = ListResourcesResult::with_all_items(items.into_iter().map(child).collect());
    result.next_cursor = next_cursor;
    Ok(result)
}

/// Renders a page of skills, stores it in the caller, and returns an empty list. [`with_entries`] inserts the page
/// into the response. If the entries were returned here, the library would serialize them again for each response.
pub(super) async fn list_skills(caller: &Caller, cursor: Option<String>) -> Result<ListSkillsResult> {
    let entries = skills::list_entries(caller.ctx()?, cursor, render).await?;
    let mut result = ListSkillsResult::default();
    result.next_cursor.clone_from(&entries.next_cursor);
    // A message contains only one request, so no other value was set before.
    let _ = caller.entries.set(entries);
    Ok(result)
}

fn render(entries: Vec<SkillEntry>) -> Result<String> {
    let skills: Vec<Skill> = entries.into_iter().map(skill).collect();
    // The library validates only the lists that it receives, so this list is validated here.
    validate_skills(&skills).map_err(Error::internal)?;
    serde_json::to_string(&skills).map_err(Error::internal)
}

/// Inserts the entries into the response to [`list_skills`], in place of the empty list that the library wrote.
///
/// # Errors
/// `Internal` if the response does not contain the empty list.
pub(super) fn with_entries(answer: &[u8], entries: &RenderedEntries) -> Result<Vec<u8>> {
    // Texts from clients cannot contain these bytes, because quotes in a JSON string are escaped.
    const EMPTY: &[u8] = br#""skills":[]"#;
    let at = answer.windows(EMPTY.len()).rposition(|part| part == EMPTY);
    let at = at.ok_or_else(|| Error::internal("an answer to skills/list without a list"))?;
    let (before, after) = (&answer[..at + EMPTY.len() - 2], &answer[at + EMPTY.len()..]);
    Ok([before, entries.json.as_bytes(), after].concat())
}

pub(super) async fn get_skill(caller: &Caller, uri: &str) -> Result<GetSkillResult> {
    Ok(GetSkillResult::new(skill(skills::get_entry(caller.ctx()?, uri).await?)))
}

fn skill(entry: SkillEntry) -> Skill {
    let mut frontmatter = entry.frontmatter;
    let mut text = |key: &str| match frontmatter.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let mut served = SkillFrontmatter::new(text("name"), text("description"));
    served.extra = frontmatter;
    let file = |file: FileEntry| SkillResource::new(file.uri, format!("sha256:{}", file.digest), file.size);
    let resources = match entry.files {
        Some(files) => SkillResources::Files(files.into_iter().map(file).collect()),
        None => SkillResources::Dynamic,
    };
    let mut skill = Skill::new(entry.uri, served, resources);
    skill.meta = entry.tainted.then(untrusted);
    skill
}

/// Returns the `_meta` that marks content as untrusted.
fn untrusted() -> MetaObject {
    let mut meta = MetaObject::default();
    meta.0.insert(TAINTED.into(), Value::Bool(true));
    meta
}

fn skill_md(entry: SkillEntry) -> Resource {
    let resource = Resource::new(entry.uri, name::last_segment(&entry.name))
        .with_title(&entry.name)
        .with_description(entry.description)
        .with_mime_type("text/markdown")
        .with_size(entry.document_size);
    if entry.tainted { resource.with_meta(untrusted()) } else { resource }
}

fn child(child: Child) -> Resource {
    match child {
        Child::Folder { uri, name } => Resource::new(uri, name).with_mime_type(DIRECTORY_MIME_TYPE),
        Child::File { uri, name, description, media_type, size } => {
            let mut resource = Resource::new(uri, name).with_mime_type(media_type).with_size(size);
            resource.description = description;
            resource
        }
    }
}

#[cfg(test)]
mod tests;
