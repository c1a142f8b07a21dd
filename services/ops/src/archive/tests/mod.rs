//! Archives made by hand, byte by byte, as a careless tool or an attacker would make them.

mod handmade;
mod paths;
mod round_trip;
mod tars;
mod zips;

use knowhow_domain::Error;

use super::{Limits, PackedFile, Packer, Unpacked, read, zip};

/// The reason why an archive is refused, or why the only file of it is left out.
fn refused(bytes: &[u8]) -> String {
    refused_within(bytes, &Limits::default())
}

fn refused_within(bytes: &[u8], limits: &Limits) -> String {
    match read(bytes, limits) {
        Err(error @ (Error::Invalid(_) | Error::TooLarge { .. })) => error.to_string(),
        Ok(Unpacked { entries, left_out }) if entries.is_empty() && left_out.len() == 1 => left_out[0].detail.clone(),
        other => panic!("should be refused: {:?}", other.map(|unpacked| unpacked.entries.len())),
    }
}

fn unpacked(bytes: &[u8]) -> Vec<(String, usize)> {
    let entries = read(bytes, &Limits::default()).unwrap().entries;
    entries.into_iter().map(|entry| (entry.path, entry.bytes.len())).collect()
}

fn entry(path: &str, bytes: &[u8]) -> PackedFile {
    PackedFile { path: path.to_owned(), bytes: bytes.to_vec() }
}

/// Packs files in one piece, sorted.
fn tar_gz(entries: &[PackedFile]) -> knowhow_domain::Result<Vec<u8>> {
    let mut sorted = entries.to_vec();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut packer = Packer::tar_gz();
    let mut bytes = packer.add(&sorted)?;
    bytes.extend(packer.finish()?);
    Ok(bytes)
}
