//! Writing archives piece by piece: the same files in the same pieces give the same bytes, whenever and wherever.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::write::DeflateEncoder;
use flate2::{Compression, GzBuilder};
use knowhow_domain::{Error, Result};
use tar::{EntryType, Header};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Limits, PackedFile, SMALL};

const MODE: u32 = 0o644;
/// 1980-01-01 in seconds since 1970: the earliest time that both formats can say.
const MTIME: u64 = 315_532_800;
/// RFC 1952, 2.3: an operating system that is not told.
const UNKNOWN_SYSTEM: u8 = 255;

/// An archive in the making. What it has packed so far leaves it with each piece, so it holds no more than one.
pub struct Packer {
    format: Format,
    out: Out,
}

enum Format {
    Zip(Box<ZipWriter<StreamWriter<Out>>>),
    /// The tar; each piece of it becomes a member of the gzip file (RFC 1952, 2.2).
    TarGz(tar::Builder<Out>),
}

impl Packer {
    /// A zip. A file that packs so well that a reader would take it for a bomb is stored as it is.
    pub fn zip() -> Self {
        let out = Out::default();
        Self { format: Format::Zip(Box::new(ZipWriter::new_stream(out.clone()))), out }
    }

    /// A tar.gz. A piece that packs so well that a reader would take it for a bomb is hardly packed.
    pub fn tar_gz() -> Self {
        let out = Out::default();
        Self { format: Format::TarGz(tar::Builder::new(out.clone())), out }
    }

    /// Packs the next files; the bytes that come next.
    ///
    /// # Errors
    /// `Internal` where a path occurs twice or does not fit the format.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = &'a PackedFile>) -> Result<Vec<u8>> {
        let mut entries = entries.into_iter();
        match &mut self.format {
            Format::Zip(archive) => {
                entries.try_for_each(|entry| add_to_zip(archive, entry))?;
                Ok(self.out.take())
            }
            Format::TarGz(archive) => {
                entries.try_for_each(|entry| add_to_tar(archive, entry))?;
                gzipped(&self.out.take())
            }
        }
    }

    /// The last bytes.
    ///
    /// # Errors
    /// `Internal`, never in practice.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.format {
            Format::Zip(archive) => {
                archive.finish().map_err(Error::internal)?;
                Ok(self.out.take())
            }
            Format::TarGz(archive) => {
                archive.into_inner().map_err(Error::internal)?;
                gzipped(&self.out.take())
            }
        }
    }
}

/// A whole zip of the files, by path.
///
/// # Errors
/// `Internal` where a path occurs twice or does not fit the format.
pub fn zip(entries: &[PackedFile]) -> Result<Vec<u8>> {
    let mut sorted: Vec<&PackedFile> = entries.iter().collect();
    sorted.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut packer = Packer::zip();
    let mut bytes = packer.add(sorted)?;
    bytes.extend(packer.finish()?);
    Ok(bytes)
}

fn add_to_zip(archive: &mut ZipWriter<StreamWriter<Out>>, entry: &PackedFile) -> Result<()> {
    let method = if is_tight(&entry.bytes)? { CompressionMethod::Stored } else { CompressionMethod::Deflated };
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(MODE)
        .compression_method(method);
    archive.start_file(entry.path.as_str(), options).map_err(Error::internal)?;
    archive.write_all(&entry.bytes).map_err(Error::internal)
}

/// Whether a reader would take the packed file for a bomb.
fn is_tight(bytes: &[u8]) -> Result<bool> {
    if (bytes.len() as u64) < SMALL {
        return Ok(false);
    }
    let mut packed = DeflateEncoder::new(Counted(0), Compression::default());
    packed.write_all(bytes).map_err(Error::internal)?;
    let packed = packed.finish().map_err(Error::internal)?.0;
    Ok(bytes.len() as u64 > packed.saturating_mul(Limits::default().ratio))
}

fn add_to_tar(archive: &mut tar::Builder<Out>, entry: &PackedFile) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(entry.bytes.len() as u64);
    header.set_mode(MODE);
    header.set_mtime(MTIME);
    archive.append_data(&mut header, &entry.path, entry.bytes.as_slice()).map_err(Error::internal)
}

/// One member of a gzip file; nothing for nothing.
fn gzipped(bytes: &[u8]) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let member = |compression| -> io::Result<Vec<u8>> {
        let mut packed = GzBuilder::new().operating_system(UNKNOWN_SYSTEM).write(Vec::new(), compression);
        packed.write_all(bytes)?;
        packed.finish()
    };
    let packed = member(Compression::default()).map_err(Error::internal)?;
    let is_tight = bytes.len() as u64 > (packed.len() as u64).saturating_mul(Limits::default().ratio);
    if is_tight { member(Compression::none()).map_err(Error::internal) } else { Ok(packed) }
}

/// Where an archive is written to, and taken from.
#[derive(Clone, Default)]
struct Out(Arc<Mutex<Vec<u8>>>);

impl Out {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts bytes and forgets them.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
