//! Paths of a skill's files, relative to the skill's folder.

mod portable;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use crate::kernel::error::{Error, Result};

pub(crate) use portable::is_device;

/// Folders in a skill's folder. A SKILL.md in one of them does not make another skill.
pub const FOLDERS: [&str; 5] = ["references", "scripts", "assets", "templates", "resources"];
/// Maximum length of a resource's path, in bytes.
const PATH_BYTES: usize = 255;
const SKILL_FILE_RULE: &str = "SKILL.md is the skill itself, not a resource";

/// A safe relative path such as `references/api.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "references/api.md")]
pub struct ResourcePath(String);

impl ResourcePath {
    /// Parses the path of a file in a skill. All ways to add a file use these rules. Rejects paths that some file
    /// system resolves to another file.
    pub fn parse(path: &str) -> Result<Self> {
        let parsed = Self::parse_stored(path)?;
        let look_alike =
            path.chars().find(|c| portable::looks_like_punctuation(*c) || portable::is_needlessly_invisible(*c));
        if let Some(c) = look_alike {
            let detail = format!(
                "the path must not contain {} (U+{:04X}), which can be mistaken for another",
                c.escape_default(),
                u32::from(c)
            );
            return Err(refused(detail));
        }
        if path.split('/').any(is_skill_file) {
            return Err(refused(SKILL_FILE_RULE.into()));
        }
        match path.split('/').find_map(portable::broken_rule) {
            None => Ok(parsed),
            Some(rule) => Err(refused(rule)),
        }
    }

    /// Returns a path without `./` at its start, as links in a SKILL.md may write it.
    pub fn without_dot(path: &str) -> &str {
        path.trim_start_matches("./")
    }

    /// Parses the path of a stored file, which may be older than some rules of [`Self::parse`].
    pub fn parse_stored(path: &str) -> Result<Self> {
        match broken_rule(path) {
            None => Ok(Self(path.to_owned())),
            Some(rule) => Err(refused(rule)),
        }
    }

    /// Returns the path, with `/` between its segments.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the media type for the extension.
    pub fn media_type(&self) -> &'static str {
        let file = self.0.rsplit('/').next().unwrap_or_default();
        let extension = file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref().unwrap_or_default() {
            "md" | "markdown" => "text/markdown",
            "txt" | "log" => "text/plain",
            "json" => "application/json",
            "jsonl" | "ndjson" => "application/x-ndjson",
            "yaml" | "yml" => "application/yaml",
            "toml" => "application/toml",
            "xml" => "application/xml",
            "py" => "text/x-python",
            "sh" | "bash" => "application/x-sh",
            "js" | "mjs" | "cjs" => "text/javascript",
            "ts" | "tsx" => "text/x-typescript",
            "rs" => "text/x-rust",
            "go" => "text/x-go",
            "sql" => "application/sql",
            "html" | "htm" => "text/html",
            "css" => "text/css",
            "csv" => "text/csv",
            "tsv" => "text/tab-separated-values",
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "gif" => "image/gif",
            "webp" => "image/webp",
            "svg" => "image/svg+xml",
            "pdf" => "application/pdf",
            "zip" => "application/zip",
            _ => "application/octet-stream",
        }
    }
}

impl fmt::Display for ResourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ResourcePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ResourcePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Finds two paths that some file system cannot distinguish. The paths, or their folders, differ only by case or by
/// the form of accented letters, or one path is a folder of the other.
pub fn find_clash<'a>(paths: impl IntoIterator<Item = &'a str>) -> Option<PathClash<'a>> {
    let mut known: HashMap<String, (&str, bool)> = HashMap::new();
    for path in paths {
        let folders = path.match_indices('/').map(|(end, _)| (&path[..end], false));
        for (spelled, is_file) in folders.chain([(path, true)]) {
            match known.entry(fold(spelled)) {
                Entry::Vacant(free) => {
                    free.insert((spelled, is_file));
                }
                Entry::Occupied(taken) => match *taken.get() {
                    (other, _) if other != spelled => return Some(PathClash::Case(other, spelled)),
                    (_, true) if is_file => return Some(PathClash::Repeated(spelled)),
                    (_, was_file) if was_file || is_file => return Some(PathClash::FileAndFolder(spelled)),
                    _ => {}
                },
            }
        }
    }
    None
}

/// Two paths that some file system cannot distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathClash<'a> {
    /// Paths that differ only by case or by the form of accented letters.
    Case(&'a str, &'a str),
    /// This path is a file and a folder.
    FileAndFolder(&'a str),
    /// This path occurs twice.
    Repeated(&'a str),
}

impl fmt::Display for PathClash<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case(one, other) => {
                write!(
                    f,
                    "'{other}' differs only by case or accents from '{one}', which some file systems cannot keep apart"
                )
            }
            Self::FileAndFolder(path) => write!(f, "'{path}' would be both a file and a folder; rename one of them"),
            Self::Repeated(path) => write!(f, "'{path}' occurs twice"),
        }
    }
}

/// Returns a key that is equal for paths that some file system cannot distinguish. The path is converted to upper and
/// then to lower case, so that `ß` equals `SS` and the Kelvin sign equals `k`.
fn fold(path: &str) -> String {
    path.nfc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

fn is_skill_file(segment: &str) -> bool {
    segment.eq_ignore_ascii_case("SKILL.md")
}

fn refused(detail: String) -> Error {
    Error::invalid("/path", detail)
}

fn broken_rule(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("the path is empty".into());
    }
    if path.len() > PATH_BYTES {
        return Some(format!("the path must have at most {PATH_BYTES} bytes, has {}", path.len()));
    }
    if path.starts_with('/') {
        return Some("the path must be relative: no '/' at its start".into());
    }
    if path.ends_with('/') {
        return Some("the path must name a file: no '/' at its end".into());
    }
    // A SKILL.md in a deeper folder would become another skill when the export is imported.
    if path.rsplit('/').next().is_some_and(is_skill_file) {
        return Some(SKILL_FILE_RULE.into());
    }
    path.chars().find_map(broken_character_rule).or_else(|| path.split('/').find_map(broken_segment_rule))
}

fn broken_character_rule(c: char) -> Option<String> {
    match c {
        '\\' => Some("the path must not contain a backslash; use '/'".into()),
        '<' | '>' | ':' | '"' | '|' | '?' | '*' => {
            Some(format!("the path must not contain '{c}', which common file systems reject"))
        }
        // Direction marks can disguise a file name as another.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            Some(format!("the path must not contain the invisible character {c:?}"))
        }
        // Decoders insert this character for invalid bytes.
        '\u{fffd}' => Some("the path is not UTF-8".into()),
        _ if c.is_control() => Some(format!("the path must not contain the control character {c:?}")),
        _ => None,
    }
}

fn broken_segment_rule(segment: &str) -> Option<String> {
    match segment {
        "" => Some("the path must not contain '//'".into()),
        "." | ".." => Some(format!("the path must not contain '{segment}' as a segment")),
        _ if segment.ends_with('.') || segment.ends_with(char::is_whitespace) => {
            Some(format!("no part of the path may end with a dot or a blank, but '{}' does", segment.escape_default()))
        }
        _ if segment.starts_with(char::is_whitespace) => {
            Some(format!("no part of the path may start with a blank, but '{}' does", segment.escape_default()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
