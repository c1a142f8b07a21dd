//! Tests of archives built byte by byte, like those of a faulty tool or an attacker.

mod handmade;
mod paths;
mod round_trip;
mod tars;
mod zips;

use knowhow_domain::Error;

use super::{Limits, PackedFile, Packer, UnpackedArchive, read, zip};

/// Returns the error of an archive, or the reason why its only file is left out.
fn refused(bytes: &[u8]) -> String {
    refused_within(bytes, &Limits::default())
}

fn refused_within(bytes: &[u8], limits: &Limits) -> String {
    match read(bytes, limits) {
        Err(error @ (Error::Invalid(_) | Error::TooLarge { .. })) => error.to_string(),
        Ok(UnpackedArchive { entries, left_out, .. }) if entries.is_empty() && left_out.len() == 1 => {
            left_out[0].detail.clone()
        }
        other => panic!("should be refused: {:?}", other.map(|unpacked| unpacked.entries.len())),
    }
}

fn unpacked(bytes: &[u8]) -> Vec<(String, usize)> {
    let entries = read(bytes, &Limits::default()).unwrap().entries;
    entries.into_iter().map(|entry| (entry.path, entry.bytes.len())).collect()
}

fn entry(path: &str, bytes: &[u8]) -> PackedFile {
    PackedFile::plain(path, bytes.to_vec())
}

/// Sorts files, and packs them in a single piece.
fn tar_gz(entries: &[PackedFile]) -> knowhow_domain::Result<Vec<u8>> {
    let mut sorted = entries.to_vec();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut packer = Packer::tar_gz();
    let mut bytes = packer.add(&sorted)?;
    bytes.extend(packer.finish()?);
    Ok(bytes)
}
