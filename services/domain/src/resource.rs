//! The path of a file that belongs to a skill, relative to the skill's folder.

mod portable;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};

pub(crate) use portable::is_device;

/// Folders in which resources may be written.
pub const FOLDERS: [&str; 5] = ["references", "scripts", "assets", "templates", "resources"];
const PATH_BYTES: usize = 255;

/// A safe relative path such as `references/api.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "references/api.md")]
pub struct ResourcePath(String);

impl ResourcePath {
    /// Reads a path that lies below one of [`FOLDERS`].
    pub fn parse(path: &str) -> Result<Self> {
        let parsed = Self::parse_imported(path)?;
        let folder = path.split_once('/').map(|(folder, _)| folder);
        if folder.is_some_and(|folder| FOLDERS.contains(&folder)) {
            return Ok(parsed);
        }
        Err(refused(format!("a resource is a file below one of the folders {}", FOLDERS.join("/, ") + "/")))
    }

    /// Reads the path of a file that came with an imported skill: any folder, or none. Rejects paths that mean another file
    /// on some file system.
    pub fn parse_imported(path: &str) -> Result<Self> {
        let parsed = Self::parse_stored(path)?;
        let look_alike =
            path.chars().find(|c| portable::looks_like_punctuation(*c) || portable::is_needlessly_invisible(*c));
        if let Some(c) = look_alike {
            let detail = format!(
                "the path may not hold {} (U+{:04X}), which can be mistaken for another",
                c.escape_default(),
                u32::from(c)
            );
            return Err(refused(detail));
        }
        match path.split('/').find_map(portable::broken_rule) {
            None => Ok(parsed),
            Some(rule) => Err(refused(rule)),
        }
    }

    /// Reads the path of a file that the service may hold already. It may be older than some rules of
    /// [`Self::parse_imported`].
    pub fn parse_stored(path: &str) -> Result<Self> {
        match broken_rule(path) {
            None => Ok(Self(path.to_owned())),
            Some(rule) => Err(refused(rule)),
        }
    }

    /// The path, with `/` between its segments.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A form in which two paths are equal if a case-insensitive file system cannot tell them apart.
    pub fn case_fold(&self) -> String {
        self.0.to_uppercase().to_lowercase()
    }

    /// The media type that the extension stands for.
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

fn refused(detail: String) -> Error {
    Error::invalid("/path", detail)
}

fn broken_rule(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("the path is empty".into());
    }
    if path.len() > PATH_BYTES {
        return Some(format!("the path may have at most {PATH_BYTES} bytes, has {}", path.len()));
    }
    if path.starts_with('/') {
        return Some("the path must be relative: no '/' at its start".into());
    }
    if path.ends_with('/') {
        return Some("the path must name a file: no '/' at its end".into());
    }
    // In a deeper folder it would be another skill when the export comes back.
    if path.rsplit('/').next().is_some_and(|file| file.eq_ignore_ascii_case("SKILL.md")) {
        return Some("SKILL.md is the skill itself, not a resource".into());
    }
    path.chars().find_map(broken_character_rule).or_else(|| path.split('/').find_map(broken_segment_rule))
}

fn broken_character_rule(c: char) -> Option<String> {
    match c {
        '\\' => Some("the path may not hold a backslash; use '/'".into()),
        '<' | '>' | ':' | '"' | '|' | '?' | '*' => {
            Some(format!("the path may not hold '{c}', which common file systems refuse"))
        }
        // Direction marks make a file name look like another one.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            Some(format!("the path may not hold the invisible character {c:?}"))
        }
        // What a decoder puts in place of bytes that are no text.
        '\u{fffd}' => Some("the path is not UTF-8".into()),
        _ if c.is_control() => Some(format!("the path may not hold the control character {c:?}")),
        _ => None,
    }
}

fn broken_segment_rule(segment: &str) -> Option<String> {
    match segment {
        "" => Some("the path may not hold '//'".into()),
        "." | ".." => Some(format!("the path may not hold '{segment}' as a segment")),
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
