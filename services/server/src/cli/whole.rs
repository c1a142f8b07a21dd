//! Files that are written whole or not at all.

use std::io::{self, Write};
use std::path::Path;

/// What the name of a file ends with that is not whole yet.
pub(super) const PART: &str = ".knowhow-part";

/// Writes a file beside its place and moves it there, so that nobody ever sees half of it. One that is replaced hands its
/// permissions on: a script stays one that can be run.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let part = path.with_file_name(format!(".{}{PART}", name.to_string_lossy()));
    let mut file = std::fs::File::create(&part)?;
    file.write_all(bytes)?;
    if let Ok(replaced) = std::fs::metadata(path) {
        file.set_permissions(replaced.permissions())?;
    }
    drop(file);
    std::fs::rename(&part, path)
}
