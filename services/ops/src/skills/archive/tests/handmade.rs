//! Builds archives with false headers.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

/// A record of a zip. Every field can contradict the content.
#[derive(Clone)]
pub(super) struct ZipRecord {
    pub(super) name: Vec<u8>,
    pub(super) local_name: Vec<u8>,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) made_by: u16,
    pub(super) attributes: u32,
    pub(super) crc: u32,
    pub(super) size: u32,
    pub(super) packed: Vec<u8>,
    /// Offset of the local record, as the central record states it; `None` for the true offset.
    pub(super) offset: Option<u32>,
    pub(super) has_local: bool,
}

impl ZipRecord {
    pub(super) fn stored(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(content);
        Self {
            name: name.as_ref().to_vec(),
            local_name: name.as_ref().to_vec(),
            method: 0,
            flags: 0,
            made_by: 3 << 8 | 20,
            attributes: 0o100_644 << 16,
            crc: crc.sum(),
            size: content.len() as u32,
            packed: content.to_vec(),
            offset: None,
            has_local: true,
        }
    }

    pub(super) fn deflated(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self { method: 8, packed: deflate(content), ..Self::stored(name, content) }
    }

    fn fields(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in [20, self.flags, self.method, 0, 0x21] {
            bytes.extend(u16::to_le_bytes(field));
        }
        for field in [self.crc, self.packed.len() as u32, self.size] {
            bytes.extend(u32::to_le_bytes(field));
        }
        bytes
    }
}

pub(super) fn zip(records: &[ZipRecord]) -> Vec<u8> {
    let (mut bytes, mut central) = (Vec::new(), Vec::new());
    for record in records {
        let at = record.offset.unwrap_or(bytes.len() as u32);
        if record.has_local {
            bytes.extend(b"PK\x03\x04");
            bytes.extend(record.fields());
            bytes.extend((record.local_name.len() as u16).to_le_bytes());
            bytes.extend([0; 2]);
            bytes.extend(&record.local_name);
            bytes.extend(&record.packed);
        }
        central.extend(b"PK\x01\x02");
        central.extend(record.made_by.to_le_bytes());
        central.extend(record.fields());
        central.extend((record.name.len() as u16).to_le_bytes());
        central.extend([0; 8]);
        central.extend(record.attributes.to_le_bytes());
        central.extend(at.to_le_bytes());
        central.extend(&record.name);
    }
    let (count, start, len) = (records.len() as u16, bytes.len() as u32, central.len() as u32);
    bytes.extend(central);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(len.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

/// Returns a tar record in ustar form.
pub(super) fn tar_record(kind: u8, name: &[u8], size: u64, content: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name);
    block[100..107].copy_from_slice(b"0000644");
    block[108..115].copy_from_slice(b"0000000");
    block[116..123].copy_from_slice(b"0000000");
    block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    block[136..147].copy_from_slice(b"00000000000");
    block[148..156].fill(b' ');
    block[156] = kind;
    if kind == b'1' || kind == b'2' {
        block[157..168].copy_from_slice(b"/etc/passwd");
    }
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block.extend(content);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

pub(super) fn tar_file(name: &str, content: &[u8]) -> Vec<u8> {
    tar_record(b'0', name.as_bytes(), content.len() as u64, content)
}

pub(super) fn tar(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = records.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}
