//! Open directories. Entries are named one at a time and links are never followed, so that no name leads out.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// A directory that stays the same one, whatever takes its place in the path meanwhile.
pub(super) struct Directory(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, opening a pipe waits for its other end.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Directory {
    /// Opens a directory that the user names. Links in this path are the user's own and are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Opens another handle of this directory.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Opens a directory in this one.
    pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        check(name)?;
        let folder = openat(&self.0, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty());
        Ok(Self(folder.map_err(explained)?))
    }

    /// Opens a directory in this one, and makes it if it is missing.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<Self> {
        check(name)?;
        match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.enter(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a plain file.
    pub(super) fn open_file(&self, name: &OsStr, how: OFlags, mode: Mode) -> io::Result<File> {
        check(name)?;
        let file = openat(&self.0, name, FILE.union(how), mode).map_err(explained)?;
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file.into()),
            _ => Err(io::Error::other("it is not a plain file")),
        }
    }

    /// Reads a plain file.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name, OFlags::RDONLY, Mode::empty())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reports what an entry is; `None` if there is none.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        check(name)?;
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an entry another name, which may replace a file or a link.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        check(from).and(check(to))?;
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        check(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        check(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

/// Rejects what is not the name of one entry.
fn check(name: &OsStr) -> io::Result<()> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of one file")),
    }
}

/// Explains the system's errors about links and pipes.
fn explained(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::MLINK => io::Error::other("it is a link, and links are not followed here"),
        Errno::NOTDIR => io::Error::other("it is a link or a file where a folder should be"),
        Errno::NXIO => io::Error::other("it is not a plain file"),
        error => error.into(),
    }
}
