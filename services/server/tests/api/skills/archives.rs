//! Archives that are meant to do harm.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::json;
use tar::{EntryType, Header};

use crate::callers::World;
use crate::exchange::zip;

const SKILL: &[u8] = b"---\nname: p\ndescription: d\n---\nbody\n";

/// A tar of these entries, whose paths go in as they are.
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
    let zeros = vec![0; 19 * 1024 * 1024];
    let names: Vec<String> = (0..501).map(|n| format!("p/references/{n}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let whole = zip(&[("p/SKILL.md", SKILL)]);
    let mut list = vec![
        ("climbs in a tar", tar(&files(&["p/SKILL.md", "p/../../etc/passwd"]))),
        ("climbs in a zip", zip(&[("p/SKILL.md", SKILL), ("../p/x", b"x")])),
        ("absolute in a tar", tar(&files(&["p/SKILL.md", "/etc/passwd"]))),
        ("absolute in a zip", zip(&[("p/SKILL.md", SKILL), ("/etc/passwd", b"x")])),
        ("backslash", tar(&files(&["p/SKILL.md", "p\\..\\x"]))),
        ("drive", tar(&files(&["p/SKILL.md", "C:/x"]))),
        ("control", tar(&files(&["p/SKILL.md", "p/a\u{1b}b"]))),
        ("a link that climbs", tar(&[("p/SKILL.md", EntryType::Regular, SKILL), ("../x", EntryType::Symlink, b"x")])),
        ("a link twice", tar(&[("p/x", EntryType::Regular, SKILL), ("p/x", EntryType::Symlink, b"/etc/passwd")])),
        ("a device", tar(&[("p/SKILL.md", EntryType::Regular, SKILL), ("p/x", EntryType::Char, b"")])),
        ("a pipe", tar(&[("p/SKILL.md", EntryType::Regular, SKILL), ("p/x", EntryType::Fifo, b"")])),
        ("twice", tar(&files(&["p/SKILL.md", "p/a", "p/a"]))),
        ("by case alone", tar(&files(&["p/SKILL.md", "p/a", "p/A"]))),
        ("file and folder", tar(&files(&["p/SKILL.md", "p/a", "p/a/b"]))),
        ("501 files", zip(&many)),
        ("packed too tightly", zip(&[("p/SKILL.md", SKILL), ("p/zeros", &zeros)])),
        ("packed too tightly in a tar", gzip(&tar(&[("p/zeros", EntryType::Regular, &zeros)]))),
        ("in itself", zip(&[("p/SKILL.md", SKILL), ("p/assets/inner.zip", &whole)])),
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
async fn none_is_opened_and_nothing_is_written() {
    let World { alice, .. } = &World::new().await;
    for (what, bytes) in hostile() {
        let answer = alice.send(Method::POST, "/v1/skills/import").files(&[("x", &bytes)]).await;
        if ["in itself", "packed too tightly"].contains(&what) {
            answer.ok(200);
            assert_eq!(answer.json()["failed"], 1, "{what}: {answer}");
            continue;
        }
        assert!([413, 422].contains(&answer.status), "{what}: {answer}");
        answer.refused(answer.status, if answer.status == 413 { "too-large" } else { "invalid" });
    }
    assert!(alice.names().await.is_empty());
}

#[tokio::test]
async fn many_files_are_taken_up_to_the_limit() {
    let World { alice, .. } = &World::new().await;
    let names: Vec<(String, Vec<u8>)> = (0..500)
        .map(|n| (format!("s{n}/SKILL.md"), format!("---\nname: s{n}\ndescription: d\n---\nbody\n").into_bytes()))
        .collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let report = alice.send(Method::POST, "/v1/skills/import").files(&[("x.zip", &zip(&files))]).await.ok(200);
    assert_eq!((&report["created"], &report["failed"]), (&json!(500), &json!(0)));
}
