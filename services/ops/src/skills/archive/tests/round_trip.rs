//! Tests that written archives can be read and are deterministic, and that no input makes the reader panic.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::handmade::{ZipRecord, gzip, tar, tar_file};
use super::*;

fn some_skills() -> Vec<PackedFile> {
    let long = format!("{}/{}.md", "folder".repeat(20), "file".repeat(30));
    vec![
        entry("mcp/email/references/api.md", &b"# API\n".repeat(500)),
        entry("mcp/email/SKILL.md", b"---\nname: email\n---\n"),
        entry("empty.md", b""),
        entry(&long, b"long"),
        entry("caf\u{e9}/\u{6280}\u{80fd}.md", b"\xff\0 not text"),
    ]
}

#[test]
fn both_formats_return_all_files_sorted() {
    let mut expected = some_skills();
    expected.sort_by(|a, b| a.path.cmp(&b.path));
    for archive in [zip(&some_skills()).unwrap(), tar_gz(&some_skills()).unwrap()] {
        assert_eq!(read(&archive, &Limits::default()).unwrap().entries, expected);
    }
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let mut reversed = some_skills();
    reversed.reverse();
    assert_eq!(zip(&some_skills()).unwrap(), zip(&reversed).unwrap());
    assert_eq!(tar_gz(&some_skills()).unwrap(), tar_gz(&reversed).unwrap());
    assert_eq!(unpacked(&zip(&[]).unwrap()), []);
}

#[test]
fn a_path_that_occurs_twice_is_not_written() {
    assert!(zip(&[entry("a", b"1"), entry("a", b"2")]).is_err());
}

#[test]
fn highly_compressible_files_are_unpacked() {
    let entries = vec![entry("p/SKILL.md", b"---\nname: p\n---\n"), entry("p/assets/zeros", &vec![0; 1_000_000])];
    let mut sorted = entries.clone();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    for archive in [zip(&entries).unwrap(), tar_gz(&entries).unwrap()] {
        assert_eq!(read(&archive, &Limits::default()).unwrap().entries, sorted);
    }
}

#[test]
fn pieces_form_one_archive() {
    let mut sorted = some_skills();
    sorted.push(entry("zeros", &vec![0; 100_000]));
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    for new in [Packer::zip, Packer::tar_gz] {
        let mut packer = new();
        let mut bytes = Vec::new();
        for piece in sorted.chunks(2) {
            bytes.extend(packer.add(piece).unwrap());
        }
        bytes.extend(packer.finish().unwrap());
        assert_eq!(read(&bytes, &Limits::default()).unwrap().entries, sorted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_plain_files_survive(
        files in btree_map("[a-z]{1,8}(/[a-z]{9,12}){0,3}\\.md", vec(any::<u8>(), 0..2000), 0..20),
    ) {
        let entries: Vec<PackedFile> = files.iter().map(|(path, bytes)| entry(path, &[b"x", &bytes[..]].concat())).collect();
        prop_assert_eq!(&read(&zip(&entries).unwrap(), &Limits::default()).unwrap().entries, &entries);
        if !entries.is_empty() {
            prop_assert_eq!(&read(&tar_gz(&entries).unwrap(), &Limits::default()).unwrap().entries, &entries);
        }
    }

    #[test]
    fn any_bytes_are_survived(magic in 0usize..4, rest in vec(any::<u8>(), 0..2000)) {
        let magic = [&b"PK\x03\x04"[..], b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"PK\x05\x06", b""][magic];
        let _ = read(&[magic, &rest].concat(), &Limits::default());
        let _ = read(&gzip(&rest), &Limits::default());
    }

    /// Asserts that a damaged or truncated archive causes no panic.
    #[test]
    fn damage_anywhere_is_survived(at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>()) {
        let records = [ZipRecord::deflated("a/SKILL.md", &b"hello ".repeat(50)), ZipRecord::stored("b", b"hello")];
        let zipped = handmade::zip(&records);
        let tarred = tar(&[tar_file("a/SKILL.md", b"hello"), tar_file("b", &[7; 700])]);
        for whole in [zipped, gzip(&tarred), tarred] {
            let mut changed = whole.clone();
            let at = at.index(whole.len());
            changed[at] = byte;
            let _ = read(&changed, &Limits::default());
            let _ = read(&changed[..cut.index(whole.len())], &Limits::default());
        }
    }
}
