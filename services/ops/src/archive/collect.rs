//! What has been unpacked so far, held against the limits while the bytes come in.

use std::io::Read;

use knowhow_domain::{Error, Result};

use super::path::{self, Tree};
use super::{Kind, LeftOut, Limits, PackedFile, Unpacked, damaged, refusal};

/// Files below this size, in bytes, may be packed as tightly as they like.
pub(super) const SMALL: u64 = 4096;

/// What an archive says of a file that is to be unpacked.
pub(super) struct ToUnpack {
    pub(super) path: String,
    /// Bytes once it is unpacked.
    pub(super) size: u64,
    /// Bytes within the archive, where it is packed by itself.
    pub(super) packed: Option<u64>,
}

/// Gathers the files of one archive.
pub(super) struct Collector<'a> {
    limits: &'a Limits,
    tree: Tree,
    unpacked: Unpacked,
    records: usize,
    total: u64,
    total_of_large: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        let unpacked = Unpacked::default();
        Self { limits, tree: Tree::default(), unpacked, records: 0, total: 0, total_of_large: 0 }
    }

    /// How many records an archive may have: some are folders, and macOS adds one of its own to each file.
    pub(super) fn max_records(&self) -> usize {
        self.limits.entries.saturating_mul(4).saturating_add(64)
    }

    /// How many bytes a stream of files and their headers may have.
    pub(super) fn max_stream(&self) -> u64 {
        self.limits.total_bytes.saturating_add(self.max_records() as u64 * 4096)
    }

    /// Takes in a record of any kind, before looking into it.
    pub(super) fn count_record(&mut self) -> Result<()> {
        self.records += 1;
        if self.records > self.max_records() { Err(self.too_many()) } else { Ok(()) }
    }

    /// Takes in a folder.
    pub(super) fn add_folder(&mut self, raw_path: &[u8]) -> Result<()> {
        let path = path::plain(raw_path)?;
        if path.is_empty() || path::is_left_behind(&path) { Ok(()) } else { self.tree.add_folder(&path) }
    }

    /// The path of a file that is to be unpacked; `None` for one that is passed over.
    pub(super) fn admit_file(&mut self, raw_path: &[u8]) -> Result<Option<String>> {
        let path = path::plain(raw_path)?;
        if path.is_empty() {
            return Err(path::bad(raw_path, "is empty"));
        }
        if path::is_left_behind(&path) {
            return Ok(None);
        }
        if self.unpacked.entries.len() >= self.limits.entries {
            return Err(self.too_many());
        }
        self.tree.add_file(&path)?;
        Ok(Some(path))
    }

    /// Leaves out a link: it says where something is, and that is elsewhere.
    pub(super) fn leave_out_link(&mut self, raw_path: &[u8]) -> Result<()> {
        if let Some(path) = self.admit_file(raw_path)? {
            self.leave_out(path, "is a link; links in archives are not followed", false);
        }
        Ok(())
    }

    fn leave_out(&mut self, path: String, detail: &str, is_missed: bool) {
        self.unpacked.left_out.push(LeftOut { path, detail: detail.to_owned(), is_missed });
    }

    /// Unpacks a file that was admitted; it must turn out to be as large as the archive says.
    pub(super) fn unpack(&mut self, file: ToUnpack, content: impl Read) -> Result<()> {
        let ToUnpack { path, size, packed } = file;
        let room = self.limits.total_bytes - self.total;
        let mut bytes = Vec::new();
        content.take(room.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| damaged())?;
        let unpacked = bytes.len() as u64;
        if unpacked > room {
            return Err(self.too_large());
        }
        if unpacked != size {
            return Err(damaged());
        }
        // Also where it is left out: unpacking it was work.
        self.total += unpacked;
        if packed.is_some_and(|packed| self.is_bomb(unpacked, packed)) {
            self.leave_out(path, "is packed too tightly to be taken", true);
            return Ok(());
        }
        if Kind::of(&bytes).is_some() {
            self.leave_out(path, "is an archive itself; unpack it first", true);
            return Ok(());
        }
        self.total_of_large += if unpacked < SMALL { 0 } else { unpacked };
        self.unpacked.entries.push(PackedFile { path, bytes });
        Ok(())
    }

    /// What was gathered, if it is within the ratio to the archive's own `packed` bytes.
    pub(super) fn finish(self, packed: usize) -> Result<Unpacked> {
        if self.is_bomb(self.total_of_large, packed as u64) {
            return Err(refusal(format!("the archive unpacks to more than {} times its size", self.limits.ratio)));
        }
        Ok(self.unpacked)
    }

    pub(super) fn too_large(&self) -> Error {
        Error::TooLarge { what: "the unpacked archive".to_owned(), limit: self.limits.total_bytes }
    }

    pub(super) fn too_many(&self) -> Error {
        refusal(format!("the archive has too many files: at most {}", self.limits.entries))
    }

    fn is_bomb(&self, unpacked: u64, packed: u64) -> bool {
        unpacked >= SMALL && unpacked > packed.saturating_mul(self.limits.ratio)
    }
}
