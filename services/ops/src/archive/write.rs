//! Writing archives: the same files give the same bytes, whenever and wherever.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};

use flate2::{Compression, GzBuilder};
use knowhow_domain::{Error, Result};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::{Entry, Limits};

const MODE: u32 = 0o644;
/// 1980-01-01 in seconds since 1970: the earliest time that both formats can say.
const MTIME: u64 = 315_532_800;
/// RFC 1952, 2.3: an operating system that is not told.
const UNKNOWN_SYSTEM: u8 = 255;

/// A zip of the files, by path. A file that packs so well that a reader would take it for a bomb is stored as it is.
///
/// # Errors
/// `Internal` where a path occurs twice or does not fit the format.
pub fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let packed = zip_with(entries, &BTreeSet::new())?;
    let tight = list_tight(&packed)?;
    if tight.is_empty() { Ok(packed) } else { zip_with(entries, &tight) }
}

fn zip_with(entries: &[Entry], stored: &BTreeSet<String>) -> Result<Vec<u8>> {
    let options = SimpleFileOptions::default().last_modified_time(DateTime::default()).unix_permissions(MODE);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in by_path(entries) {
        let is_stored = stored.contains(&entry.path);
        let method = if is_stored { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        archive.start_file(entry.path.as_str(), options.compression_method(method)).map_err(Error::internal)?;
        archive.write_all(&entry.bytes).map_err(Error::internal)?;
    }
    Ok(archive.finish().map_err(Error::internal)?.into_inner())
}

/// The files that are packed more tightly than a reader takes, by what the archive's directory says of them.
fn list_tight(packed: &[u8]) -> Result<BTreeSet<String>> {
    let archive = ZipArchive::new(Cursor::new(packed)).map_err(Error::internal)?;
    let mut tight = BTreeSet::new();
    for index in 0..archive.len() {
        let record = archive.by_index_data(index).map_err(Error::internal)?;
        if record.size() > record.compressed_size().saturating_mul(Limits::default().ratio) {
            tight.insert(String::from_utf8_lossy(record.name_raw()).into_owned());
        }
    }
    Ok(tight)
}

/// A tar.gz of the files, by path; hardly packed where a reader would take it for a bomb.
///
/// # Errors
/// `Internal` where a path does not fit the format.
pub fn tar_gz(entries: &[Entry]) -> Result<Vec<u8>> {
    let packed = tar_gz_with(entries, Compression::default())?;
    let total: u64 = entries.iter().map(|entry| entry.bytes.len() as u64).sum();
    let is_tight = total > (packed.len() as u64).saturating_mul(Limits::default().ratio);
    if is_tight { tar_gz_with(entries, Compression::none()) } else { Ok(packed) }
}

fn tar_gz_with(entries: &[Entry], compression: Compression) -> Result<Vec<u8>> {
    let packed = GzBuilder::new().operating_system(UNKNOWN_SYSTEM).write(Vec::new(), compression);
    let mut archive = tar::Builder::new(packed);
    for entry in by_path(entries) {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(MODE);
        header.set_mtime(MTIME);
        archive.append_data(&mut header, &entry.path, entry.bytes.as_slice()).map_err(Error::internal)?;
    }
    archive.into_inner().and_then(|packed| packed.finish()).map_err(Error::internal)
}

fn by_path(entries: &[Entry]) -> Vec<&Entry> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    sorted
}
