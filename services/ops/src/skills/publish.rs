//! Skills as MCP hosts read them (SEP-2640): entries that name every file with size and digest, the files themselves,
//! and folders. What hosts require and a stored frontmatter lacks is derived, the same way in the digest as in the
//! bytes. Nothing here counts as use.

use std::collections::BTreeMap;
use std::sync::Arc;

use knowhow_domain::limits::DESCRIPTION_CHARS;
use knowhow_domain::untrusted;
use knowhow_domain::{
    Error, FieldEdits, Limits, ResourcePath, Result, Scope, SkillDocument, SkillName, manifest, name, uri,
};
use knowhow_store::skills::{self, Moment, PublishedRow, PublishedRows};
use serde_json::{Map, Value};

use crate::page::{self, Page, window, write_cursor};
use crate::{Ctx, compute};

/// Entries of one page, children of one page.
const PAGE: usize = 50;
const CHILDREN: usize = 200;
/// Files of one page; its first entry may have more.
const FILES_OF_PAGE: usize = 2048;
/// What every host takes of one skill (SEP-2640, Limits).
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// From here on entries are made beside the threads that answer requests.
const FEW_ROWS: usize = 2 * PAGE;
const SKILL_MD: &str = "SKILL.md";
const MARKDOWN: &str = "text/markdown";

/// One skill with all its files, those of the skills in its folder included.
#[derive(Debug, Clone)]
pub struct SkillEntry {
    /// URI of its SKILL.md.
    pub uri: String,
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The frontmatter of the SKILL.md that is served.
    pub frontmatter: Map<String, Value>,
    /// Each once, this skill's SKILL.md first where it is alone. `None` where they are more than every host takes, 512
    /// files or 16 MiB, because of the skills in its folder.
    pub files: Option<Vec<FileEntry>>,
    /// Bytes of the SKILL.md that is served.
    pub document_size: u64,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub tainted: bool,
}

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The URI to read it at.
    pub uri: String,
    /// Bytes that are served.
    pub size: u64,
    /// SHA-256 of those bytes, lower-case hex.
    pub digest: String,
}

/// A file as it is served.
#[derive(Debug, Clone)]
pub struct PublishedFile {
    pub content: Vec<u8>,
    /// By the file's ending.
    pub media_type: String,
    /// Whether text of its skill came from a tainted session, and no person has approved it. A SKILL.md says so itself.
    pub tainted: bool,
}

/// What lies directly in a folder.
#[derive(Debug, Clone)]
pub enum Child {
    File {
        /// The URI to read it at.
        uri: String,
        /// The file's name; for a SKILL.md the skill's.
        name: String,
        description: Option<String>,
        /// By the file's ending.
        media_type: String,
        /// Bytes that are served.
        size: u64,
    },
    Folder {
        /// The URI to read it at.
        uri: String,
        /// Its last segment.
        name: String,
    },
}

/// Lists entries by name. The first page is kept: hosts ask for it whenever they begin.
///
/// # Errors
/// `Malformed` for a cursor that this service did not issue.
pub async fn list_entries(ctx: &Ctx, cursor: Option<String>) -> Result<Arc<Page<SkillEntry>>> {
    ctx.principal.require(Scope::SkillsRead)?;
    if cursor.is_some() {
        return Ok(Arc::new(page_of_entries(ctx, cursor, true).await?.0));
    }
    let kept = &ctx.app.catalogues.answers.indexes;
    if let Some(index) = kept.find(ctx)
        && let Some(entries) = index.entries()
        && skills::find_revisions(&ctx.app.db, &ctx.principal).await?.skills == index.revision
    {
        return Ok(entries.clone());
    }
    let (page, moment) = page_of_entries(ctx, None, true).await?;
    let page = Arc::new(page);
    kept.keep_entries(ctx, moment, &page);
    Ok(page)
}

/// Lists the same without the files of the skills in their folders.
///
/// # Errors
/// `Malformed` for a cursor that this service did not issue.
pub async fn list_documents(ctx: &Ctx, cursor: Option<String>) -> Result<Page<SkillEntry>> {
    ctx.principal.require(Scope::SkillsRead)?;
    Ok(page_of_entries(ctx, cursor, false).await?.0)
}

async fn page_of_entries(ctx: &Ctx, cursor: Option<String>, nested: bool) -> Result<(Page<SkillEntry>, Moment)> {
    let after = page::after::<String>(cursor.as_deref())?.unwrap_or_default();
    let read = skills::list_published(&ctx.app.db, &ctx.principal, window(after.as_str(), PAGE), nested).await?;
    let PublishedRows { moment, rows } = read;
    // By the rows, as one of them may not come out as an entry.
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

/// Finds the entry of the skill whose SKILL.md is at `uri`.
///
/// # Errors
/// `NotFound`.
pub async fn get_entry(ctx: &Ctx, uri: &str) -> Result<SkillEntry> {
    ctx.principal.require(Scope::SkillsRead)?;
    let name = uri::skill_of(uri).ok_or_else(|| Error::not_found("skill"))?;
    let rows = skills::find_published(&ctx.app.db, &ctx.principal, name.as_str()).await?;
    entries(rows).await?.pop().ok_or_else(|| Error::not_found("skill"))
}

/// Reads the file at `uri`.
///
/// # Errors
/// `NotFound`.
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
        let media_type = ResourcePath::parse_imported(&found.path)?.media_type().to_owned();
        return Ok(PublishedFile { content: found.content, media_type, tainted: found.tainted });
    }
    let tainted = found.tainted;
    let content =
        if found.complete && !tainted { found.content } else { derive(&found.name, &found.content, tainted)?.text };
    Ok(PublishedFile { content, media_type: MARKDOWN.into(), tainted })
}

/// Names a folder to list.
#[derive(Debug, Clone)]
pub struct ReadFolder {
    /// The URI of the folder.
    pub uri: String,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Lists the files and folders directly in the folder at `uri`. The folder is a skill's, one within a skill, or a
/// namespace.
///
/// # Errors
/// `NotFound` if there is no folder at `uri`; `Malformed` for a cursor that this service did not issue.
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

/// Lists the files and folders of a skill that stand directly below `prefix`.
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

/// Makes entries of rows that are sorted by name; each takes in the files of the skills in its folder.
async fn entries(rows: Vec<PublishedRow>) -> Result<Vec<SkillEntry>> {
    // To derive is to parse and to print.
    if rows.len() <= FEW_ROWS && rows.iter().all(|row| row.frontmatter.is_some() && !row.tainted) {
        return Ok(assemble(rows));
    }
    compute(move || Ok(assemble(rows))).await
}

fn assemble(rows: Vec<PublishedRow>) -> Vec<SkillEntry> {
    let mut published: Vec<Published> = rows.into_iter().filter_map(Published::of).collect();
    let whole: Vec<Whole> = (0..published.len()).map(|at| with_nested(&published, at)).collect();
    for (skill, whole) in published.iter_mut().zip(whole) {
        match whole {
            Whole::Alone => {}
            Whole::Together(files) => skill.entry.files = Some(files),
            Whole::TooLarge => skill.entry.files = None,
        }
    }
    published.into_iter().filter(|skill| skill.asked).map(|skill| skill.entry).collect()
}

/// The files of a skill with those of the skills in its folder.
enum Whole {
    Alone,
    Together(Vec<FileEntry>),
    TooLarge,
}

/// Each URI once: the innermost skill's file is the one that is read.
fn with_nested(published: &[Published], at: usize) -> Whole {
    let Some((skill, later)) = published[at..].split_first().filter(|(skill, _)| skill.asked) else {
        return Whole::Alone;
    };
    let name = &skill.entry.name;
    let is_below = |other: &&Published| other.entry.name[name.len()..].starts_with('/');
    let near = later.iter().take_while(|other| other.entry.name.starts_with(name.as_str()));
    let nested: Vec<&Published> = near.filter(is_below).collect();
    if nested.is_empty() {
        return Whole::Alone;
    }
    let all = std::iter::once(skill).chain(nested).flat_map(|skill| skill.entry.files.iter().flatten());
    let mut by_uri = BTreeMap::new();
    let mut bytes = 0;
    for file in all {
        let replaced = by_uri.insert(file.uri.as_str(), file);
        bytes = bytes + file.size - replaced.map_or(0, |file: &FileEntry| file.size);
        if by_uri.len() > MOST_FILES || bytes > MOST_BYTES {
            return Whole::TooLarge;
        }
    }
    Whole::Together(by_uri.into_values().cloned().collect())
}

/// A skill by itself, as it is served.
struct Published {
    entry: SkillEntry,
    asked: bool,
}

impl Published {
    fn of(mut row: PublishedRow) -> Option<Self> {
        let Document { frontmatter, file } = document_of(&mut row)?;
        let (uri, document_size) = (file.uri.clone(), file.size);
        let others = row.resources.into_iter().map(|r| FileEntry {
            uri: uri::file_uri(&row.name, &r.path),
            size: r.size,
            digest: r.digest,
        });
        let files = Some(std::iter::once(file).chain(others).collect());
        let (name, tainted, description) = (row.name, row.tainted, described(row.tainted, &row.description));
        let entry = SkillEntry { uri, name, description, frontmatter, files, document_size, tainted };
        Some(Self { entry, asked: row.asked })
    }
}

/// A SKILL.md as it is served.
struct Document {
    frontmatter: Map<String, Value>,
    file: FileEntry,
}

/// Takes the document out of a row. One that cannot be read is a fault of ours; it does not take the others of its
/// page along.
fn document_of(row: &mut PublishedRow) -> Option<Document> {
    let read = |row: &mut PublishedRow| -> Result<(Map<String, Value>, u64, String)> {
        // An untrusted skill is never served as stored: its text gets a warning that models read.
        match (row.frontmatter.take().filter(|_| !row.tainted), row.document.take()) {
            (Some(Value::Object(frontmatter)), _) => {
                let size = u64::try_from(row.document_bytes).map_err(Error::internal)?;
                Ok((frontmatter, size, manifest::hex(&row.document_digest)))
            }
            (_, Some(stored)) => {
                let Derived { text, frontmatter } = derive(&row.name, &stored, row.tainted)?;
                Ok((frontmatter, text.len() as u64, manifest::hex(&manifest::digest(&text))))
            }
            _ => Err(Error::internal("a published skill without its document")),
        }
    };
    match read(row) {
        Ok((frontmatter, size, digest)) => {
            let file = FileEntry { uri: uri::file_uri(&row.name, SKILL_MD), size, digest };
            Some(Document { frontmatter, file })
        }
        Err(error) => {
            let document = manifest::hex(&row.document_digest);
            tracing::error!(%error, document, "a stored skill cannot be published");
            None
        }
    }
}

/// A description, marked where it is not to be trusted.
fn described(tainted: bool, description: &str) -> String {
    if !tainted {
        return description.to_owned();
    }
    let marked = format!("{} {description}", untrusted::MARK.trim());
    marked.chars().take(DESCRIPTION_CHARS).collect()
}

struct Derived {
    text: Vec<u8>,
    frontmatter: Map<String, Value>,
}

/// What is stored has passed the limits of its time.
fn derive(name: &str, stored: &[u8], tainted: bool) -> Result<Derived> {
    let stored = std::str::from_utf8(stored).map_err(Error::internal)?;
    let limits = Limits::default().with_unbounded_body();
    let (name, mut document) = (SkillName::parse(name)?, SkillDocument::parse_named(stored, &limits)?);
    if tainted {
        let whole = SkillDocument::parse_named(&document.served(&name).text, &limits)?;
        let description = Some(described(true, &whole.fields().description));
        let body = format!("> {}\n\n{}", untrusted::MEANING, whole.content());
        document = whole.with_edits(&FieldEdits { description, ..FieldEdits::default() }, Some(&body), &limits)?;
    }
    let served = document.served(&name);
    Ok(Derived { text: served.text.into_owned().into_bytes(), frontmatter: served.frontmatter })
}
