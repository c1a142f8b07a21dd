//! Publishes skills to MCP hosts (SEP-2640): entries that list each file with size and digest, the files, and
//! folders. Reading them does not count as a use.

mod document;
mod entries;

use std::collections::BTreeMap;
use std::sync::Arc;

use knowhow_domain::skills::{name, uri};
use knowhow_domain::{Error, ResourcePath, Result, Scope};
use knowhow_store::skills::{self, Moment, PublishedRow, PublishedRows};
use serde_json::{Map, Value};

use self::document::{Document, derive, described, document_of};
use self::entries::entries;
use crate::Ctx;
use crate::context::page::{self, Page, window, write_cursor};

/// Maximum number of entries in one page.
const PAGE: usize = 50;
/// Maximum number of a folder's children in one page.
const CHILDREN: usize = 200;
/// Maximum number of files in one page. The first entry is included even if it has more files.
const FILES_OF_PAGE: usize = 2048;
const SKILL_MD: &str = "SKILL.md";
const MARKDOWN: &str = "text/markdown";

/// A skill with all its files, including the files of nested skills, which are in its folder.
#[derive(Debug)]
pub struct SkillEntry {
    /// URI of the skill's SKILL.md.
    pub uri: String,
    pub name: String,
    pub description: String,
    /// The frontmatter of the served SKILL.md.
    pub frontmatter: Map<String, Value>,
    /// All files, each once. If no skill is nested, the skill's SKILL.md comes first. `None` if the files of skill
    /// and nested skills exceed the limits of SEP-2640: 512 files or 16 MiB.
    pub files: Option<Vec<FileEntry>>,
    /// Size of the served SKILL.md in bytes.
    pub document_size: u64,
    /// Whether the skill's text comes from a tainted session and no reviewer has approved it.
    pub tainted: bool,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    pub uri: String,
    /// Size of the served file in bytes.
    pub size: u64,
    /// Lower-case hex SHA-256 of the served bytes.
    pub digest: String,
}

/// A file as served.
#[derive(Debug, Clone)]
pub struct PublishedFile {
    pub content: Vec<u8>,
    /// The media type, derived from the file extension.
    pub media_type: String,
    /// Whether the skill's text comes from a tainted session and no reviewer has approved it. The SKILL.md of such a
    /// skill contains a warning.
    pub tainted: bool,
}

/// A direct child of a folder.
#[derive(Debug, Clone)]
pub enum Child {
    File {
        uri: String,
        /// The file's name; for a SKILL.md the skill's name.
        name: String,
        description: Option<String>,
        /// The media type, derived from the file extension.
        media_type: String,
        /// Size of the served file in bytes.
        size: u64,
    },
    Folder {
        uri: String,
        /// The last segment of the folder's path.
        name: String,
    },
}

/// A page of entries, rendered to JSON.
pub struct RenderedEntries {
    /// The entries as a JSON array.
    pub json: Box<str>,
    /// The cursor of the next page; `None` on the last page.
    pub next_cursor: Option<String>,
}

/// Lists entries by name. `render` converts them to JSON. The first page is cached, because hosts request it at every
/// start. The cache ignores which `render` was used, so a process must always pass the same function.
///
/// # Errors
/// `Malformed` if this service did not issue the cursor.
pub async fn list_entries(
    ctx: &Ctx,
    cursor: Option<String>,
    render: fn(Vec<SkillEntry>) -> Result<String>,
) -> Result<Arc<RenderedEntries>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let rendered = |page: Page<SkillEntry>| -> Result<Arc<RenderedEntries>> {
        let Page { items, next_cursor } = page;
        Ok(Arc::new(RenderedEntries { json: render(items)?.into(), next_cursor }))
    };
    if cursor.is_some() {
        return rendered(page_of_entries(ctx, cursor, true).await?.0);
    }
    let indexes = &ctx.app.catalogues.answers.indexes;
    if let Some(index) = indexes.find(ctx)
        && let Some(entries) = index.entries()
        && skills::find_revisions(&ctx.app.db, &ctx.principal).await?.skills == index.revision
    {
        return Ok(entries.clone());
    }
    let (page, moment) = page_of_entries(ctx, None, true).await?;
    let entries = rendered(page)?;
    indexes.keep_entries(ctx, moment, &entries);
    Ok(entries)
}

/// Lists entries without the files of nested skills.
///
/// # Errors
/// `Malformed` if this service did not issue the cursor.
pub async fn list_documents(ctx: &Ctx, cursor: Option<String>) -> Result<Page<SkillEntry>> {
    ctx.principal.require(Scope::SkillsRead)?;
    Ok(page_of_entries(ctx, cursor, false).await?.0)
}

async fn page_of_entries(ctx: &Ctx, cursor: Option<String>, nested: bool) -> Result<(Page<SkillEntry>, Moment)> {
    let after = page::after::<String>(cursor.as_deref())?.unwrap_or_default();
    let read = skills::list_published(&ctx.app.db, &ctx.principal, window(after.as_str(), PAGE), nested).await?;
    let PublishedRows { moment, rows } = read;
    // The end of the page is determined by the rows, because a row may yield no entry.
    let mut asked = rows.iter().filter(|row| row.asked).map(|row| &row.name);
    let mut end = asked.nth(PAGE - 1).filter(|_| asked.next().is_some()).cloned();
    let mut items = entries(rows).await?;
    if let Some(end) = &end {
        items.retain(|entry| entry.name <= *end);
    }
    let mut files = 0;
    let within = items.iter().take_while(|entry| {
        files += entry.files.as_ref().map_or(0, Vec::len);
        files <= FILES_OF_PAGE
    });
    let within = within.count().max(1);
    if within < items.len() {
        items.truncate(within);
        end = items.last().map(|last| last.name.clone());
    }
    Ok((Page { items, next_cursor: end.as_ref().map(write_cursor).transpose()? }, moment))
}

/// Returns the entry of the skill with the SKILL.md at `uri`.
pub async fn get_entry(ctx: &Ctx, uri: &str) -> Result<SkillEntry> {
    ctx.principal.require(Scope::SkillsRead)?;
    let name = uri::skill_of(uri).ok_or_else(|| Error::not_found("skill"))?;
    let rows = skills::find_published(&ctx.app.db, &ctx.principal, name.as_str()).await?;
    entries(rows).await?.pop().ok_or_else(|| Error::not_found("skill"))
}

/// Returns the file at `uri`.
pub async fn read_file(ctx: &Ctx, uri: &str) -> Result<PublishedFile> {
    ctx.principal.require(Scope::SkillsRead)?;
    let missing = || Error::not_found("resource");
    let path = uri::path_of(uri).ok_or_else(missing)?;
    let splits = uri::splits(&path);
    if splits.is_empty() {
        return Err(missing());
    }
    let found = skills::find_file(&ctx.app.db, &ctx.principal, &splits).await?.ok_or_else(missing)?;
    if found.path != SKILL_MD {
        let media_type = ResourcePath::parse_stored(&found.path)?.media_type().to_owned();
        return Ok(PublishedFile { content: found.content, media_type, tainted: found.tainted });
    }
    let tainted = found.tainted;
    let content =
        if found.complete && !tainted { found.content } else { derive(&found.name, &found.content, tainted)?.text };
    Ok(PublishedFile { content, media_type: MARKDOWN.into(), tainted })
}

/// Selects a folder and a page.
#[derive(Debug, Clone)]
pub struct ReadFolder {
    /// The URI of the folder.
    pub uri: String,
    /// `next_cursor` of the previous page; `None` for the first page.
    pub cursor: Option<String>,
}

/// Lists the files and folders directly below the folder at `uri`. It may be a skill's folder, a folder in a skill,
/// or a namespace.
///
/// # Errors
/// `NotFound` if there is no folder at `uri`; `Malformed` if this service did not issue the cursor.
pub async fn read_folder(ctx: &Ctx, query: &ReadFolder) -> Result<Page<Child>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let after = page::after::<String>(query.cursor.as_deref())?;
    let missing = || Error::not_found("directory");
    let path = uri::path_of(&query.uri).ok_or_else(missing)?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut children = BTreeMap::new();
    let names: Vec<&str> = uri::splits(&path).into_iter().map(|(name, _)| name).chain([path.as_str()]).collect();
    let found = skills::read_folder(&ctx.app.db, &ctx.principal, &prefix, &names).await?;
    for segment in found.segments {
        children.insert(segment.clone(), folder(&prefix, segment));
    }
    for (segment, child) in found.skills.into_iter().flat_map(|row| children_of(row, &prefix)) {
        children.entry(segment).or_insert(child);
    }
    if children.is_empty() && !path.is_empty() {
        return Err(missing());
    }
    let rest = children.into_iter().filter(|(segment, _)| after.as_ref().is_none_or(|after| segment > after));
    let page = Page::of(rest.take(CHILDREN + 1).collect(), CHILDREN, |(segment, _): &(String, Child)| segment.clone())?;
    Ok(page.map(|(_, child)| child))
}

/// Lists the files and folders of a skill that are directly below `prefix`.
fn children_of(mut row: PublishedRow, prefix: &str) -> Vec<(String, Child)> {
    let base = format!("{}/", row.name);
    let inside = prefix.strip_prefix(&base).unwrap_or_default().to_owned();
    let mut children = Vec::new();
    if inside.is_empty()
        && let Some(Document { file, .. }) = document_of(&mut row)
    {
        let child = Child::File {
            uri: file.uri,
            name: name::last_segment(&row.name).to_owned(),
            description: Some(described(row.tainted, &row.description)),
            media_type: MARKDOWN.into(),
            size: file.size,
        };
        children.push((SKILL_MD.to_owned(), child));
    }
    for entry in row.resources {
        let Some(rest) = entry.path.strip_prefix(&inside) else { continue };
        let child = match rest.split_once('/') {
            Some((segment, _)) => (segment.to_owned(), folder(prefix, segment.to_owned())),
            None => {
                let uri = uri::file_uri(&row.name, &entry.path);
                let (name, size) = (rest.to_owned(), entry.size);
                (name.clone(), Child::File { uri, name, description: None, media_type: entry.media_type, size })
            }
        };
        children.push(child);
    }
    children
}

fn folder(prefix: &str, segment: String) -> Child {
    Child::Folder { uri: uri::directory_uri(&format!("{prefix}{segment}")), name: segment }
}
