//! Tests of hostile tar archives.

use super::handmade::{gzip, tar, tar_file, tar_record};
use super::*;

#[test]
fn a_valid_archive_is_read() {
    let archive = tar(&[
        tar_record(b'g', b"pax_global_header", 0, b""),
        tar_record(b'5', b"./", 0, b""),
        tar_record(b'5', b"./a/", 0, b""),
        tar_file("./a/SKILL.md", b"hello"),
    ]);
    assert_eq!(unpacked(&archive), [("a/SKILL.md".to_owned(), 5)]);
    assert_eq!(unpacked(&gzip(&archive)), [("a/SKILL.md".to_owned(), 5)]);
    let padded = [archive.clone(), vec![0; 10_240]].concat();
    assert_eq!(unpacked(&gzip(&padded)).len(), 1);
}

#[test]
fn links_are_left_out() {
    for kind in *b"12" {
        let archive = gzip(&tar(&[tar_record(kind, b"a", 0, b""), tar_file("b", b"x")]));
        let unpacked = read(&archive, &Limits::default()).unwrap();
        assert_eq!((unpacked.entries, unpacked.left_out[0].path.as_str()), (vec![entry("b", b"x")], "a"));
        assert!(!unpacked.left_out[0].is_missed);
        assert!(refused(&tar(&[tar_record(kind, b"../a", 0, b"")])).contains("leaves its folder"));
    }
}

#[test]
fn devices_and_sparse_files_are_refused() {
    for kind in *b"3469DMNSVZ?" {
        let reason = refused(&tar(&[tar_record(kind, b"a", 0, b"")]));
        assert!(reason.contains("not a plain file") || reason.contains("damaged"), "{}: {reason}", char::from(kind));
    }
    let extension = b"23 GNU.sparse.size=999\n";
    let archive = tar(&[tar_record(b'x', b"pax", 23, extension), tar_file("a", b"x")]);
    assert!(refused(&archive).contains("sparse"));
}

#[test]
fn extended_names_are_checked_like_others() {
    let gnu = |name: &[u8]| tar(&[tar_record(b'L', b"././@LongLink", name.len() as u64, name), tar_file("ok", b"x")]);
    assert_eq!(unpacked(&gnu(b"some/long/name\0")), [("some/long/name".to_owned(), 1)]);
    assert!(refused(&gnu(b"../../evil\0")).contains("leaves its folder"));
    let pax = |line: &[u8]| tar(&[tar_record(b'x', b"pax", line.len() as u64, line), tar_file("ok", b"x")]);
    assert_eq!(unpacked(&pax(b"12 path=a/b\n")), [("a/b".to_owned(), 1)]);
    assert!(refused(&pax(b"16 path=../evil\n")).contains("leaves its folder"));
    assert!(refused(&pax(b"22 size=9999999999999\n")).contains("damaged"));
}

#[test]
fn bombs_are_cut_off() {
    let limits = Limits { entries: 100, total_bytes: 4_000_000, ..Limits::default() };
    let zeros = vec![0; 9_000_000];
    let honest = tar_record(b'0', b"a", zeros.len() as u64, &zeros);
    assert!(refused_within(&gzip(&honest), &limits).contains("at most 4000000 bytes"));
    let in_a_name = tar_record(b'L', b"././@LongLink", zeros.len() as u64, &zeros);
    assert!(refused_within(&gzip(&in_a_name), &limits).contains("at most 4000000 bytes"));
    let behind_the_end = [tar(&[tar_file("a", b"x")]), zeros].concat();
    assert!(refused_within(&gzip(&behind_the_end), &limits).contains("at most 4000000 bytes"));
}

#[test]
fn sizes_in_headers_are_not_trusted() {
    for size in [5_000, 30_000_000, 8_589_934_591] {
        assert!(!refused(&tar(&[tar_record(b'0', b"a", size, b"x")])).is_empty(), "{size}");
    }
}

#[test]
fn too_many_files_are_refused() {
    let files = |count: usize| gzip(&tar(&(0..count).map(|n| tar_file(&format!("f{n}"), b"x")).collect::<Vec<_>>()));
    assert_eq!(unpacked(&files(2_000)).len(), 2_000);
    assert!(refused(&files(2_001)).contains("at most 2000"));
    assert!(refused(&files(10_000)).contains("at most 2000"));
    let folders: Vec<Vec<u8>> = (0..10_000).map(|n| tar_record(b'5', format!("d{n}/").as_bytes(), 0, b"")).collect();
    assert!(refused(&gzip(&tar(&folders))).contains("too many"));
}

#[test]
fn damaged_archives_are_refused() {
    let whole = gzip(&tar(&[tar_file("a", b"hello"), tar_file("b", b"world")]));
    for end in 2..whole.len() {
        assert!(!refused(&whole[..end]).is_empty(), "cut at {end}");
    }
    let mut flipped = whole.clone();
    let sum = flipped.len() - 8;
    flipped[sum] ^= 1;
    assert!(refused(&flipped).contains("damaged"), "the checksum is behind the last file");
    assert!(refused(&[whole.clone(), b"more".to_vec()].concat()).contains("damaged"));
    assert!(refused(&gzip(b"just a text, no tar")).contains("damaged"));
    let hidden = [tar(&[tar_file("a", b"x")]), tar(&[tar_file("b", b"y")])].concat();
    assert!(refused(&gzip(&hidden)).contains("damaged"), "a second archive behind the first");
}

#[test]
fn nested_archives_are_plain_files() {
    let inner = gzip(&tar(&[tar_file("a", b"x")]));
    assert_eq!(unpacked(&tar(&[tar_file("a.tgz", &inner)])), [("a.tgz".to_owned(), inner.len())]);
}

#[test]
fn other_files_are_not_archives() {
    for bytes in [&b""[..], b"P", b"PK", b"---\nname: x\n---\n", b"BZh91AY", b"\x28\xb5\x2f\xfd", &[0; 2000]] {
        assert!(refused(bytes).contains("must be a zip, tar or tar.gz archive"), "{bytes:?}");
    }
}
