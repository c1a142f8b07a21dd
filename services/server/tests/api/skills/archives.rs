//! Malicious archives.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::json;
use tar::{EntryType, Header};

use crate::callers::World;
use crate::exchange::zip;

const SKILL: &[u8] = b"---\nname: p\ndescription: d\n---\nbody\n";

/// Returns a tar archive of these entries, with their paths unchanged.
fn tar(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_ustar_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_size(0);
            header.as_ustar_mut().unwrap().linkname[..content.len()].copy_from_slice(content);
        }
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        if !kind.is_symlink() && !kind.is_hard_link() {
            bytes.extend_from_slice(content);
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn files<'a>(paths: &[&'a str]) -> Vec<(&'a str, EntryType, &'static [u8])> {
    paths.iter().map(|path| (*path, EntryType::Regular, SKILL)).collect()
}

fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let zeros = vec![0; 33 * 1024 * 1024];
    let names: Vec<String> = (0..2001).map(|n| format!("p/references/{n}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let whole = zip(&[("p/SKILL.md", SKILL)]);
    let mut list = vec![
        ("2001 files", zip(&many)),
        (
            "a bomb in a tar",
            gzip(&tar(&[("p/a", EntryType::Regular, &zeros), ("p/b", EntryType::Regular, &zeros[..17 * 1024 * 1024])])),
        ),
        ("bombs", zip(&[("p/a", &zeros), ("p/b", &zeros[..17 * 1024 * 1024])])),
        ("not gzip", [&[0x1f, 0x8b][..], b"garbage"].concat()),
        ("not zip", b"PK\x03\x04garbage".to_vec()),
        ("bzip2", b"BZh91AY&SY".to_vec()),
        ("cut zip", whole[..whole.len() - 10].to_vec()),
    ];
    let packed = gzip(&tar(&files(&["p/SKILL.md", "q/SKILL.md"])));
    list.push(("cut gzip", packed[..packed.len() - 12].to_vec()));
    let mut flipped = packed;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    list.push(("flipped gzip", flipped));
    list
}

#[tokio::test]
async fn malicious_archives_are_rejected_and_nothing_is_written() {
    let World { alice, .. } = &World::new().await;
    for (what, bytes) in hostile() {
        let answer = alice.send(Method::POST, "/v1/skills/import").files(&[("x", &bytes)]).await;
        assert!([413, 422].contains(&answer.status), "{what}: {answer}");
        answer.refused(answer.status, if answer.status == 413 { "too-large" } else { "invalid" });
    }
    assert!(alice.names().await.is_empty());
}

/// Returns archives that contain a bad file in the skill `p`, and a good skill `q`.
fn with_a_bad_file() -> Vec<(&'static str, Vec<u8>)> {
    const OTHER: &[u8] = b"---\nname: q\ndescription: d\n---\nbody\n";
    let zeros = vec![0; 33 * 1024 * 1024];
    let tar_of = |path: &'static str, kind: EntryType| {
        let content = if kind.is_file() { b"x" } else { &b""[..] };
        let good = [("q/SKILL.md", EntryType::Regular, OTHER), ("p/SKILL.md", EntryType::Regular, SKILL)];
        tar(&[&good[..], &[("p/a", EntryType::Regular, &b"x"[..]), (path, kind, content)]].concat())
    };
    let zip_of = |path: &str, bytes: &[u8]| zip(&[("q/SKILL.md", OTHER), ("p/SKILL.md", SKILL), (path, bytes)]);
    vec![
        ("climbs in a tar", tar_of("p/../../etc/passwd", EntryType::Regular)),
        ("climbs in a zip", zip_of("p/../x", b"x")),
        ("a backslash in a tar", tar_of("p/b\\x", EntryType::Regular)),
        ("a control character", tar_of("p/a\u{1b}b", EntryType::Regular)),
        ("a device", tar_of("p/b", EntryType::Char)),
        ("a pipe", tar_of("p/b", EntryType::Fifo)),
        ("twice", tar_of("p/a", EntryType::Regular)),
        ("by case alone", tar_of("p/A", EntryType::Regular)),
        ("file and folder", tar_of("p/a/b", EntryType::Regular)),
        ("too large", zip_of("p/zeros", &zeros)),
    ]
}

#[tokio::test]
async fn a_bad_file_fails_its_own_skill_alone() {
    let World { alice, .. } = &World::new().await;
    for (what, bytes) in with_a_bad_file() {
        let report = alice.send(Method::POST, "/v1/skills/import").files(&[("x", &bytes)]).await.ok(200);
        assert_eq!(report["failed"], 1, "{what}: {report}");
        assert_eq!(alice.names().await, ["q"], "{what}");
    }
}

#[tokio::test]
async fn a_file_outside_of_all_skills_is_reported() {
    let World { alice, .. } = &World::new().await;
    for path in ["../p/x", "/etc/passwd", "C:/x"] {
        let bytes = tar(&[("p/SKILL.md", EntryType::Regular, SKILL), (path, EntryType::Regular, b"x")]);
        let report = alice.send(Method::POST, "/v1/skills/import").files(&[("x", &bytes)]).await.ok(200);
        assert_eq!((&report["failed"], &report["left_out"][0]["path"]), (&json!(0), &json!(path)), "{report}");
        assert_eq!(alice.peek("p").await["resources"], json!([]));
    }
}

#[tokio::test]
async fn a_file_named_like_an_archive_is_none() {
    let World { alice, .. } = &World::new().await;
    for (bytes, detail) in [(&b""[..], "it is empty"), (b"<!DOCTYPE html><p>404", "HTML page"), (SKILL, "SKILL.md")] {
        let report = alice.send(Method::POST, "/v1/skills/import").files(&[("a.zip", bytes)]).await.ok(200);
        let told = report["items"][0]["detail"].as_str().unwrap();
        assert!(told.contains("is no zip, tar or tar.gz archive") && told.contains(detail), "{told}");
    }
    let answer = alice.send(Method::POST, "/v1/skills/import").files(&[("a.bz2", b"BZh91AY&SY")]).await;
    answer.refused(422, "invalid");
}

#[tokio::test]
async fn an_archive_with_hundreds_of_files_is_imported() {
    let World { alice, .. } = &World::new().await;
    let names: Vec<(String, Vec<u8>)> = (0..500)
        .map(|n| (format!("s{n}/SKILL.md"), format!("---\nname: s{n}\ndescription: d\n---\nbody\n").into_bytes()))
        .collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let report = alice.send(Method::POST, "/v1/skills/import").files(&[("x.zip", &zip(&files))]).await.ok(200);
    assert_eq!((&report["created"], &report["failed"]), (&json!(500), &json!(0)));
}
