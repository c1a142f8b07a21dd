//! What lies in the folder or archive that the user names: paths first, contents when they are asked for. A home of an
//! agent may hold gigabytes of sessions that are nobody's skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use knowhow_ops::archive;
use knowhow_ops::examples::EXAMPLES_FILE;

use super::walk::walk;

/// One's own archive: only what the service takes at once is limited, and that is sent in portions.
const LIMITS: archive::Limits = archive::Limits { entries: 200_000, total_bytes: 4 << 30, ratio: u64::MAX };

/// Files by their paths below what the user named, `/` between segments.
#[derive(Default)]
pub(in crate::cli) struct Listing {
    /// What the folder or archive is called, e.g. `.hermes`.
    pub(super) name: String,
    /// What comes before a path when it is shown to the user.
    shown_below: PathBuf,
    /// Whether the user named one file, which is listed as a SKILL.md, whatever it is called.
    is_one_file: bool,
    files: BTreeMap<String, Content>,
    /// What was seen and is not taken.
    pub(in crate::cli) left_out: Vec<LeftOut>,
}

/// Where the bytes of a file are.
pub(super) enum Content {
    Disk(PathBuf),
    Memory(Vec<u8>),
}

/// Something that stays behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct LeftOut {
    /// Its path below what the user named.
    pub(in crate::cli) path: String,
    /// Why it stays behind.
    pub(in crate::cli) reason: String,
}

impl Listing {
    /// Lists a folder, an archive or a single file.
    pub(in crate::cli) fn of(source: &Path) -> Result<Self> {
        let unreadable = || format!("cannot read {}", source.display());
        let resolved = source.canonicalize().with_context(unreadable)?;
        let name = source.file_name().or(resolved.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        let mut listing = Self { name, shown_below: source.to_owned(), ..Self::default() };
        if resolved.is_dir() {
            let walked = walk(&resolved).with_context(unreadable)?;
            listing.files = walked.files.into_iter().map(|(path, file)| (path, Content::Disk(file))).collect();
            listing.left_out = walked.left_out;
            return Ok(listing);
        }
        let bytes = std::fs::read(source).with_context(unreadable)?;
        if archive::is_archive(&bytes) {
            let unpacked = archive::read(&bytes, &LIMITS)?;
            listing.files =
                unpacked.entries.into_iter().map(|entry| (entry.path, Content::Memory(entry.bytes))).collect();
            let left_out = unpacked.left_out.into_iter();
            listing.left_out = left_out.map(|file| LeftOut { path: file.path, reason: file.detail }).collect();
        } else {
            let path = if listing.name == EXAMPLES_FILE { EXAMPLES_FILE } else { "SKILL.md" };
            listing.is_one_file = true;
            listing.files.insert(path.to_owned(), Content::Memory(bytes));
        }
        Ok(listing)
    }

    /// The paths, sorted.
    pub(in crate::cli) fn paths(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there is a file whose path begins so.
    pub(super) fn has_below(&self, prefix: &str) -> bool {
        self.files.range(prefix.to_owned()..).next().is_some_and(|(path, _)| path.starts_with(prefix))
    }

    /// The bytes of a file, or why there are none.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.files.get(path) {
            Some(Content::Memory(bytes)) => Ok(bytes.clone()),
            Some(Content::Disk(file)) => {
                std::fs::read(file).map_err(|error| format!("'{path}' cannot be read: {error}"))
            }
            None => Err(format!("'{path}' is not there")),
        }
    }

    /// The text of a file, without the mark that some editors put first.
    pub(super) fn text(&self, path: &str) -> Result<String, String> {
        let text = String::from_utf8(self.read(path)?).map_err(|_| format!("'{path}' is not UTF-8 text"))?;
        Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
    }

    /// A path as the user would write it.
    pub(in crate::cli) fn shown(&self, path: &str) -> String {
        let shown = if self.is_one_file { self.shown_below.clone() } else { self.shown_below.join(path) };
        shown.display().to_string()
    }

    /// The listing as it is below the one folder that everything is in, as archives of a whole folder have it.
    pub(super) fn into_only_folder(mut self) -> Self {
        let Some((folder, _)) = self.files.keys().next().and_then(|path| path.split_once('/')) else { return self };
        let (folder, prefix) = (folder.to_owned(), format!("{folder}/"));
        if !self.files.keys().all(|path| path.starts_with(&prefix)) {
            return self;
        }
        let within = |path: String| path.strip_prefix(&prefix).map_or(path.clone(), str::to_owned);
        self.files = self.files.into_iter().map(|(path, content)| (within(path), content)).collect();
        self.left_out =
            self.left_out.into_iter().map(|file| LeftOut { path: within(file.path), reason: file.reason }).collect();
        self.shown_below.push(&folder);
        self.name = folder;
        self
    }
}

#[cfg(test)]
impl Listing {
    /// A folder of that name with these files.
    pub(super) fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Content::Memory(text.as_bytes().to_vec())));
        Self { name: name.to_owned(), shown_below: PathBuf::from(name), files: files.collect(), ..Self::default() }
    }
}
