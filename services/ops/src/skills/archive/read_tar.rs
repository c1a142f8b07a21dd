//! Reads tar archives, plain or compressed with gzip. Reading stops at the byte limit, regardless of the headers.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use knowhow_domain::Result;
use tar::{Archive, EntryType};

use super::collect::{Collector, ToUnpack};
use super::{SPECIAL, damaged, is_executable};

pub(super) fn read_gzip(bytes: &[u8], collector: &mut Collector<'_>) -> Result<()> {
    read_stream(MultiGzDecoder::new(bytes), collector)
}

pub(super) fn read(bytes: &[u8], collector: &mut Collector<'_>) -> Result<()> {
    read_stream(bytes, collector)
}

fn read_stream(stream: impl Read, collector: &mut Collector<'_>) -> Result<()> {
    let overrun = Rc::new(Cell::new(false));
    let stream = Bounded { stream, left: collector.max_stream(), overrun: Rc::clone(&overrun) };
    let outcome = read_entries(Archive::new(stream), collector);
    if overrun.get() { Err(collector.too_large()) } else { outcome }
}

fn read_entries<R: Read>(mut archive: Archive<R>, collector: &mut Collector<'_>) -> Result<()> {
    for entry in archive.entries().map_err(|_| damaged())? {
        let mut entry = entry.map_err(|_| damaged())?;
        collector.count_record()?;
        let raw_path = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            EntryType::Directory => {}
            EntryType::Regular | EntryType::Continuous if is_sparse(&mut entry)? => {
                collector.leave_out_file(&raw_path, "is a sparse file")?;
            }
            EntryType::Regular | EntryType::Continuous => {
                let size = entry.size();
                let executable = entry.header().mode().is_ok_and(is_executable);
                if let Some(path) = collector.admit_file(&raw_path)? {
                    collector.unpack(ToUnpack { path, size, is_separate: false, executable }, entry)?;
                }
            }
            // A global header applies to the whole archive. Git stores its commit there.
            EntryType::XGlobalHeader => {}
            EntryType::Symlink | EntryType::Link => collector.leave_out_link(&raw_path)?,
            _ => collector.leave_out_file(&raw_path, SPECIAL)?,
        }
    }
    nothing_follows(archive.into_inner())
}

/// Returns whether an entry is a sparse file, which POSIX tar marks in an extension header.
fn is_sparse<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<bool> {
    let Some(extensions) = entry.pax_extensions().map_err(|_| damaged())? else { return Ok(false) };
    for extension in extensions {
        if extension.map_err(|_| damaged())?.key_bytes().starts_with(b"GNU.sparse.") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads to the end of the stream, so that gzip verifies its checksum. Only zero bytes may follow the last file.
fn nothing_follows(mut rest: impl Read) -> Result<()> {
    let mut block = [0; 8192];
    loop {
        match rest.read(&mut block).map_err(|_| damaged())? {
            0 => return Ok(()),
            read if block[..read].iter().all(|byte| *byte == 0) => {}
            _ => return Err(damaged()),
        }
    }
}

/// A stream that returns an error and sets `overrun` if it exceeds its limit.
struct Bounded<R> {
    stream: R,
    left: u64,
    overrun: Rc<Cell<bool>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            self.overrun.set(true);
            io::Error::from(io::ErrorKind::FileTooLarge)
        })?;
        Ok(read)
    }
}
