//! Files that are written whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the name of a file ends with that is not whole yet.
pub(super) const PART: &str = ".knowhow-part";

/// A file that is written beside its place and moved there once it is whole, so that nobody ever sees half of it. What is left
/// before that leaves nothing behind.
pub(super) struct WholeFile {
    file: File,
    part: PathBuf,
    path: PathBuf,
    is_whole: bool,
}

impl WholeFile {
    /// Begins one that will be at `path`.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        let part = path.with_file_name(format!(".{}{PART}", name.to_string_lossy()));
        Ok(Self { file: File::create(&part)?, part, path: path.to_owned(), is_whole: false })
    }

    /// Puts it into its place. One that is replaced hands its permissions on: a script stays one that can be run.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Ok(replaced) = std::fs::metadata(&self.path) {
            self.file.set_permissions(replaced.permissions())?;
        }
        std::fs::rename(&self.part, &self.path)?;
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
            // Whoever sees the error that came before can do no more about the part.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Writes a file of these bytes.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}
