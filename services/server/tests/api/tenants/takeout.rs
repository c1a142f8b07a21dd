//! Export of all data of a user, in one archive.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{World, skill};
use crate::http::stranger_walk::furnish;
use crate::service::{knowhow, scratch, shared};
use crate::talk::Talk;

/// Returns the files of a zip archive by path.
fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for n in 0..archive.len() {
        let mut file = archive.by_index(n).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        let path = file.name().unwrap().into_owned();
        files.insert(path, content);
    }
    files
}

#[tokio::test]
async fn a_users_export_has_all_data_and_its_skills_can_be_imported() {
    let world = World::new().await;
    let World { alice, bob, admin, .. } = &world;
    furnish(&world).await;
    bob.create_all(&["secret-of-bob"]).await;
    let answer = admin.get("/v1/admin/users/alice/export").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/zip"));
    let bytes = admin.get("/v1/admin/users/alice/export").header("Accept", "application/octet-stream").await;
    assert_eq!(bytes.header("content-type"), "application/octet-stream", "for clients that are generated");
    let files = unzip(&answer.body);
    let skill_md = alice.get("/v1/skills/mcp%2Fplan/SKILL.md").await.body;
    assert_eq!(files["skills/mcp/plan/SKILL.md"], skill_md);
    assert_eq!(files["skills/mcp/plan/references/a.md"], b"alpha");
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].clone();
    let mut tables = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("data/")) {
        for line in std::str::from_utf8(bytes).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["user_id"], user, "{path}");
        }
        tables.push(path.trim_start_matches("data/").trim_end_matches("-0001.jsonl"));
    }
    for table in [
        "audit_log",
        "memories",
        "messages",
        "sessions",
        "skill_versions",
        "souls",
        "users",
        "archived_skills",
        "turns",
    ] {
        assert!(tables.contains(&table), "{table} of {tables:?}");
    }
    let all = String::from_utf8_lossy(&files.values().flatten().copied().collect::<Vec<u8>>()).into_owned();
    for words in ["night trains", "tidy up the attic", "Call me Al"] {
        assert!(all.contains(words), "{words}");
    }
    assert!(!all.contains("secret-of-bob"));
    let log = admin.get("/v1/admin/audit?user=alice").await.ok(200);
    assert_eq!(log["items"][0]["action"], "user.export");

    // The command line exports the archive and imports it for another user.
    let file = scratch("alice.zip");
    let (url, token) = (shared().url.clone(), admin.token.clone().unwrap());
    let mut export = knowhow(&["admin", "--url", &url, "--token", &token, "export-user", "alice", "-o"]);
    let done = export.arg(&file).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut import = knowhow(&["import", "--url", &url, "--token", bob.token.as_deref().unwrap()]);
    let done = import.arg(&file).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(bob.get("/v1/skills/mcp%2Fplan/SKILL.md").await.body, skill_md);
    let digest = |skill: Value| skill["digest"].clone();
    assert_eq!(digest(bob.peek("mcp/plan").await), digest(alice.peek("mcp/plan").await));
}

#[tokio::test]
async fn tainted_skills_of_an_export_are_imported_as_tainted() {
    let World { alice, bob, admin, .. } = &World::unreviewed().await;
    let talk = Talk::tainted(alice).await;
    let saved = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(&skill("mail"));
    saved.await.ok(201);
    alice.create(skill("plan")).await;
    let archive = admin.get("/v1/admin/users/alice/export").await.body;
    let report = bob.send(Method::POST, "/v1/skills/import").files(&[("alice.zip", &archive)]).await.ok(200);
    assert_eq!((&report["created"], &report["failed"]), (&json!(2), &json!(0)), "{report}");
    for (name, tainted) in [("mail", true), ("plan", false)] {
        let newest = bob.get(&format!("/v1/skills/{name}/versions")).await.ok(200)["items"][0].clone();
        assert_eq!(newest["tainted"], tainted, "{newest}");
    }
}
