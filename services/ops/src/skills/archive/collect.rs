//! Collects unpacked files within the limits. If a file cannot be unpacked, it is left out with the reason, and only
//! its skill is affected.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use knowhow_domain::{Error, Result};

use super::{LeftOut, Limits, PackedFile, UnpackedArchive, damaged, path, refusal};

/// Reason why git's own data is left out.
const GIT_DATA: &str = "is git's own data, not part of a skill";

/// The header of a file to unpack.
pub(super) struct ToUnpack {
    pub(super) path: String,
    /// Number of unpacked bytes, according to the header.
    pub(super) size: u64,
    /// Whether the file is packed separately, so that damage to it does not affect other files.
    pub(super) is_separate: bool,
    pub(super) executable: bool,
}

/// Collects the files of one archive.
pub(super) struct Collector<'a> {
    limits: &'a Limits,
    unpacked: UnpackedArchive,
    /// Indexes of the collected files by path; `None` if the file is left out.
    paths: HashMap<String, Option<usize>>,
    /// Folders of git that were already reported.
    git_folders: HashSet<String>,
    records: usize,
    written: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            unpacked: UnpackedArchive::default(),
            paths: HashMap::new(),
            git_folders: HashSet::new(),
            records: 0,
            written: 0,
        }
    }

    /// Returns the maximum number of records. Records also include folders, and macOS adds a record for each file.
    pub(super) fn max_records(&self) -> usize {
        self.limits.entries.saturating_mul(4).saturating_add(64)
    }

    /// Returns the maximum number of bytes in a stream, including the headers of its files.
    pub(super) fn max_stream(&self) -> u64 {
        self.limits.total_bytes.saturating_add(self.max_records() as u64 * 4096)
    }

    /// Counts a record of any kind, before the record is examined.
    pub(super) fn count_record(&mut self) -> Result<()> {
        self.records += 1;
        if self.records > self.max_records() { Err(self.too_many()) } else { Ok(()) }
    }

    /// Returns the path of a file to unpack; `None` if the file is ignored or left out.
    pub(super) fn admit_file(&mut self, raw_path: &[u8]) -> Result<Option<String>> {
        let path = match path::plain(raw_path) {
            Ok(path) => path,
            Err(problem) => {
                self.leave_out(path::shown(raw_path), problem, true);
                return Ok(None);
            }
        };
        if let Some(folder) = path::git_folder(&path) {
            if self.git_folders.insert(folder.to_owned()) {
                self.leave_out(folder.to_owned(), GIT_DATA, false);
            }
            return Ok(None);
        }
        if path::is_left_behind(&path) {
            return Ok(None);
        }
        if self.unpacked.entries.len() >= self.limits.entries {
            return Err(self.too_many());
        }
        if self.paths.contains_key(&path) {
            self.drop_repeated(&path);
            return Ok(None);
        }
        self.paths.insert(path.clone(), None);
        Ok(Some(path))
    }

    /// Leaves out a path that occurs several times, because programs disagree on which occurrence counts.
    pub(super) fn drop_repeated(&mut self, path: &str) {
        let known = self.paths.insert(path.to_owned(), None).flatten();
        if let Some(entry) = known.and_then(|at| self.unpacked.entries.get_mut(at)) {
            // The entry is removed at the end, so that the indexes of other entries stay valid.
            entry.path.clear();
        }
        if !self.unpacked.left_out.iter().any(|file| file.path == path) {
            self.leave_out(path.to_owned(), "occurs twice in the archive", true);
        }
    }

    /// Leaves out a file, so that its skill is incomplete.
    pub(super) fn leave_out_file(&mut self, raw_path: &[u8], detail: &str) -> Result<()> {
        if let Some(path) = self.admit_file(raw_path)? {
            self.leave_out(path, detail, true);
        }
        Ok(())
    }

    /// Leaves out a link, because its target may be outside of the archive.
    pub(super) fn leave_out_link(&mut self, raw_path: &[u8]) -> Result<()> {
        if let Some(path) = self.admit_file(raw_path)? {
            self.leave_out(path, "is a link; links in archives are not followed", false);
        }
        Ok(())
    }

    fn leave_out(&mut self, path: String, detail: &str, is_missed: bool) {
        self.unpacked.left_out.push(LeftOut { path, detail: detail.to_owned(), is_missed });
    }

    /// Unpacks a file. The number of unpacked bytes must equal the size in the header. The limits apply to the
    /// unpacked bytes.
    pub(super) fn unpack(&mut self, file: ToUnpack, content: impl Read) -> Result<()> {
        let ToUnpack { path, size, is_separate, executable } = file;
        let room = self.limits.total_bytes - self.written;
        let most = room.min(self.limits.file_bytes);
        let mut bytes = Vec::new();
        let read = content.take(most.saturating_add(1)).read_to_end(&mut bytes);
        let unpacked = bytes.len() as u64;
        if unpacked > room {
            return Err(self.too_large());
        }
        self.written += unpacked;
        if unpacked > most {
            let detail = format!("has more than {most} bytes, the limit of one file");
            self.leave_out(path, &detail, true);
            return Ok(());
        }
        if read.is_err() || unpacked != size {
            if !is_separate {
                return Err(damaged());
            }
            self.leave_out(path, "is damaged: it cannot be unpacked whole", true);
            return Ok(());
        }
        self.paths.insert(path.clone(), Some(self.unpacked.entries.len()));
        self.unpacked.entries.push(PackedFile { path, bytes, executable });
        Ok(())
    }

    /// Returns the collected files, and the files that were left out.
    pub(super) fn finish(self) -> UnpackedArchive {
        let mut unpacked = self.unpacked;
        unpacked.entries.retain(|entry| !entry.path.is_empty());
        unpacked.written = self.written;
        unpacked
    }

    pub(super) fn too_large(&self) -> Error {
        Error::TooLarge { what: "the unpacked archive".to_owned(), limit: self.limits.total_bytes }
    }

    pub(super) fn too_many(&self) -> Error {
        refusal(format!("the archive has too many files: at most {}", self.limits.entries))
    }
}
