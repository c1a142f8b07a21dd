//! Makes entries of the skills that were read: each by itself, then with the files of the skills in its folder.

use std::collections::BTreeMap;

use knowhow_domain::{Result, uri};
use knowhow_store::skills::PublishedRow;

use super::document::{Document, described, document_of};
use super::{FileEntry, PAGE, SkillEntry};
use crate::compute;

/// From here on entries are made beside the threads that answer requests.
const FEW_ROWS: usize = 2 * PAGE;
/// What every host takes of one skill (SEP-2640, Limits).
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Makes entries of rows that are sorted by name; each takes in the files of the skills in its folder.
pub(super) async fn entries(rows: Vec<PublishedRow>) -> Result<Vec<SkillEntry>> {
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
