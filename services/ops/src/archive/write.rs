//! Writing archives: the same files give the same bytes, whenever and wherever.

use std::io::{Cursor, Write};

use flate2::{Compression, GzBuilder};
use knowhow_domain::{Error, Result};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::Entry;

const MODE: u32 = 0o644;
/// 1980-01-01 in seconds since 1970: the earliest time that both formats can say.
const MTIME: u64 = 315_532_800;
/// RFC 1952, 2.3: an operating system that is not told.
const UNKNOWN_SYSTEM: u8 = 255;

/// A zip of the files, by path.
///
/// # Errors
/// `Internal` where a path occurs twice or does not fit the format.
pub fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(MODE);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in by_path(entries) {
        archive.start_file(entry.path.as_str(), options).map_err(Error::internal)?;
        archive.write_all(&entry.bytes).map_err(Error::internal)?;
    }
    Ok(archive.finish().map_err(Error::internal)?.into_inner())
}

/// A tar.gz of the files, by path.
///
/// # Errors
/// `Internal` where a path does not fit the format.
pub fn tar_gz(entries: &[Entry]) -> Result<Vec<u8>> {
    let packed = GzBuilder::new().operating_system(UNKNOWN_SYSTEM).write(Vec::new(), Compression::default());
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
