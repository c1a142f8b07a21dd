//! Hostile paths, the same in both formats.

use super::handmade::{ZipRecord, gzip, tar, tar_file, tar_record, zip};
use super::*;

/// Both formats with files at those paths.
fn archives(paths: &[&[u8]]) -> [Vec<u8>; 3] {
    let records: Vec<ZipRecord> = paths.iter().map(|path| ZipRecord::stored(path, b"x")).collect();
    let tarred = tar(&paths.iter().map(|path| tar_record(b'0', path, 1, b"x")).collect::<Vec<_>>());
    [zip(&records), gzip(&tarred), tarred]
}

#[test]
fn paths_that_are_not_plain_are_refused() {
    for (path, problem) in [
        (&b"../x"[..], "climbs"),
        (b"a/../x", "climbs"),
        (b"a/..", "climbs"),
        (b"..", "climbs"),
        (b"/etc/passwd", "absolute"),
        (b"//host/share", "absolute"),
        (b"C:/x", "drive"),
        (b"c:x", "drive"),
        (b"a\\b", "backslash"),
        (b"..\\x", "backslash"),
        (b"\\\\host\\x", "backslash"),
        (b"a\nb", "control"),
        (b"a\x1b[31m", "control"),
        (b"a\x7f", "control"),
        ("a\u{202e}dm.exe".as_bytes(), "control"),
        ("SKILL\u{200b}.md".as_bytes(), "control"),
        (b"a//b", "empty segment"),
        (b"a/ /b", "ends with"),
        (b"SKILL.md.", "ends with"),
        (b"...", "ends with"),
        (b"\xff\xfe", "UTF-8"),
        (b"caf\x82", "UTF-8"),
        (b".", "empty"),
    ] {
        for archive in archives(&[path]) {
            let reason = refused(&archive);
            assert!(reason.contains(problem), "{:?}: {reason}", String::from_utf8_lossy(path));
        }
    }
}

#[test]
fn a_nul_ends_no_path() {
    // A tar header ends its name at the first NUL, so that only a zip can carry one.
    assert!(refused(&zip(&[ZipRecord::stored(b"SKILL.md\0.exe", b"x")])).contains("control"));
}

#[test]
fn long_and_deep_paths_are_refused() {
    assert!(refused(&zip(&[ZipRecord::stored("a/".repeat(40) + "x", b"x")])).contains("deep"));
    assert!(refused(&zip(&[ZipRecord::stored("a".repeat(256), b"x")])).contains("segment"));
    assert!(refused(&zip(&[ZipRecord::stored("a".repeat(2000), b"x")])).contains("long"));
}

#[test]
fn clashing_paths_are_refused() {
    for (paths, problem) in [
        (["a/x", "a/x"], "occurs twice"),
        (["a/./x", "a/x"], "occurs twice"),
        (["a/SKILL.md", "a/skill.md"], "case"),
        (["A/x", "a/y"], "case"),
        (["stra\u{df}e", "STRASSE"], "case"),
        (["\u{212a}", "k"], "case"),
        (["\u{3c3}", "\u{3c2}"], "case"),
        (["a", "a/x"], "both a file and a folder"),
        (["a/x", "a"], "both a file and a folder"),
        (["a/b/c", "A"], "case"),
    ] {
        for archive in archives(&paths.map(str::as_bytes)) {
            let reason = refused(&archive);
            assert!(reason.contains(problem), "{paths:?}: {reason}");
        }
    }
}

#[test]
fn a_folder_cannot_be_a_file_as_well() {
    let folder = tar_record(b'5', b"a/", 0, b"");
    assert!(refused(&tar(&[tar_file("a", b"x"), folder.clone()])).contains("both"));
    assert!(refused(&tar(&[folder, tar_file("a", b"x")])).contains("both"));
}

#[test]
fn what_systems_leave_behind_is_passed_over() {
    let paths = [
        "./skills/a/SKILL.md",
        "__MACOSX/skills/a/._SKILL.md",
        "skills/.DS_Store",
        "skills/a/._SKILL.md",
        ".git/HEAD",
        "skills/a/.git/config",
        "Thumbs.db",
        "skills/a/references/caf\u{e9}.md",
    ];
    for archive in archives(&paths.map(str::as_bytes)) {
        let kept = [("skills/a/SKILL.md".to_owned(), 1), ("skills/a/references/caf\u{e9}.md".to_owned(), 1)];
        assert_eq!(unpacked(&archive), kept);
    }
}

#[test]
fn a_reason_quotes_hostile_paths_harmlessly() {
    let reason = refused(&zip(&[ZipRecord::stored("\u{1b}]0;x\n".repeat(50), b"x")]));
    assert!(reason.len() < 700 && !reason.chars().any(char::is_control), "{reason}");
}
