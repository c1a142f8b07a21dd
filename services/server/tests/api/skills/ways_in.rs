//! Every way in has the same rules for files: what one accepts, the others do.

use reqwest::Method;
use serde_json::Value;
use tar::Header;

use crate::callers::{Caller, World};
use crate::exchange::zip;
use crate::service::{run, scratch, shared};

/// The outcome for a skill with an odd file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The skill has the file, under this path or under that of the case.
    Taken,
    /// The file is left out, but the skill exists if it is imported together with the file.
    LeftOut,
    /// The skill is refused.
    Refused,
}
use Outcome::{LeftOut, Refused, Taken};

/// Paths and bytes of odd files, and their outcome in an import. `PUT` refuses those that an import leaves out.
const CASES: [(&str, &[u8], Outcome); 56] = [
    ("references/a.md", b"a", Taken),
    ("LICENSE", b"a", Taken),
    ("examples/deep/er/a.md", b"a", Taken),
    ("References/a.md", b"a", Taken),
    ("skills/a.md", b"a", Taken),
    ("assets/letter.docx", b"PK\x03\x04 letter", Taken),
    ("assets/data.tar.gz", b"\x1f\x8b\x08 data", Taken),
    ("assets/data.7z", b"7z\xbc\xaf\x27\x1c", Taken),
    ("assets/data.zst", b"\x28\xb5\x2f\xfd\0", Taken),
    ("assets/data.bz2", b"BZh91AY&SY", Taken),
    ("assets/data.rar", b"Rar!\x1a\x07\0", Taken),
    ("assets/app.whl", b"PK\x05\x06 app", Taken),
    ("empty.txt", b"", Taken),
    ("not-text.md", b"\xff\xfe\0", Taken),
    ("a b/c d.md", b"a", Taken),
    ("100%.md", b"a", Taken),
    ("a#b&c+d=e.md", b"a", Taken),
    ("a'b(c)[d]{e}.md", b"a", Taken),
    ("-rf.md", b"a", Taken),
    ("a..b", b"a", Taken),
    ("Заметка.md", b"a", Taken),
    ("ノート.md", b"a", Taken),
    ("می\u{200c}خواهم.md", b"a", Taken),
    ("क्\u{200d}ष.md", b"a", Taken),
    ("❤\u{fe0f}.md", b"a", Taken),
    ("caf\u{e9}.md", b"a", Taken),
    ("cafe\u{301}.md", b"a", Taken),
    ("knowhow-examples.jsonl", b"no JSON", Taken),
    ("knowhow-provenance.json", b"no JSON", Taken),
    ("console.md", b"a", Taken),
    (".hidden", b"a", LeftOut),
    (".git/config", b"a", LeftOut),
    ("references/.env", b"a", LeftOut),
    ("references/SKILL.md", b"a", LeftOut),
    ("SKILL.md/a", b"a", Refused),
    ("references/skill.md/a", b"a", Refused),
    ("con.md", b"a", Refused),
    ("a/NUL", b"a", Refused),
    ("lpt1.txt", b"a", Refused),
    ("git~1/config", b"a", Refused),
    ("a.", b"a", Refused),
    ("a./b", b"a", Refused),
    ("a /b", b"a", Refused),
    (" a", b"a", Refused),
    ("a:b", b"a", Refused),
    ("a?b", b"a", Refused),
    ("a*b", b"a", Refused),
    ("a<b>", b"a", Refused),
    ("a|b", b"a", Refused),
    ("a\"b", b"a", Refused),
    ("a\u{200b}b", b"a", Refused),
    ("a\u{202e}b", b"a", Refused),
    ("a\u{2024}\u{2024}b", b"a", Refused),
    ("a\nb", b"a", Refused),
    ("a\u{1b}b", b"a", Refused),
    ("a\u{fffd}b", b"a", Refused),
];

const WAYS: [&str; 5] = ["put", "zip", "tar", "sync", "folder"];

fn name(way: &str, case: usize) -> String {
    format!("{way}-{case}")
}

fn document(name: &str) -> Vec<u8> {
    format!("---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\n\nDo it.\n").into_bytes()
}

/// Returns the files of all cases for one way in.
fn files(way: &str) -> Vec<(String, Vec<u8>)> {
    let cases = CASES.iter().enumerate().map(|(case, (path, bytes, _))| (name(way, case), *path, *bytes));
    cases
        .flat_map(|(name, path, bytes)| {
            [(format!("{name}/SKILL.md"), document(&name)), (format!("{name}/{path}"), bytes.to_vec())]
        })
        .collect()
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, content) in files {
        let mut header = Header::new_ustar();
        header.as_ustar_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

async fn import(who: &Caller, query: &str, archive: &[u8]) {
    let upload = who.send(Method::POST, &format!("/v1/skills/import{query}")).files(&[("a", archive)]);
    upload.await.ok(200);
}

/// Sends all cases through one way in.
async fn send_all(who: &Caller, way: &str) {
    let all = files(way);
    let given: Vec<(&str, &[u8])> = all.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    match way {
        "put" => {
            for (case, (path, bytes, _)) in CASES.iter().enumerate() {
                let name = name(way, case);
                let upload = who.send(Method::POST, "/v1/skills/import");
                upload.files(&[("a.zip", &zip(&[(&format!("{name}/SKILL.md"), &document(&name))]))]).await.ok(200);
                let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
                let put = who.send(Method::PUT, &format!("/v1/skills/{name}/resources/{encoded}"));
                put.body("application/octet-stream", bytes.to_vec()).await;
            }
        }
        "zip" => import(who, "", &zip(&given)).await,
        "tar" => import(who, "", &tar(&all)).await,
        "sync" => import(who, "?source=sync", &zip(&given)).await,
        _ => {
            let folder = scratch("ways");
            for (path, bytes) in &all {
                let file = folder.join(path);
                // A file system has no folder in the place of the file SKILL.md.
                if std::fs::create_dir_all(file.parent().unwrap()).is_ok() {
                    std::fs::write(file, bytes).unwrap();
                }
            }
            let token = ["--url", &shared().url, "--token", who.token.as_deref().unwrap()];
            run(&[&["import", folder.to_str().unwrap()][..], &token].concat());
        }
    }
}

/// Returns what happened to a case.
fn outcome(skills: &[Value], way: &str, case: usize) -> Outcome {
    let Some(skill) = skills.iter().find(|skill| skill["name"] == name(way, case)) else { return Refused };
    let has_file = skill["resources"].as_array().unwrap().iter().any(|file| file["path"] == CASES[case].0);
    if has_file { Taken } else { LeftOut }
}

fn expected(way: &str, case: usize) -> Outcome {
    match (way, CASES[case]) {
        // The skill is there before its file.
        ("put", (_, _, Refused)) => LeftOut,
        ("folder", ("SKILL.md/a", ..)) => LeftOut,
        (_, (_, _, outcome)) => outcome,
    }
}

async fn all_skills(who: &Caller) -> Vec<Value> {
    let mut skills = Vec::new();
    for name in who.names().await {
        skills.push(who.peek(&name).await);
    }
    skills
}

#[tokio::test]
async fn every_way_in_has_the_same_rules() {
    let World { alice, bob, .. } = &World::unreviewed().await;
    for way in WAYS {
        send_all(alice, way).await;
    }
    let skills = all_skills(alice).await;
    let mut differ = Vec::new();
    for (case, (path, ..)) in CASES.iter().enumerate() {
        let row: Vec<Outcome> = WAYS.iter().map(|way| outcome(&skills, way, case)).collect();
        let wanted: Vec<Outcome> = WAYS.iter().map(|way| expected(way, case)).collect();
        println!("{:<30} {row:?}", path.escape_debug());
        if row != wanted {
            differ.push(format!("{path:?}: {row:?}, not {wanted:?}"));
        }
    }
    assert!(differ.is_empty(), "{WAYS:?}\n{}", differ.join("\n"));
    // An exported archive can be imported again.
    let exported = alice.get("/v1/skills/export").await.body;
    import(bob, "", &exported).await;
    for skill in skills {
        assert_eq!(bob.peek(skill["name"].as_str().unwrap()).await["digest"], skill["digest"], "{}", skill["name"]);
    }
    assert_eq!(bob.get("/v1/skills/export").await.body, exported);
}

#[tokio::test]
async fn names_that_a_file_system_cannot_keep_apart_are_refused_everywhere() {
    let World { alice, .. } = &World::unreviewed().await;
    let pairs = [("a.md", "A.md"), ("b/x.md", "B/y.md"), ("caf\u{e9}.md", "cafe\u{301}.md"), ("c", "c/d")];
    let good = document("good");
    for (case, (one, other)) in pairs.into_iter().enumerate() {
        for way in ["zip", "tar"] {
            let name = name(way, case);
            let files = [("SKILL.md", document(&name)), (one, b"1".to_vec()), (other, b"2".to_vec())];
            let mut files = files.map(|(path, bytes)| (format!("{name}/{path}"), bytes)).to_vec();
            files.push(("good/SKILL.md".to_owned(), good.clone()));
            let given: Vec<(&str, &[u8])> =
                files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
            let archive = if way == "zip" { zip(&given) } else { tar(&files) };
            let report = alice.send(Method::POST, "/v1/skills/import").files(&[("a", &archive)]).await.ok(200);
            assert_eq!(report["failed"], 1, "{one} {other}: {report}");
        }
        alice.create_all(&[&format!("put-{case}")]).await;
        let put = |path: &str| {
            let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let put = alice.send(Method::PUT, &format!("/v1/skills/put-{case}/resources/{encoded}"));
            put.body("text/plain", "x")
        };
        put(one).await.ok(200);
        put(other).await.refused(422, "invalid");
    }
    let names = alice.names().await;
    assert!(names.contains(&"good".to_owned()) && !names.iter().any(|name| name.starts_with("zip")), "{names:?}");
}
