//! Paths within an archive: which ones are plain, and whether they get along on any file system.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use knowhow_domain::{Error, Result};

use super::refusal;

const MAX_PATH: usize = 1024;
const MAX_SEGMENT: usize = 255;
const MAX_DEPTH: usize = 32;

/// The plain form of a path: relative, `/` between segments, `.` left out. Empty for the archive's root.
///
/// # Errors
/// Says what is not plain about it.
pub(super) fn plain(raw: &[u8]) -> Result<String> {
    let path = std::str::from_utf8(raw).map_err(|_| bad(raw, "is not UTF-8"))?;
    let problem = if path.len() > MAX_PATH {
        Some("is too long")
    } else if path.chars().any(is_invisible_control) {
        Some("holds a control character")
    } else if path.contains('\\') {
        Some("holds a backslash")
    } else if path.starts_with('/') {
        Some("is absolute")
    } else if matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        Some("names a drive")
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(bad(raw, problem));
    }
    let inner = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = inner.split('/').filter(|segment| *segment != ".").collect();
    if let Some(problem) = segments.iter().find_map(|segment| bad_segment(segment)) {
        return Err(bad(raw, problem));
    }
    if segments.len() > MAX_DEPTH {
        return Err(bad(raw, "is too deep"));
    }
    Ok(segments.join("/"))
}

fn bad_segment(segment: &str) -> Option<&'static str> {
    match segment {
        "" => Some("has an empty segment"),
        ".." => Some("climbs out of its folder"),
        _ if segment.len() > MAX_SEGMENT => Some("has too long a segment"),
        // Windows drops them, so that another path is meant there.
        _ if segment.ends_with(['.', ' ']) => Some("has a segment that ends with a dot or a blank"),
        _ => None,
    }
}

/// Controls, and the characters that reorder or hide text: a path must read as what it is.
fn is_invisible_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// An error about a path, which is quoted, escaped and cut short.
pub(super) fn bad(raw: &[u8], problem: &str) -> Error {
    let shown: String = String::from_utf8_lossy(raw).chars().take(80).collect();
    refusal(format!("the path {shown:?} in the archive {problem}"))
}

/// Whether a path is something that operating systems and git leave behind.
pub(super) fn is_left_behind(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|segment| segment == "__MACOSX" || segment == ".git")
        || last == ".DS_Store"
        || last.starts_with("._")
        || last.eq_ignore_ascii_case("thumbs.db")
}

/// All paths so far, as a file system that ignores case would see them.
#[derive(Default)]
pub(super) struct Tree(HashMap<String, Node>);

struct Node {
    spelling: String,
    is_file: bool,
}

impl Tree {
    /// Takes in a file, with the folders it is in.
    pub(super) fn add_file(&mut self, path: &str) -> Result<()> {
        self.add_folders_above(path)?;
        self.add(path, true)
    }

    /// Takes in a folder, with the folders it is in.
    pub(super) fn add_folder(&mut self, path: &str) -> Result<()> {
        self.add_folders_above(path)?;
        self.add(path, false)
    }

    fn add_folders_above(&mut self, path: &str) -> Result<()> {
        path.match_indices('/').try_for_each(|(end, _)| self.add(&path[..end], false))
    }

    fn add(&mut self, path: &str, is_file: bool) -> Result<()> {
        let known = match self.0.entry(folded(path)) {
            Slot::Vacant(free) => {
                free.insert(Node { spelling: path.to_owned(), is_file });
                return Ok(());
            }
            Slot::Occupied(taken) => taken.into_mut(),
        };
        let problem = match (known.spelling == path, known.is_file, is_file) {
            (false, _, _) => "differs from another one by case alone",
            (true, false, false) => return Ok(()),
            (true, true, true) => "occurs twice",
            (true, _, _) => "is both a file and a folder",
        };
        Err(bad(path.as_bytes(), problem))
    }
}

/// Case folded well enough to see clashes: up and down again, so that `ß` meets `SS` and the Kelvin sign meets `k`.
fn folded(path: &str) -> String {
    path.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
