//! Zip archives. The central directory decides, and the local headers must agree with it: an archive that different
//! programs would unpack differently is refused.

use std::io::Cursor;

use knowhow_domain::Result;
use zip::read::ZipFileEntry;
use zip::{CompressionMethod, ZipArchive};

use super::collect::{Collector, ToUnpack};
use super::{damaged, path, refusal};

const CENTRAL_RECORD: [u8; 4] = *b"PK\x01\x02";
const END_RECORDS: [[u8; 4]; 2] = [*b"PK\x05\x06", *b"PK\x06\x06"];
/// A zip has one end record; more can be chance within packed bytes, many are meant to make the search for it slow.
const MAX_END_RECORDS: usize = 16;

const TYPE_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

pub(super) fn read(bytes: &[u8], collector: &mut Collector<'_>) -> Result<()> {
    count_records(bytes, collector)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged())?;
    if archive.has_duplicate_names() {
        return Err(refusal("a path in the archive occurs twice"));
    }
    if archive.offset() != 0 || archive.validate_header_consistency().is_err() {
        return Err(damaged());
    }
    for index in 0..archive.len() {
        collector.count_record()?;
        let record = archive.by_index_data(index).map_err(|_| damaged())?;
        check_kind(&record)?;
        if is_link(&record) {
            collector.leave_out_link(record.name_raw())?;
            continue;
        }
        if record.is_dir() {
            collector.add_folder(record.name_raw())?;
            continue;
        }
        let (size, packed) = (record.size(), Some(record.compressed_size()));
        let Some(path) = collector.admit_file(record.name_raw())? else { continue };
        let content = archive.by_index(index).map_err(|_| damaged())?;
        collector.unpack(ToUnpack { path, size, packed }, content)?;
    }
    Ok(())
}

/// Bounds what the reader has to build before it can be asked how many records there are.
fn count_records(bytes: &[u8], collector: &Collector<'_>) -> Result<()> {
    let count = |wanted: &[[u8; 4]]| {
        bytes.windows(4).filter(|window| window[0] == b'P' && wanted.iter().any(|magic| magic == window)).count()
    };
    if count(&[CENTRAL_RECORD]) > collector.max_records() {
        return Err(collector.too_many());
    }
    if count(&END_RECORDS) > MAX_END_RECORDS { Err(damaged()) } else { Ok(()) }
}

fn kind_of(record: &ZipFileEntry<'_>) -> u32 {
    record.unix_mode().map_or(0, |mode| mode & TYPE_MASK)
}

fn is_link(record: &ZipFileEntry<'_>) -> bool {
    record.is_symlink() || kind_of(record) == LINK
}

fn check_kind(record: &ZipFileEntry<'_>) -> Result<()> {
    let raw_path = record.name_raw();
    if record.encrypted() {
        return Err(path::bad(raw_path, "is encrypted"));
    }
    if !is_link(record) && ![0, REGULAR, FOLDER].contains(&kind_of(record)) {
        return Err(path::bad(raw_path, "is not a plain file: devices and pipes are not taken"));
    }
    if record.is_dir() && record.size() > 0 {
        return Err(damaged());
    }
    match record.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => Ok(()),
        _ => Err(refusal("the archive uses a packing method other than deflate")),
    }
}
