//! Open directories. Entries are accessed by single names, and symbolic links are not followed. Names from a service
//! or an archive therefore cannot lead outside of the directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// An open directory. The handle refers to the same directory even if another one replaces it at its path.
pub(crate) struct Directory(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags for opening files. Without `NONBLOCK`, opening a pipe would wait for its other end.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Directory {
    /// Opens the directory at a path that the user named. Symbolic links in this path are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Duplicates the handle of the directory.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Opens a subdirectory.
    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        check(name)?;
        let folder = openat(&self.0, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty());
        Ok(Self(folder.map_err(explained)?))
    }

    /// Opens a subdirectory. Creates it if it is missing.
    pub(crate) fn make(&self, name: &OsStr) -> io::Result<Self> {
        check(name)?;
        match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.enter(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file, and rejects any other kind of entry.
    pub(crate) fn open_file(&self, name: &OsStr, how: OFlags, mode: Mode) -> io::Result<File> {
        check(name)?;
        let file = openat(&self.0, name, FILE.union(how), mode).map_err(explained)?;
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file.into()),
            _ => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// Reads a regular file.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name, OFlags::RDONLY, Mode::empty())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the metadata of an entry; `None` if it does not exist.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        check(name)?;
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames an entry. If the new name belongs to a file or a link, it is replaced.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        check(from).and(check(to))?;
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        check(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        check(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

/// Rejects a name with several path segments, and special names such as `..`.
fn check(name: &OsStr) -> io::Result<()> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of one file")),
    }
}

/// Converts system errors about links, pipes and other special files to messages for the user.
fn explained(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::MLINK => io::Error::other("it is a link, and links are not followed here"),
        Errno::NOTDIR => io::Error::other("a link or file is in the place of a folder"),
        Errno::NXIO => io::Error::other("it is not a regular file"),
        error => error.into(),
    }
}
