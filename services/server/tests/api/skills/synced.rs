//! The service's part of sync: imports with base versions, and lists of digests.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::exchange::zip;

const SYNC: &str = "/v1/skills/import?source=sync";

fn document(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n")
}

/// Imports skills with the versions that they are based on.
async fn import(caller: &Caller, path: &str, texts: &[(&str, &str)], expected: Value) -> Value {
    let files: Vec<(String, String)> =
        texts.iter().map(|(name, body)| (format!("{name}/SKILL.md"), document(name, body))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let form =
        Form::new().part("file", Part::bytes(zip(&files)).file_name("x.zip")).text("expected", expected.to_string());
    caller.send(Method::POST, path).form(form).await.ok(200)
}

#[tokio::test]
async fn synced_skills_have_their_own_source_and_change_kind() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("mine")).await;
    let report = import(alice, SYNC, &[("mine", "x"), ("new", "x"), ("two", "x")], json!({})).await;
    assert_eq!((&report["created"], &report["failed"]), (&json!(2), &json!(1)));
    let refused = &report["items"][0];
    assert_eq!((&refused["outcome"], &refused["code"]), (&json!("failed"), &json!("not-synced")));
    assert!(refused["detail"].as_str().unwrap().contains("its source is 'user'"), "{refused}");
    assert_eq!((&alice.peek("mine").await["version"], &alice.peek("new").await["source"]), (&json!(1), &json!("sync")));
    import(alice, SYNC, &[("new", "y")], json!({})).await;
    let versions = alice.get("/v1/skills/new/versions").await.ok(200);
    assert_eq!(pluck(&versions["items"], "change"), ["sync", "sync"]);
    // An import without `source=sync` also updates synced skills, which keep their source.
    let report = import(alice, "/v1/skills/import", &[("new", "z"), ("mine", "z")], json!({})).await;
    assert_eq!(report["updated"], 2);
    assert_eq!(alice.peek("new").await["source"], "sync");
    alice.send(Method::POST, "/v1/skills/import?source=agent").files(&[]).await.refused(400, "malformed");
}

#[tokio::test]
async fn an_outdated_base_version_refuses_only_its_own_skill() {
    let World { alice, .. } = &World::new().await;
    import(alice, SYNC, &[("a", "1"), ("b", "1")], json!({"a": 0, "b": 0})).await;
    let report = import(alice, SYNC, &[("a", "2"), ("b", "2"), ("c", "2")], json!({"a": 1, "b": 0, "c": 3})).await;
    assert_eq!(pluck(&report["items"], "outcome"), ["updated", "failed", "failed"], "{report}");
    assert_eq!(pluck(&report["items"], "code")[1..], ["version-conflict", "version-conflict"]);
    assert!(report["items"][1]["detail"].as_str().unwrap().contains("current version is 1"), "{report}");
    let report = import(alice, "/v1/skills/import", &[("b", "3")], json!({"b": 7, "elsewhere": 1})).await;
    assert_eq!(report["items"][0]["code"], "version-conflict", "an import may say so too");
    let form = Form::new().part("file", Part::bytes(zip(&[])).file_name("x.zip")).text("expected", "[1]");
    alice.send(Method::POST, SYNC).form(form).await.invalid("/expected", "versions by name");
    // A file in the form field `expected` is treated as a file.
    let form = Form::new().part("expected", Part::bytes(document("d", "x").into_bytes()).file_name("SKILL.md"));
    assert_eq!(alice.send(Method::POST, SYNC).form(form).await.ok(200)["created"], 1);
}

#[tokio::test]
async fn digests_are_listed_by_name_in_pages() {
    let World { alice, bob, slug, .. } = &World::new().await;
    alice.create_all(&["a", "c"]).await;
    import(alice, SYNC, &[("b", "1"), ("d", "1")], json!({})).await;
    let all = alice.get("/v1/skills/export/digests").await.ok(200);
    assert_eq!(pluck(&all["items"], "name"), ["a", "b", "c", "d"]);
    assert_eq!((&all["tenant"], &all["user"], &all["next_cursor"]), (&json!(slug), &json!("alice"), &Value::Null));
    let synced = alice.get("/v1/skills/export/digests?source=sync").await.ok(200);
    assert_eq!(pluck(&synced["items"], "name"), ["b", "d"]);
    let b = alice.peek("b").await;
    for member in ["id", "version", "digest", "source", "tainted"] {
        assert_eq!(synced["items"][0][member], b[member], "{member}");
    }
    let page = alice.get("/v1/skills/export/digests?source=sync&limit=1").await.ok(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = alice.get(&format!("/v1/skills/export/digests?source=sync&limit=1&cursor={cursor}")).await.ok(200);
    assert_eq!((pluck(&rest["items"], "name"), &rest["next_cursor"]), (vec!["d".to_owned()], &Value::Null));
    assert_eq!(bob.get("/v1/skills/export/digests").await.ok(200)["items"], json!([]));
    alice.get("/v1/skills/export/digests?limit=2001").await.refused(400, "malformed");
    alice.get("/v1/skills/export/digests?source=elsewhere").await.refused(400, "malformed");
}
