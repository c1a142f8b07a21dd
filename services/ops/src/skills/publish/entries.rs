//! Builds entries of skills from rows. An entry includes the files of nested skills.

use std::collections::BTreeMap;

use knowhow_domain::Result;
use knowhow_domain::skills::uri;
use knowhow_store::skills::PublishedRow;

use super::document::{Document, described, document_of};
use super::{FileEntry, PAGE, SkillEntry};
use crate::compute;

/// Number of rows above which entries are built on a blocking thread.
const FEW_ROWS: usize = 2 * PAGE;
/// Maximum number of files in one skill that every host supports (SEP-2640, Limits).
const MOST_FILES: usize = 512;
/// Maximum number of bytes in one skill that every host supports.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Builds entries from rows sorted by name. An entry includes the files of nested skills, which are in the skill's
/// folder.
pub(super) async fn entries(rows: Vec<PublishedRow>) -> Result<Vec<SkillEntry>> {
    // Deriving a document means parsing and printing it, so derived documents are built on a blocking thread.
    if rows.len() <= FEW_ROWS && rows.iter().all(|row| row.frontmatter.is_some() && !row.tainted) {
        return Ok(assemble(rows));
    }
    compute(move || Ok(assemble(rows))).await
}

fn assemble(rows: Vec<PublishedRow>) -> Vec<SkillEntry> {
    let mut published: Vec<Published> = rows.into_iter().filter_map(Published::of).collect();
    let whole: Vec<FolderEntries> = (0..published.len()).map(|at| with_nested(&published, at)).collect();
    for (skill, whole) in published.iter_mut().zip(whole) {
        match whole {
            FolderEntries::Alone => {}
            FolderEntries::Together(files) => skill.entry.files = Some(files),
            FolderEntries::TooLarge => skill.entry.files = None,
        }
    }
    published.into_iter().filter(|skill| skill.asked).map(|skill| skill.entry).collect()
}

/// The files of a skill and of the skills nested in its folder.
enum FolderEntries {
    Alone,
    Together(Vec<FileEntry>),
    TooLarge,
}

/// Lists the files of a skill and its nested skills, each URI once. If two skills have the same URI, the file of the
/// innermost skill is served.
fn with_nested(published: &[Published], at: usize) -> FolderEntries {
    let Some((skill, later)) = published[at..].split_first().filter(|(skill, _)| skill.asked) else {
        return FolderEntries::Alone;
    };
    let name = &skill.entry.name;
    let is_below = |other: &&Published| other.entry.name[name.len()..].starts_with('/');
    let near = later.iter().take_while(|other| other.entry.name.starts_with(name.as_str()));
    let nested: Vec<&Published> = near.filter(is_below).collect();
    if nested.is_empty() {
        return FolderEntries::Alone;
    }
    let all = std::iter::once(skill).chain(nested).flat_map(|skill| skill.entry.files.iter().flatten());
    let mut by_uri = BTreeMap::new();
    let mut bytes = 0;
    for file in all {
        let replaced = by_uri.insert(file.uri.as_str(), file);
        bytes = bytes + file.size - replaced.map_or(0, |file: &FileEntry| file.size);
        if by_uri.len() > MOST_FILES || bytes > MOST_BYTES {
            return FolderEntries::TooLarge;
        }
    }
    FolderEntries::Together(by_uri.into_values().cloned().collect())
}

/// A skill as served, without the files of nested skills.
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
