//! Reads zip archives. The central directory is authoritative, and local headers must agree with it. Other archives
//! are rejected, because different programs would unpack them differently.

use std::collections::HashSet;
use std::io::Cursor;

use knowhow_domain::Result;
use zip::read::{Config, ZipFileEntry};
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, ZipArchive};

use super::collect::{Collector, ToUnpack};
use super::{SPECIAL, damaged, is_executable};

const CENTRAL_RECORD: [u8; 4] = *b"PK\x01\x02";
const END_RECORDS: [[u8; 4]; 2] = [*b"PK\x05\x06", *b"PK\x06\x06"];
/// Maximum number of end records. A zip has one. A few more may occur by chance in packed bytes, but many are an
/// attack that slows down the search for the real one.
const MAX_END_RECORDS: usize = 16;

const TYPE_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

pub(super) fn read(bytes: &[u8], collector: &mut Collector<'_>) -> Result<()> {
    count_records(bytes, collector)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged())?;
    if archive.offset() != 0 {
        return Err(damaged());
    }
    let repeated = if archive.has_duplicate_names() { list_repeated(bytes)? } else { HashSet::new() };
    if repeated.is_empty() && archive.validate_header_consistency().is_err() {
        return Err(damaged());
    }
    for index in 0..archive.len() {
        collector.count_record()?;
        let record = archive.by_index_data(index).map_err(|_| damaged())?;
        let raw_path = with_slashes(record.name_raw());
        if is_link(&record) {
            collector.leave_out_link(&raw_path)?;
            continue;
        }
        if raw_path.ends_with(b"/") {
            if record.size() > 0 {
                return Err(damaged());
            }
            continue;
        }
        if let Some(problem) = find_problem(&record) {
            collector.leave_out_file(&raw_path, problem)?;
            continue;
        }
        let (size, executable) = (record.size(), record.unix_mode().is_some_and(is_executable));
        let is_repeated = repeated.contains(record.name_raw());
        let Some(path) = collector.admit_file(&raw_path)? else { continue };
        if is_repeated {
            collector.drop_repeated(&path);
            continue;
        }
        let content = archive.by_index(index).map_err(|_| damaged())?;
        collector.unpack(ToUnpack { path, size, is_separate: true, executable }, content)?;
    }
    Ok(())
}

/// Returns a path with `/` between its segments. Some programs on Windows write backslashes instead.
fn with_slashes(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect()
}

/// Returns the names that occur several times. The zip reader would merge these records.
fn list_repeated(bytes: &[u8]) -> Result<HashSet<Vec<u8>>> {
    let records = ZipIterable::try_new(Cursor::new(bytes), Config::default()).map_err(|_| damaged())?;
    let mut records = records.enforce_header_consistency(true);
    let (mut known, mut repeated) = (HashSet::new(), HashSet::new());
    for record in records.files().map_err(|_| damaged())? {
        let name = record.map_err(|_| damaged())?.name_raw().to_vec();
        if !known.insert(name.clone()) {
            repeated.insert(name);
        }
    }
    Ok(repeated)
}

/// Rejects an archive with too many records. The zip reader would allocate all of them before it reports their
/// number.
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

/// Returns the reason why a file cannot be unpacked, or `None` if it can.
fn find_problem(record: &ZipFileEntry<'_>) -> Option<&'static str> {
    if record.encrypted() {
        return Some("is encrypted");
    }
    if ![0, REGULAR, FOLDER].contains(&kind_of(record)) {
        return Some(SPECIAL);
    }
    match record.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => None,
        _ => Some("uses a packing method other than deflate"),
    }
}
