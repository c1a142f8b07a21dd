//! Writes files atomically: the final name never belongs to an incomplete file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, RawMode, fchmod, fstat};
use rustix::process::geteuid;
use uuid::Uuid;

use crate::directory::Directory;

/// Mode bits that the new file inherits from the replaced one. The set-user-ID and set-group-ID bits are excluded.
const PERMISSIONS: RawMode = 0o777;

/// A file that is written under a random name in the target folder. When it is complete, it is renamed. If it is not
/// completed or cannot be renamed, it is removed.
pub(crate) struct WholeFile {
    file: File,
    folder: Directory,
    part: OsString,
    name: OsString,
    /// Permissions of the replaced file; `None` if no file is replaced or another user owns that file.
    permissions: Option<Mode>,
    is_whole: bool,
}

impl WholeFile {
    /// Starts to write the file that the user named. The folders in the path may be links, but the file itself must not
    /// be a link.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it is not the name of a file"))?;
        Self::create_in(Directory::open(path.parent().unwrap_or(Path::new("")))?, name, ".knowhow-part-")
    }

    /// Starts to write a file in a folder. The temporary name starts with `part`.
    pub(crate) fn create_in(folder: Directory, name: &OsStr, part: &str) -> io::Result<Self> {
        let replaced = folder.stat(name)?;
        let (mut mode, mut permissions) = (Mode::from_raw_mode(0o666), None);
        if let Some(replaced) = replaced {
            match FileType::from_raw_mode(replaced.st_mode) {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(io::Error::other("it is a link; name its target instead")),
                _ => return Err(io::Error::other("it is not a regular file")),
            }
            mode = Mode::from_raw_mode(replaced.st_mode & PERMISSIONS);
            // If another user owns the replaced file, its mode must not give that user access to the new file.
            permissions = (replaced.st_uid == geteuid().as_raw()).then_some(mode);
        }
        let part = OsString::from(format!("{part}{}", Uuid::now_v7().simple()));
        let file = folder.open_file(&part, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)?;
        Ok(Self { file, folder, part, name: name.to_owned(), permissions, is_whole: false })
    }

    /// Sets or removes the execute permission for each user with read permission.
    pub(crate) fn set_executable(&mut self, executable: bool) -> io::Result<()> {
        let mode = match self.permissions {
            Some(mode) => mode.as_raw_mode(),
            None => fstat(&self.file)?.st_mode & PERMISSIONS,
        };
        let execute = (mode & 0o444) >> 2;
        let mode = Mode::from_raw_mode(if executable { mode | execute } else { mode & !0o111 });
        fchmod(&self.file, mode)?;
        self.permissions = self.permissions.map(|_| mode);
        Ok(())
    }

    /// Renames the file to its final name. If it replaces a file that belongs to the user, e.g. a script, it gets the
    /// permissions of that file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
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
            // The caller already reports the error that left the file incomplete, so a failure to remove it is
            // ignored.
            let _ = self.folder.remove(&self.part);
        }
    }
}
