//! Reads and writes the provenance file of an archive. It lists the tainted skills, so that they stay tainted after
//! an export and import.

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result};
use serde::{Deserialize, Serialize};

use super::PackedFile;

/// Name of the provenance file. It is at the archive's top level or in its only top-level folder.
pub const PROVENANCE_FILE: &str = "knowhow-provenance.json";

/// Source of taint if the provenance file lists no sources for a skill.
const UNTOLD: &str = "an archive that marks it as tainted";

/// Maximum number of sources per skill.
const SOURCES: usize = 8;
/// Maximum number of characters per source.
const SOURCE_CHARS: usize = 255;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Skills from tainted sessions that no reviewer has approved.
    #[serde(default)]
    tainted: Vec<TaintedSkill>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TaintedSkill {
    /// Path of the skill's SKILL.md in the archive.
    path: String,
    /// Hex SHA-256 of the SKILL.md in the archive.
    sha256: String,
    #[serde(default)]
    tainted_by: Vec<String>,
}

impl Provenance {
    /// Adds a tainted skill, with the path and hex SHA-256 of its SKILL.md in the archive.
    pub fn add(&mut self, path: &str, sha256: String, tainted_by: Vec<String>) {
        self.tainted.push(TaintedSkill { path: path.to_owned(), sha256, tainted_by });
    }

    /// Returns the provenance file; `None` if no skill is tainted.
    pub fn write(&self) -> Result<Option<PackedFile>> {
        if self.tainted.is_empty() {
            return Ok(None);
        }
        let bytes = serde_json::to_vec_pretty(self).map_err(Error::internal)?;
        Ok(Some(PackedFile::plain(PROVENANCE_FILE, bytes)))
    }

    /// Removes the provenance files from an archive's entries, and parses them. A file of this name in a skill's
    /// folder stays with the skill. It is parsed too, so that its taint is not lost.
    ///
    /// # Errors
    /// `Invalid` if a provenance file is unreadable, because the taint is then unknown.
    pub fn take(entries: &mut Vec<PackedFile>) -> Result<Self> {
        let is_skill = |folder: &str| {
            let is_text = |file: &str| !file.contains('/') && file.eq_ignore_ascii_case("SKILL.md");
            entries.iter().any(|entry| {
                entry.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).is_some_and(is_text)
            })
        };
        let (mut all, mut apart) = (Self::default(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let (folder, file) = entry.path.split_once('/').unwrap_or(("", &entry.path));
            if file != PROVENANCE_FILE {
                continue;
            }
            let parsed = serde_json::from_slice::<Self>(&entry.bytes);
            if !folder.is_empty() && is_skill(folder) {
                all.extend(parsed.unwrap_or_default());
                continue;
            }
            apart.push(at);
            all.extend(parsed.map_err(|error| {
                let detail = format!("'{}' cannot be read ({error}); export the archive again", entry.path);
                Error::invalid("/file", detail)
            })?);
        }
        apart.into_iter().rev().for_each(|at| drop(entries.remove(at)));
        Ok(all)
    }

    /// Adds the tainted skills of another provenance file.
    pub fn extend(&mut self, other: Self) {
        self.tainted.extend(other.tainted);
    }

    /// Returns a skill's sources of taint, found by the path or the bytes of its SKILL.md. Returns `None` if the
    /// skill is not tainted.
    pub fn find(&self, path: &str, skill_md: &[u8]) -> Option<Vec<String>> {
        if self.tainted.is_empty() {
            return None;
        }
        let sha256 = manifest::hex(&manifest::digest(skill_md));
        let is_at = |known: &str| path == known || path.strip_suffix(known).is_some_and(|above| above.ends_with('/'));
        let known = self.tainted.iter().find(|skill| skill.sha256 == sha256 || is_at(&skill.path))?;
        let short = |source: &String| source.chars().filter(|c| !c.is_control()).take(SOURCE_CHARS).collect();
        let sources: Vec<String> = known.tainted_by.iter().take(SOURCES).map(short).collect();
        Some(if sources.is_empty() { vec![UNTOLD.to_owned()] } else { sources })
    }
}

#[cfg(test)]
mod tests;
