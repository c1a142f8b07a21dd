//! Tests of hostile zip archives.

use std::slice::from_ref;
use std::time::{Duration, Instant};

use super::handmade::{ZipRecord, zip};
use super::*;

#[test]
fn a_valid_archive_is_read() {
    let archive = zip(&[
        ZipRecord { attributes: 0o040_755 << 16, ..ZipRecord::stored("a/", b"") },
        ZipRecord::deflated("a/SKILL.md", &b"hello ".repeat(100)),
        ZipRecord { made_by: 20, attributes: 0, ..ZipRecord::stored("a/b.md", b"dos") },
    ]);
    assert_eq!(unpacked(&archive), [("a/SKILL.md".to_owned(), 600), ("a/b.md".to_owned(), 3)]);
    assert_eq!(unpacked(&zip(&[])), []);
}

#[test]
fn decompression_bombs_are_limited_by_unpacked_bytes() {
    let limits = Limits { total_bytes: 20_000_000, file_bytes: 9_000_000, ..Limits::default() };
    let bomb = |name: &str| ZipRecord::deflated(name, &vec![0; 10_000_000]);
    let good = ZipRecord::stored("good", b"x");
    let unpacked = read(&zip(&[bomb("a"), good.clone()]), &limits).unwrap();
    assert_eq!(unpacked.entries, [entry("good", b"x")]);
    let [file] = &unpacked.left_out[..] else { panic!("{:?}", unpacked.left_out) };
    assert!(file.path == "a" && file.is_missed && file.detail.contains("9000000 bytes"), "{file:?}");
    assert_eq!(unpacked.written, 9_000_002);
    assert!(refused_within(&zip(&[bomb("a"), bomb("b"), bomb("c"), good]), &limits).contains("at most 20000000 bytes"));
    // A high compression ratio is accepted: a table of zeros is a valid file.
    let zeros = vec![0; 8_000_000];
    assert_eq!(read(&zip(&[ZipRecord::deflated("a", &zeros)]), &limits).unwrap().entries[0].bytes, zeros);
}

#[test]
fn sizes_in_headers_are_not_trusted() {
    let honest = ZipRecord::deflated("a", &noise(100_000));
    for size in [0, 10, 99_999, 100_001, u32::MAX - 1] {
        assert!(refused(&zip(&[ZipRecord { size, ..honest.clone() }])).contains("damaged"), "{size}");
    }
    let damaged = ZipRecord { crc: 1, ..ZipRecord::stored("bad", b"x") };
    let read = read(&zip(&[damaged, ZipRecord::stored("good", b"x")]), &Limits::default()).unwrap();
    assert_eq!((read.entries, read.left_out[0].path.as_str()), (vec![entry("good", b"x")], "bad"));
    let tiny_claim = ZipRecord { size: 5, ..ZipRecord::deflated("a", &vec![0; 30_000_000]) };
    let begun = Instant::now();
    assert!(!refused(&zip(&[tiny_claim])).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn overlapping_records_are_refused() {
    let kernel = ZipRecord::deflated("a", &noise(50_000));
    let mut records = vec![kernel.clone()];
    for n in 0..100 {
        let name = format!("b{n}").into_bytes();
        records.push(ZipRecord { name, offset: Some(0), has_local: false, ..kernel.clone() });
    }
    assert!(refused(&zip(&records)).contains("damaged"));
    let twice = ZipRecord { offset: Some(0), has_local: false, ..kernel.clone() };
    assert!(refused(&zip(&[kernel, twice])).contains("twice"));
    let inner = ZipRecord::stored("b", b"shared");
    let inner_local = &zip(from_ref(&inner))[..30 + 1 + 6];
    let outer = ZipRecord::stored("a", &[b"x", inner_local].concat());
    let within = ZipRecord { offset: Some(30 + 1 + 1), has_local: false, ..inner };
    assert!(refused(&zip(&[outer, within])).contains("damaged"), "every header true, one file within another");
}

#[test]
fn headers_that_disagree_are_refused() {
    let record = ZipRecord::stored("a/SKILL.md", b"x");
    assert!(refused(&zip(&[ZipRecord { local_name: b"../evil".into(), ..record.clone() }])).contains("damaged"));
    assert!(refused(&zip(&[ZipRecord { crc: 1, ..record.clone() }])).contains("damaged"));
    assert!(refused(&zip(&[ZipRecord { offset: Some(9999), ..record.clone() }])).contains("damaged"));
    let prefixed = [b"PK\x03\x04 junk before".to_vec(), zip(from_ref(&record))].concat();
    assert!(refused(&prefixed).contains("damaged"));
    let two = [zip(from_ref(&record)), zip(&[ZipRecord::stored("b", b"y")])].concat();
    assert!(refused(&two).contains("damaged"), "two archives in one file");
    let whole = zip(&[record]);
    for end in (0..whole.len()).filter(|end| *end > 4) {
        assert!(!refused(&whole[..end]).is_empty(), "cut at {end}");
    }
}

#[test]
fn links_are_left_out() {
    let link = ZipRecord { attributes: (0o120_000 | 0o777) << 16, ..ZipRecord::stored("a", b"/etc/passwd") };
    let unpacked = read(&zip(&[link, ZipRecord::stored("b", b"x")]), &Limits::default()).unwrap();
    assert_eq!((unpacked.entries, unpacked.left_out[0].path.as_str()), (vec![entry("b", b"x")], "a"));
}

#[test]
fn devices_and_encryption_are_refused() {
    for kind in [0o060_000, 0o020_000, 0o010_000, 0o140_000] {
        let record = ZipRecord { attributes: (kind | 0o777) << 16, ..ZipRecord::stored("a", b"/etc/passwd") };
        assert!(refused(&zip(&[record])).contains("not a plain file"), "{kind:o}");
    }
    assert!(refused(&zip(&[ZipRecord { flags: 1, ..ZipRecord::stored("a", b"x") }])).contains("encrypted"));
    assert!(refused(&zip(&[ZipRecord { method: 14, ..ZipRecord::stored("a", b"x") }])).contains("packing method"));
    assert!(refused(&zip(&[ZipRecord { method: 99, ..ZipRecord::stored("a", b"x") }])).len() > 5);
}

#[test]
fn nested_archives_are_plain_files() {
    let inner = zip(&[ZipRecord::stored("a", b"x")]);
    for (name, content) in [("a.zip", inner.as_slice()), ("b.gz", b"\x1f\x8b\x08\0"), ("c.7z", b"7z\xbc\xaf\x27\x1c")] {
        let read = read(&zip(&[ZipRecord::stored(name, content)]), &Limits::default()).unwrap();
        assert_eq!(read.entries, [entry(name, content)]);
    }
}

#[test]
fn too_many_files_are_refused() {
    let files = |count: usize| zip(&(0..count).map(|n| ZipRecord::stored(format!("f{n}"), b"x")).collect::<Vec<_>>());
    assert_eq!(unpacked(&files(2_000)).len(), 2_000);
    assert!(refused(&files(2_001)).contains("at most 2000"));
    assert!(refused(&files(10_000)).contains("at most 2000"));
    let folders: Vec<ZipRecord> = (0..10_000).map(|n| ZipRecord::stored(format!("d{n}/"), b"")).collect();
    assert!(refused(&zip(&folders)).contains("too many"));
    let limits = Limits { entries: 3, ..Limits::default() };
    assert_eq!(read(&files(3), &limits).unwrap().entries.len(), 3);
    assert!(refused_within(&files(4), &limits).contains("at most 3"));
}

#[test]
fn many_end_records_are_refused_quickly() {
    let mut archive = zip(&[ZipRecord::stored("a", b"x")]);
    archive.extend(b"PK\x05\x06PK\x06\x06PK\x06\x07".repeat(500_000));
    let begun = Instant::now();
    assert!(refused(&archive).contains("damaged"));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_limit_of_bytes_is_exact() {
    let limits = Limits { total_bytes: 1000, ..Limits::default() };
    let of = |len: usize| zip(&[ZipRecord::stored("a", &vec![b'x'; len - 10]), ZipRecord::stored("b", &[b'y'; 10])]);
    assert!(read(&of(999), &limits).is_ok());
    assert!(read(&of(1000), &limits).is_ok());
    assert!(refused_within(&of(1001), &limits).contains("at most 1000 bytes"));
}

/// Returns incompressible bytes.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}
