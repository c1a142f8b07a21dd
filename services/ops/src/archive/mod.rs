//! Archives of skills: read as if they were meant to do harm, in memory and within limits, and written so that the
//! same skills give the same bytes.

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

pub use layout::{Folder, Grouped, Layout, Place, group, lay_out};
pub use naming::{FoundFolder, Named, name_all};
pub use provenance::{PROVENANCE_FILE, Provenance};
pub use write::{Packer, zip};

use knowhow_domain::{Error, Result};

use collect::{Collector, SMALL};

/// What an archive may hold, counted while it is unpacked and never believed from its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub entries: usize,
    /// Bytes of all files together, unpacked.
    pub total_bytes: u64,
    /// Unpacked bytes per packed byte, for each file of 4 KiB or more and for all of them.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 500, total_bytes: 20 * 1024 * 1024, ratio: 100 }
    }
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its relative path, segments joined by `/`, none of them `.` or `..`.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What came out of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// The files that are taken, in the archive's order.
    pub entries: Vec<PackedFile>,
    /// The others, each with its reason.
    pub left_out: Vec<LeftOut>,
}

/// A file of an archive that is not taken; it stops no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: String,
    /// Why it is not taken.
    pub detail: String,
    /// Whether the skill it belongs to is not whole without it. A link is no part of a skill, a file is.
    pub is_missed: bool,
}

/// Unpacks a zip, tar or tar.gz, told apart by their first bytes. Folders and what operating systems leave behind
/// (`__MACOSX`, `.DS_Store`, `._*`, `Thumbs.db`, `.git`) are passed over. Links, archives within and files that are
/// packed too tightly are left out. Anything else that is not a plain file at a plain, unique path refuses the whole.
///
/// # Errors
/// `Invalid` at `/file` with the reason, `TooLarge` beyond [`Limits::total_bytes`].
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Unpacked> {
    let mut collector = Collector::new(limits);
    match Kind::of(bytes) {
        Some(Kind::Zip) => read_zip::read(bytes, &mut collector)?,
        Some(Kind::Gzip) => read_tar::read_gzip(bytes, &mut collector)?,
        Some(Kind::Tar) => read_tar::read(bytes, &mut collector)?,
        Some(Kind::Other) | None => return Err(refusal("must be a zip, tar or tar.gz archive")),
    }
    collector.finish(bytes.len())
}

/// Whether the bytes are an archive of any kind, so not the text of a SKILL.md.
pub fn is_archive(bytes: &[u8]) -> bool {
    Kind::of(bytes).is_some()
}

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zip,
    Gzip,
    Tar,
    /// bzip2, xz, zstd, 7z, rar: archives that are not read.
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

fn refusal(reason: impl Into<String>) -> Error {
    Error::invalid("/file", reason)
}

fn damaged() -> Error {
    refusal("the archive is damaged: it cannot be unpacked whole")
}
