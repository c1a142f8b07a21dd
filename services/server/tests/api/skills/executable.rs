//! The executable bit of files is kept by archives, REST, MCP and versions.

use std::io::{Cursor, Read, Write};

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::callers::{Caller, World, skill};

const RUN: &str = "/v1/skills/ship/resources/scripts/run.sh";

/// Returns a zip of the skill `ship` with one executable and one plain script.
fn packed() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, mode, text) in [
        ("ship/SKILL.md", 0o644, "---\nname: ship\ndescription: Ships. Use when asked.\n---\n\nRun it.\n"),
        ("ship/scripts/lib.sh", 0o644, "true\n"),
        ("ship/scripts/run.sh", 0o755, "#!/bin/sh\ntrue\n"),
    ] {
        archive.start_file(path, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns the modes of the files in an export, by path.
async fn modes(who: &Caller, format: &str) -> Vec<(String, u32)> {
    let body = who.get(&format!("/v1/skills/export?format={format}")).await.body;
    let mut modes = Vec::new();
    if format == "zip" {
        let mut archive = zip::ZipArchive::new(Cursor::new(body)).unwrap();
        for index in 0..archive.len() {
            let file = archive.by_index(index).unwrap();
            modes.push((file.name().unwrap().into_owned(), file.unix_mode().unwrap() & 0o777));
        }
        return modes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&body[..]).read_to_end(&mut plain).unwrap();
    for entry in tar::Archive::new(&plain[..]).entries().unwrap() {
        let entry = entry.unwrap();
        modes.push((entry.path().unwrap().display().to_string(), entry.header().mode().unwrap() & 0o777));
    }
    modes
}

async fn import(who: &Caller, archive: &[u8]) -> Value {
    let upload = who.send(reqwest::Method::POST, "/v1/skills/import").files(&[("a.zip", archive)]);
    upload.await.ok(200)
}

fn executable_files(skill: &Value) -> Vec<&str> {
    let files = skill["resources"].as_array().unwrap().iter();
    files.filter(|file| file["executable"] == true).map(|file| file["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_archive_keeps_the_executable_bit() {
    let World { alice, bob, .. } = &World::unreviewed().await;
    assert_eq!(import(alice, &packed()).await["failed"], 0);
    let ship = alice.peek("ship").await;
    assert_eq!(executable_files(&ship), ["scripts/run.sh"]);
    assert_eq!(ship["resources"][0].get("executable"), None);
    let expected = [("ship/SKILL.md", 0o644), ("ship/scripts/lib.sh", 0o644), ("ship/scripts/run.sh", 0o755)];
    let expected = expected.map(|(path, mode)| (path.to_owned(), mode));
    for format in ["zip", "tar.gz"] {
        assert_eq!(modes(alice, format).await, expected, "{format}");
        let exported = alice.get(&format!("/v1/skills/export?format={format}")).await.body;
        import(bob, &exported).await;
        assert_eq!(bob.peek("ship").await["digest"], ship["digest"], "{format}");
    }
    let told = alice.tool("skill_view", json!({"name": "ship"})).await;
    assert!(told.to_string().contains("scripts/run.sh (executable)"), "{told}");
}

#[tokio::test]
async fn the_executable_bit_is_part_of_a_version() {
    let World { alice, .. } = &World::unreviewed().await;
    alice.create(skill("ship")).await;
    let put = |query: &str, text: &str| {
        let put = alice.send(reqwest::Method::PUT, &format!("{RUN}{query}"));
        put.body("text/plain", text.to_owned())
    };
    let plain = put("", "one\n").await.ok(200);
    assert_eq!((&plain["version"], executable_files(&plain).len()), (&json!(2), 0));
    let set = put("?executable=true", "one\n").await.ok(200);
    assert_eq!((&set["version"], executable_files(&set)), (&json!(3), vec!["scripts/run.sh"]));
    assert_ne!(plain["digest"], set["digest"]);
    // New bytes and patches keep the bit.
    assert_eq!(executable_files(&put("", "two\n").await.ok(200)), ["scripts/run.sh"]);
    let edits = json!([{"old_string": "two", "new_string": "three", "path": "scripts/run.sh"}]);
    alice.patch("/v1/skills/ship", json!({"edits": edits})).await.ok(200);
    assert_eq!(executable_files(&alice.peek("ship").await), ["scripts/run.sh"]);
    let unset = put("?executable=false", "three\n").await.ok(200);
    assert_eq!(executable_files(&unset).len(), 0);
    alice.post("/v1/skills/ship/rollback", json!({"version": 3})).await.ok(200);
    assert_eq!(alice.peek("ship").await["digest"], set["digest"]);
}
