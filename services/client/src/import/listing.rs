//! Lists the files of a folder or archive. Their contents are read on demand, because an agent's home may contain
//! gigabytes of sessions.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use knowhow_ops::learning::examples::EXAMPLES_FILE;
use knowhow_ops::skills::archive::{self, PackedFile};

use super::left_out::LeftOut;
use super::walk::{ToolFolders, walk};

/// Limits for unpacking a local archive. They are high, because the archive is the user's own and is uploaded in
/// portions.
const LIMITS: archive::Limits = archive::Limits { entries: 200_000, total_bytes: 4 << 30, file_bytes: u64::MAX };

/// The files of a source. The paths are relative to the source, with `/` as separator.
#[derive(Default)]
pub(crate) struct Listing {
    /// Name of the source, e.g. `.hermes`.
    pub(super) name: String,
    /// Path of the source, which precedes the paths that are shown to the user.
    shown_below: PathBuf,
    /// True if the source is a single file. A single file is listed as a SKILL.md under any name.
    is_one_file: bool,
    files: BTreeMap<String, Content>,
    /// Files and folders that the import skips.
    pub(crate) left_out: Vec<LeftOut>,
    /// Files that could not be read from an archive: one for each affected skill, by the skill's folder with a trailing
    /// `/`. Such a skill is incomplete.
    missing: BTreeMap<String, LeftOut>,
}

/// The bytes of a file, or its path on disk.
pub(super) enum Content {
    Disk(PathBuf),
    Memory(PackedFile),
}

impl Listing {
    /// Lists a folder, an archive or a single file without tool folders, as for an import.
    pub(crate) fn of(source: &Path) -> Result<Self> {
        Self::with_folders(source, ToolFolders::PassedOver)
    }

    /// Lists a folder, an archive or a single file. `tool_folders` selects whether tool folders are included.
    pub(super) fn with_folders(source: &Path, tool_folders: ToolFolders) -> Result<Self> {
        let unreadable = || format!("cannot read {}", source.display());
        let resolved = source.canonicalize().with_context(unreadable)?;
        let name = source.file_name().or(resolved.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        let mut listing = Self { name, shown_below: source.to_owned(), ..Self::default() };
        if resolved.is_dir() {
            let walked = walk(&resolved, tool_folders).with_context(unreadable)?;
            listing.files = walked.files.into_iter().map(|(path, file)| (path, Content::Disk(file))).collect();
            listing.left_out = walked.left_out;
            return Ok(listing);
        }
        let bytes = std::fs::read(source).with_context(unreadable)?;
        if archive::is_archive(&bytes) {
            let unpacked = archive::read(&bytes, &LIMITS)?;
            listing.files =
                unpacked.entries.into_iter().map(|entry| (entry.path.clone(), Content::Memory(entry))).collect();
            for file in unpacked.left_out {
                let home = file.is_missed.then(|| listing.home_of(&file.path).map(str::to_owned)).flatten();
                let file = LeftOut { path: file.path, reason: file.detail };
                match home {
                    Some(home) => drop(listing.missing.entry(home).or_insert(file)),
                    None => listing.left_out.push(file),
                }
            }
        } else if archive::has_archive_name(&listing.name) {
            bail!("{} is no zip, tar or tar.gz archive{}", source.display(), archive::describe_content(&bytes));
        } else {
            let path = if listing.name == EXAMPLES_FILE { EXAMPLES_FILE } else { "SKILL.md" };
            listing.is_one_file = true;
            listing.files.insert(path.to_owned(), Content::Memory(PackedFile::plain(path, bytes)));
        }
        Ok(listing)
    }

    /// Returns whether the source is a single SKILL.md from a folder with other files. These files are not listed.
    pub(super) fn is_part_of_folder(&self) -> bool {
        let parent = self.shown_below.canonicalize().ok().and_then(|file| file.parent().map(Path::to_owned));
        let count = || parent.and_then(|folder| std::fs::read_dir(folder).ok()).map_or(0, Iterator::count);
        self.is_one_file && self.name.eq_ignore_ascii_case("SKILL.md") && count() > 1
    }

    /// Returns the sorted paths of the files below a folder. `folder` ends with `/`.
    pub(super) fn paths_below(&self, folder: &str) -> impl Iterator<Item = &str> {
        let below = self.files.range(folder.to_owned()..).map(|(path, _)| path.as_str());
        below.take_while(move |path| path.starts_with(folder))
    }

    /// Returns the sorted paths of all files.
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    /// Returns whether a file exists.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns whether any path starts with `prefix`.
    pub(super) fn has_below(&self, prefix: &str) -> bool {
        self.files.range(prefix.to_owned()..).next().is_some_and(|(path, _)| path.starts_with(prefix))
    }

    /// Returns the folder of the skill that a file belongs to, with a trailing `/`. It is the nearest folder above the
    /// file that contains a SKILL.md.
    fn home_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let folders = path.match_indices('/').map(|(at, _)| &path[..=at]).rev().chain([""]);
        let is_text = |folder: &str, path: &str| {
            path.len() == folder.len() + 8 && path[folder.len()..].eq_ignore_ascii_case("SKILL.md")
        };
        folders.into_iter().find(|folder| self.paths_below(folder).any(|path| is_text(folder, path)))
    }

    /// Returns a file that belongs to a skill and could not be read. `text` is the path of the skill's SKILL.md.
    pub(super) fn find_missing(&self, text: &str) -> Option<&LeftOut> {
        let folder = text.rfind('/').map_or("", |end| &text[..=end]);
        self.missing.get(folder)
    }

    /// Reads a file. The error is a message for the user.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.files.get(path) {
            Some(Content::Memory(file)) => Ok(file.bytes.clone()),
            Some(Content::Disk(file)) => {
                std::fs::read(file).map_err(|error| format!("'{path}' cannot be read: {error}"))
            }
            None => Err(format!("'{path}' does not exist")),
        }
    }

    /// Returns whether the mode of a file allows its owner to execute it.
    pub(super) fn is_executable(&self, path: &str) -> bool {
        match self.files.get(path) {
            Some(Content::Memory(file)) => file.executable,
            Some(Content::Disk(file)) => {
                std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
            }
            None => false,
        }
    }

    /// Reads a text file, and removes its byte order mark.
    pub(super) fn text(&self, path: &str) -> Result<String, String> {
        let text = String::from_utf8(self.read(path)?).map_err(|_| format!("'{path}' is not UTF-8 text"))?;
        Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
    }

    /// Returns the path of a file as shown to the user.
    pub(crate) fn shown(&self, path: &str) -> String {
        let shown = if self.is_one_file { self.shown_below.clone() } else { self.shown_below.join(path) };
        shown.display().to_string()
    }

    /// Descends into the only top-level folder, if there is exactly one. Most archives of a folder have one.
    pub(super) fn into_only_folder(mut self) -> Self {
        let Some((folder, _)) = self.files.keys().next().and_then(|path| path.split_once('/')) else { return self };
        let (folder, prefix) = (folder.to_owned(), format!("{folder}/"));
        if !self.files.keys().all(|path| path.starts_with(&prefix)) {
            return self;
        }
        let within = |path: String| path.strip_prefix(&prefix).map_or(path.clone(), str::to_owned);
        self.files = self.files.into_iter().map(|(path, content)| (within(path), content)).collect();
        let move_file = |LeftOut { path, reason }| LeftOut { path: within(path), reason };
        self.left_out = self.left_out.into_iter().map(move_file).collect();
        self.missing = self.missing.into_iter().map(|(home, file)| (within(home), move_file(file))).collect();
        self.shown_below.push(&folder);
        self.name = folder;
        self
    }
}

#[cfg(test)]
impl Listing {
    /// Creates a listing of files in memory, for tests.
    pub(super) fn with<T: AsRef<[u8]>>(name: &str, files: &[(&str, T)]) -> Self {
        let files = files.iter().map(|(path, text)| {
            ((*path).to_owned(), Content::Memory(PackedFile::plain(*path, text.as_ref().to_vec())))
        });
        Self { name: name.to_owned(), shown_below: PathBuf::from(name), files: files.collect(), ..Self::default() }
    }
}
