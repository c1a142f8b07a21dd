//! Tests of hostile paths, in zip and tar.

use super::handmade::{ZipRecord, gzip, tar, tar_record, zip};
use super::*;

/// Returns a zip, a tar.gz and a tar with files at these paths.
fn archives(paths: &[&[u8]]) -> [Vec<u8>; 3] {
    let records: Vec<ZipRecord> = paths.iter().map(|path| ZipRecord::stored(path, b"x")).collect();
    let tarred = tar(&paths.iter().map(|path| tar_record(b'0', path, 1, b"x")).collect::<Vec<_>>());
    [zip(&records), gzip(&tarred), tarred]
}

#[test]
fn invalid_paths_are_refused() {
    for (path, problem) in [
        (&b"../x"[..], "leaves its folder"),
        (b"a/../x", "leaves its folder"),
        (b"a/..", "leaves its folder"),
        (b"..", "leaves its folder"),
        (b"/etc/passwd", "absolute"),
        (b"//host/share", "absolute"),
        (b"C:/x", "drive"),
        (b"c:x", "drive"),
        (b"a//b", "empty segment"),
        (b"\xff\xfe", "UTF-8"),
        (b"caf\x82", "UTF-8"),
        (b".", "empty"),
        (b"", "empty"),
    ] {
        for archive in archives(&[path]) {
            let reason = refused(&archive);
            assert!(reason.contains(problem), "{:?}: {reason}", String::from_utf8_lossy(path));
        }
    }
}

#[test]
fn a_bad_path_does_not_affect_other_files() {
    for archive in archives(&[b"a/SKILL.md", b"b/../../x", b"c/SKILL.md", b"c/\xff"]) {
        let read = read(&archive, &Limits::default()).unwrap();
        assert_eq!(read.entries, [entry("a/SKILL.md", b"x"), entry("c/SKILL.md", b"x")]);
        assert!(read.left_out.len() == 2 && read.left_out.iter().all(|file| file.is_missed));
        assert_eq!(read.left_out[1].path, "c/\u{fffd}");
    }
}

#[test]
fn backslashes_of_a_zip_separate_folders() {
    let names = ["a\\SKILL.md", "a\\references\\b.md", "a\\empty\\"];
    let files = names.map(|name| ZipRecord::stored(name, if name.ends_with('\\') { b"" } else { b"x" }));
    assert_eq!(unpacked(&zip(&files)), [("a/SKILL.md".to_owned(), 1), ("a/references/b.md".to_owned(), 1)]);
    assert!(refused(&zip(&[ZipRecord::stored("..\\x", b"x")])).contains("leaves its folder"));
    assert!(refused(&zip(&[ZipRecord::stored("\\\\host\\x", b"x")])).contains("absolute"));
}

#[test]
fn long_and_deep_paths_are_refused() {
    assert!(refused(&zip(&[ZipRecord::stored("a/".repeat(40) + "x", b"x")])).contains("deep"));
    assert!(refused(&zip(&[ZipRecord::stored("a".repeat(2000), b"x")])).contains("long"));
}

#[test]
fn a_repeated_path_is_left_out() {
    for paths in [["a/x", "a/x"], ["a/./x", "a/x"]] {
        for archive in archives(&[paths[0].as_bytes(), b"b", paths[1].as_bytes()]) {
            let read = read(&archive, &Limits::default()).unwrap();
            assert_eq!(read.entries, [entry("b", b"x")]);
            let [file] = &read.left_out[..] else { panic!("{:?}", read.left_out) };
            assert!(file.path == "a/x" && file.detail.contains("twice") && file.is_missed, "{file:?}");
        }
    }
    let mut forged = ZipRecord::stored("c", b"x");
    forged.local_name = b"evil".to_vec();
    let twice = ZipRecord::stored("a", b"x");
    assert!(refused(&zip(&[twice.clone(), twice, forged])).contains("damaged"));
}

#[test]
fn files_of_operating_systems_and_git_data_are_not_unpacked() {
    let paths = [
        "./skills/a/SKILL.md",
        "__MACOSX/skills/a/._SKILL.md",
        "skills/.DS_Store",
        "skills/a/._SKILL.md",
        ".git/HEAD",
        ".git/config",
        "skills/a/.git/config",
        "Thumbs.db",
        "skills/a/references/caf\u{e9}.md",
    ];
    for archive in archives(&paths.map(str::as_bytes)) {
        let left_out = read(&archive, &Limits::default()).unwrap().left_out;
        let left_out: Vec<_> = left_out.iter().map(|file| (file.path.as_str(), file.is_missed)).collect();
        assert_eq!(left_out, [(".git", false), ("skills/a/.git", false)]);
        let kept = [("skills/a/SKILL.md".to_owned(), 1), ("skills/a/references/caf\u{e9}.md".to_owned(), 1)];
        assert_eq!(unpacked(&archive), kept);
    }
}
