//! Reads and writes the synced folder.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};

use crate::atomic_file::WholeFile;
use crate::directory::Directory;

/// Prefix of the names of incomplete files.
pub(super) const PART: &str = ".knowhow-sync-part-";

/// The synced folder. Paths are relative to it, with `/` as separator. Links in the paths are not followed.
pub(super) struct Tree {
    root: Directory,
}

impl Tree {
    /// Opens the folder.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: Directory::open(root)? })
    }

    /// Returns the handle of the folder.
    pub(super) fn root(&self) -> &Directory {
        &self.root
    }

    /// Reads the whole file at `path`.
    pub(super) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = split(path);
        self.enter(folder, Directory::enter)?.read(name)
    }

    /// Writes a file atomically, and creates missing folders in its path. If `executable` is `None`, an existing file
    /// keeps its mode.
    pub(super) fn write(&self, path: &str, bytes: &[u8], executable: Option<bool>) -> io::Result<()> {
        let (folder, name) = split(path);
        let mut file = WholeFile::create_in(self.enter(folder, Directory::make)?, name, PART)?;
        file.write_all(bytes)?;
        if let Some(executable) = executable {
            file.set_executable(executable)?;
        }
        file.finish()
    }

    /// Removes a file. Succeeds if the file does not exist.
    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        let (folder, name) = split(path);
        match self.enter(folder, Directory::enter).and_then(|folder| folder.remove(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the empty folders in a path, from the lowest up, and stops at a folder that is not empty.
    pub(super) fn remove_empty_above(&self, path: &str) {
        for folder in path.match_indices('/').rev().map(|(end, _)| &path[..end]) {
            let (above, name) = split(folder);
            if self.enter(above, Directory::enter).and_then(|above| above.remove_folder(name)).is_err() {
                return;
            }
        }
    }

    /// Opens a folder one path segment at a time, so that links are not followed.
    fn enter(&self, folder: &str, step: fn(&Directory, &OsStr) -> io::Result<Directory>) -> io::Result<Directory> {
        let root = self.root.try_clone()?;
        folder.split('/').filter(|_| !folder.is_empty()).try_fold(root, |at, name| step(&at, OsStr::new(name)))
    }
}

/// Rejects a path that is not a folder.
pub(super) fn require_folder(root: &Path) -> Result<()> {
    if root.is_dir() {
        return Ok(());
    }
    bail!("{} is not a folder; name the one that holds the skills", root.display())
}

/// Splits a path into its folder and its file name.
fn split(path: &str) -> (&str, &OsStr) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    (folder, OsStr::new(name))
}
