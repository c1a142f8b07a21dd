//! Reads and writes archives of skills. An archive may be malicious, so it is read in memory and within limits.
//! Written archives are deterministic: the same skills give the same bytes.

mod collect;
mod layout;
mod naming;
mod path;
mod provenance;
mod read_tar;
mod read_zip;
#[cfg(test)]
mod tests;
mod write;

pub use layout::{ArchiveLayout, Folder, Grouped, SkillPaths, group, lay_out};
pub use naming::{FoundFolder, ImportName, name_all};
pub use provenance::{PROVENANCE_FILE, Provenance};
pub use write::{Packer, zip};

use knowhow_domain::{Error, Result};

use collect::Collector;

/// Limits of an archive. They are checked while it is unpacked, because its headers cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub entries: usize,
    /// Maximum number of unpacked bytes of all files together.
    pub total_bytes: u64,
    /// Maximum number of unpacked bytes of one file. A larger file is left out.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 2_000, total_bytes: 48 * 1024 * 1024, file_bytes: 32 * 1024 * 1024 }
    }
}

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Relative path. Segments are joined by `/`, and are never `.` or `..`.
    pub path: String,
    pub bytes: Vec<u8>,
    /// Whether the owner can execute the file.
    pub executable: bool,
}

impl PackedFile {
    /// Returns a file that is not executable.
    pub fn plain(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes, executable: false }
    }
}

/// The content of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnpackedArchive {
    /// The accepted files, in the archive's order.
    pub entries: Vec<PackedFile>,
    /// Files left out, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// Number of unpacked bytes, including those of files that are left out.
    pub written: u64,
}

/// A file in an archive that was left out. Other files are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: String,
    /// Reason why the file was left out.
    pub detail: String,
    /// Whether the skill is incomplete without this path: true for a file, false for a link.
    pub is_missed: bool,
}

/// Unpacks a zip, tar or tar.gz, detected by its first bytes. Archives inside the archive are treated as plain files.
/// Files created by operating systems are ignored (`__MACOSX`, `.DS_Store`, `._*`, `Thumbs.db`). Links, git's data,
/// unreadable files, and files without a valid and unique path are left out.
///
/// # Errors
/// `Invalid` at `/file` if the archive is damaged or has too many files; `TooLarge` if it exceeds
/// [`Limits::total_bytes`].
pub fn read(bytes: &[u8], limits: &Limits) -> Result<UnpackedArchive> {
    let mut collector = Collector::new(limits);
    match Kind::of(bytes) {
        Some(Kind::Zip) => read_zip::read(bytes, &mut collector)?,
        Some(Kind::Gzip) => read_tar::read_gzip(bytes, &mut collector)?,
        Some(Kind::Tar) => read_tar::read(bytes, &mut collector)?,
        Some(Kind::Other) | None => return Err(refusal("must be a zip, tar or tar.gz archive")),
    }
    Ok(collector.finish())
}

/// Returns whether the bytes are an archive of any type, including unsupported types.
pub fn is_archive(bytes: &[u8]) -> bool {
    Kind::of(bytes).is_some()
}

/// Returns whether a file has the extension of a supported archive.
pub fn has_archive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".zip", ".tar", ".tar.gz", ".tgz"].iter().any(|extension| name.ends_with(extension))
}

/// Describes a file that has an archive's name but is not an archive. Returns the end of a sentence.
pub fn describe_content(bytes: &[u8]) -> &'static str {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).trim_start().to_ascii_lowercase();
    match start.as_str() {
        _ if bytes.is_empty() => ": it is empty",
        text if text.starts_with("<!doctype html") || text.starts_with("<html") => {
            ": it is an HTML page, perhaps of a failed download"
        }
        text if text.starts_with("---\n") => ": it is a SKILL.md, so name it so",
        _ => ", in spite of its name",
    }
}

/// Type of an archive, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zip,
    Gzip,
    Tar,
    /// An unsupported archive: bzip2, xz, zstd, 7z or rar.
    Other,
}

impl Kind {
    fn of(bytes: &[u8]) -> Option<Self> {
        const OTHERS: [&[u8]; 5] = [b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07"];
        match bytes {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => Some(Self::Zip),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            _ if bytes.get(257..262) == Some(b"ustar") => Some(Self::Tar),
            _ => OTHERS.iter().any(|magic| bytes.starts_with(magic)).then_some(Self::Other),
        }
    }
}

/// Returns whether a file mode allows the owner to execute the file.
fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

/// Reason why a device or a pipe is left out.
const SPECIAL: &str = "is not a plain file; devices and pipes are not accepted";

fn refusal(reason: impl Into<String>) -> Error {
    Error::invalid("/file", reason)
}

fn damaged() -> Error {
    refusal("the archive is damaged: it cannot be unpacked whole")
}
