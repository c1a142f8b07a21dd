//! The folder that a sync writes to, open.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use crate::cli::directory::Directory;
use crate::cli::whole::WholeFile;

/// Prefix of the names of files that a sync has not finished.
pub(super) const PART: &str = ".knowhow-sync-part-";

/// The folder that is kept the same. Paths are relative to it, with `/` between segments. No link in them is followed.
pub(super) struct Tree {
    root: Directory,
}

impl Tree {
    /// Opens the folder that the user names.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: Directory::open(root)? })
    }

    /// Returns the folder itself.
    pub(super) fn root(&self) -> &Directory {
        &self.root
    }

    /// Reads a file.
    pub(super) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let (folder, name) = split(path);
        self.enter(folder, Directory::enter)?.read(name)
    }

    /// Writes a file whole, and makes the folders above it.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = split(path);
        let mut file = WholeFile::create_in(self.enter(folder, Directory::make)?, name, PART)?;
        file.write_all(bytes)?;
        file.finish()
    }

    /// Removes a file; one that is gone already is no error.
    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        let (folder, name) = split(path);
        match self.enter(folder, Directory::enter).and_then(|folder| folder.remove(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the folders above a path, from the lowest one up to the first that is not empty.
    pub(super) fn remove_empty_above(&self, path: &str) {
        for folder in path.match_indices('/').rev().map(|(end, _)| &path[..end]) {
            let (above, name) = split(folder);
            if self.enter(above, Directory::enter).and_then(|above| above.remove_folder(name)).is_err() {
                return;
            }
        }
    }

    /// Opens a folder, one segment after the other.
    fn enter(&self, folder: &str, step: fn(&Directory, &OsStr) -> io::Result<Directory>) -> io::Result<Directory> {
        let root = self.root.try_clone()?;
        folder.split('/').filter(|_| !folder.is_empty()).try_fold(root, |at, name| step(&at, OsStr::new(name)))
    }
}

/// Splits a path into its folder and the name within.
fn split(path: &str) -> (&str, &OsStr) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    (folder, OsStr::new(name))
}
