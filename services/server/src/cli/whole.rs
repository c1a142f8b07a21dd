//! Files that are written whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, RawMode, fchmod};
use rustix::process::geteuid;
use uuid::Uuid;

use super::directory::Directory;

/// Bits of a mode that a new file takes over: never those that change the user or the group.
const PERMISSIONS: RawMode = 0o777;

/// A file that is written beside its place under a random name, and renamed once it is whole. If that fails, nothing is left.
pub(super) struct WholeFile {
    file: File,
    folder: Directory,
    part: OsString,
    name: OsString,
    /// Permissions of the file that is replaced, if it is the user's own.
    permissions: Option<Mode>,
    is_whole: bool,
}

impl WholeFile {
    /// Begins the file that the user names. The folders above may be links, the file itself may not.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        Self::create_in(Directory::open(path.parent().unwrap_or(Path::new("")))?, name, ".knowhow-part-")
    }

    /// Begins a file of a folder. The name under which it is written begins with `part`.
    pub(super) fn create_in(folder: Directory, name: &OsStr, part: &str) -> io::Result<Self> {
        let replaced = folder.stat(name)?;
        let (mut mode, mut permissions) = (Mode::from_raw_mode(0o666), None);
        if let Some(replaced) = replaced {
            match FileType::from_raw_mode(replaced.st_mode) {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(io::Error::other("it is a link; name the file that it leads to")),
                _ => return Err(io::Error::other("it is not a plain file")),
            }
            mode = Mode::from_raw_mode(replaced.st_mode & PERMISSIONS);
            // The mode of another user's file must not open this one to that user.
            permissions = (replaced.st_uid == geteuid().as_raw()).then_some(mode);
        }
        let part = OsString::from(format!("{part}{}", Uuid::now_v7().simple()));
        let file = folder.open_file(&part, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)?;
        Ok(Self { file, folder, part, name: name.to_owned(), permissions, is_whole: false })
    }

    /// Puts it into its place. It keeps the permissions of the file that it replaces: a script can still be run.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions {
            fchmod(&self.file, permissions)?;
        }
        self.folder.rename(&self.part, &self.name)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // The error that came before is reported; the part can only be left.
            let _ = self.folder.remove(&self.part);
        }
    }
}
