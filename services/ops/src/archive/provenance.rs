//! Where the texts of an archive come from: a file of its own says which skills are tainted, so that what goes out and comes
//! in again is no better trusted than before.

use knowhow_domain::{Error, Result, manifest};
use serde::{Deserialize, Serialize};

use super::PackedFile;

/// Its name, at the archive's top or in the one folder around everything.
pub const PROVENANCE_FILE: &str = "knowhow-provenance.json";

/// What a skill is tainted by where its sources are not known.
const UNTOLD: &str = "an archive that says so";

/// Most sources of one skill, and characters of each.
const SOURCES: usize = 8;
const SOURCE_CHARS: usize = 255;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Skills that nobody has approved.
    #[serde(default)]
    tainted: Vec<TaintedSkill>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TaintedSkill {
    /// Its SKILL.md in the archive.
    path: String,
    /// SHA-256 of that as it was in the archive, hex.
    sha256: String,
    #[serde(default)]
    tainted_by: Vec<String>,
}

impl Provenance {
    /// Notes a skill whose SKILL.md is at `path` and has this digest (hex) in the archive.
    pub fn add(&mut self, path: &str, sha256: String, tainted_by: Vec<String>) {
        self.tainted.push(TaintedSkill { path: path.to_owned(), sha256, tainted_by });
    }

    /// The file; `None` where no skill is tainted.
    pub fn write(&self) -> Result<Option<PackedFile>> {
        if self.tainted.is_empty() {
            return Ok(None);
        }
        let bytes = serde_json::to_vec_pretty(self).map_err(Error::internal)?;
        Ok(Some(PackedFile { path: PROVENANCE_FILE.to_owned(), bytes }))
    }

    /// Takes the file out of an archive's.
    ///
    /// # Errors
    /// `Invalid` for one that cannot be read: what it was to say is not guessed.
    pub fn take(entries: &mut Vec<PackedFile>) -> Result<Self> {
        let is_it = |entry: &PackedFile| {
            entry.path.split_once('/').map_or(entry.path.as_str(), |(_, file)| file) == PROVENANCE_FILE
        };
        let Some(at) = entries.iter().position(is_it) else { return Ok(Self::default()) };
        let file = entries.remove(at);
        serde_json::from_slice(&file.bytes).map_err(|error| {
            let detail = format!("'{}' cannot be read ({error}); export the archive again", file.path);
            Error::invalid("/file", detail)
        })
    }

    /// Adds what another archive says.
    pub fn extend(&mut self, other: Self) {
        self.tainted.extend(other.tainted);
    }

    /// What the skill is tainted by whose SKILL.md is or was at `path`, or has these bytes; `None` where it is not.
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
