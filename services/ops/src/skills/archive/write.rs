//! Writes archives in pieces. The same files in the same pieces always give the same bytes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::{Compression, GzBuilder};
use knowhow_domain::{Error, Result};
use tar::{EntryType, Header};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::PackedFile;

const MODE: u32 = 0o644;
const EXECUTABLE: u32 = 0o755;
/// Modification time of all files: 1980-01-01 in seconds since 1970, the earliest time that both formats support.
const MTIME: u64 = 315_532_800;
/// Code for an unknown operating system in gzip (RFC 1952, 2.3).
const UNKNOWN_SYSTEM: u8 = 255;

/// Writes an archive. The packed bytes are returned after each piece, so that only one piece is in memory.
pub struct Packer {
    format: FormatWriter,
    out: ArchiveOutput,
}

enum FormatWriter {
    Zip(Box<ZipWriter<StreamWriter<ArchiveOutput>>>),
    /// The tar stream. Each piece becomes a separate member of the gzip file (RFC 1952, 2.2).
    TarGz(tar::Builder<ArchiveOutput>),
}

impl Packer {
    /// Returns a packer that writes a zip.
    pub fn zip() -> Self {
        let out = ArchiveOutput::default();
        Self { format: FormatWriter::Zip(Box::new(ZipWriter::new_stream(out.clone()))), out }
    }

    /// Returns a packer that writes a tar.gz.
    pub fn tar_gz() -> Self {
        let out = ArchiveOutput::default();
        Self { format: FormatWriter::TarGz(tar::Builder::new(out.clone())), out }
    }

    /// Packs the files of a piece, and returns the next bytes of the archive.
    ///
    /// # Errors
    /// `Internal` if a path occurs twice or the format does not support it.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = &'a PackedFile>) -> Result<Vec<u8>> {
        let mut entries = entries.into_iter();
        match &mut self.format {
            FormatWriter::Zip(archive) => {
                entries.try_for_each(|entry| add_to_zip(archive, entry))?;
                Ok(self.out.take())
            }
            FormatWriter::TarGz(archive) => {
                entries.try_for_each(|entry| add_to_tar(archive, entry))?;
                gzipped(&self.out.take())
            }
        }
    }

    /// Returns the last bytes of the archive.
    ///
    /// # Errors
    /// `Internal` if packing fails, which does not occur in practice.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.format {
            FormatWriter::Zip(archive) => {
                archive.finish().map_err(Error::internal)?;
                Ok(self.out.take())
            }
            FormatWriter::TarGz(archive) => {
                archive.into_inner().map_err(Error::internal)?;
                gzipped(&self.out.take())
            }
        }
    }
}

/// Returns a whole zip of the files, sorted by path.
///
/// # Errors
/// `Internal` if a path occurs twice or the format does not support it.
pub fn zip(entries: &[PackedFile]) -> Result<Vec<u8>> {
    let mut sorted: Vec<&PackedFile> = entries.iter().collect();
    sorted.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut packer = Packer::zip();
    let mut bytes = packer.add(sorted)?;
    bytes.extend(packer.finish()?);
    Ok(bytes)
}

fn mode_of(entry: &PackedFile) -> u32 {
    if entry.executable { EXECUTABLE } else { MODE }
}

fn add_to_zip(archive: &mut ZipWriter<StreamWriter<ArchiveOutput>>, entry: &PackedFile) -> Result<()> {
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(mode_of(entry))
        .compression_method(CompressionMethod::Deflated);
    archive.start_file(entry.path.as_str(), options).map_err(Error::internal)?;
    archive.write_all(&entry.bytes).map_err(Error::internal)
}

fn add_to_tar(archive: &mut tar::Builder<ArchiveOutput>, entry: &PackedFile) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(entry.bytes.len() as u64);
    header.set_mode(mode_of(entry));
    header.set_mtime(MTIME);
    archive.append_data(&mut header, &entry.path, entry.bytes.as_slice()).map_err(Error::internal)
}

/// Returns the bytes as a member of a gzip file; empty if there are no bytes.
fn gzipped(bytes: &[u8]) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut packed = GzBuilder::new().operating_system(UNKNOWN_SYSTEM).write(Vec::new(), Compression::default());
    packed.write_all(bytes).and_then(|()| packed.finish()).map_err(Error::internal)
}

/// Output buffer that the packer and the archive writer share.
#[derive(Clone, Default)]
struct ArchiveOutput(Arc<Mutex<Vec<u8>>>);

impl ArchiveOutput {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes())
    }
}

impl Write for ArchiveOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
