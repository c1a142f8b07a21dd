//! History: list, read, compare, roll back.

use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};

async fn three_versions(alice: &Caller) {
    alice.create(skill("p")).await;
    alice.replace("p", "First", "Last").await.ok(200);
    alice
        .send(reqwest::Method::PUT, "/v1/skills/p/resources/references/a.md")
        .body("text/plain", "one\n")
        .await
        .ok(200);
}

#[tokio::test]
async fn every_change_is_a_version_newest_first() {
    let World { alice, .. } = &World::new().await;
    three_versions(alice).await;
    let page = alice.get("/v1/skills/p/versions").await.ok(200);
    assert_eq!(pluck(&page["items"], "version"), ["3", "2", "1"]);
    assert_eq!(pluck(&page["items"], "change"), ["save", "patch", "save"]);
    let expected = ["actor", "change", "created_at", "digest", "session", "tainted", "version"];
    assert_eq!(members(&page["items"][0]), expected);
    let first = alice.get("/v1/skills/p/versions?limit=2").await.ok(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = alice.get(&format!("/v1/skills/p/versions?limit=2&cursor={cursor}")).await.ok(200);
    assert_eq!((pluck(&second["items"], "version"), &second["next_cursor"]), (vec!["1".into()], &Value::Null));
    assert_eq!(alice.peek("p").await["digest"], page["items"][0]["digest"]);
}

#[tokio::test]
async fn a_version_keeps_its_text_and_files() {
    let World { alice, .. } = &World::new().await;
    three_versions(alice).await;
    let old = alice.get("/v1/skills/p/versions/1").await.ok(200);
    assert!(old["skill_md"].as_str().unwrap().contains("First this"));
    assert_eq!((&old["resources"], &old["change"]), (&json!([]), &json!("save")));
    let new = alice.get("/v1/skills/p/versions/3").await.ok(200);
    assert_eq!(new["resources"][0]["path"], "references/a.md");
    for version in ["0", "4", "-1", "2147483647", "-2147483648"] {
        alice.get(&format!("/v1/skills/p/versions/{version}")).await.refused(404, "not-found");
    }
    for version in ["one", "1.0", "99999999999", "", "%00"] {
        let answer = alice.get(&format!("/v1/skills/p/versions/{version}")).await;
        assert!([400, 404].contains(&answer.status), "{answer}");
    }
}

#[tokio::test]
async fn a_diff_shows_document_and_resources() {
    let World { alice, .. } = &World::new().await;
    three_versions(alice).await;
    alice.send(reqwest::Method::PUT, "/v1/skills/p/resources/assets/b.bin").body("a/b", vec![0xff, 0, 1]).await.ok(200);
    let diff = alice.get("/v1/skills/p/diff?from=1&to=4").await;
    assert_eq!((diff.status, diff.header("content-type")), (200, "text/x-diff; charset=utf-8"));
    let text = diff.text();
    for line in ["-First this, then that.", "+Last this, then that.", "+one", "Binary files assets/b.bin"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(alice.get("/v1/skills/p/diff").await.text().contains("assets/b.bin"));
    assert!(alice.get("/v1/skills/p/diff?to=2").await.text().contains("+Last"));
    assert_eq!(alice.get("/v1/skills/p/diff?from=2&to=2").await.text(), "");
    assert!(alice.get("/v1/skills/p/diff?from=2&to=1").await.text().contains("+First"));
    for query in ["from=9", "to=9", "to=0", "from=-2147483648", "to=-2147483648", "from=1&to=2147483647"] {
        alice.get(&format!("/v1/skills/p/diff?{query}")).await.refused(404, "not-found");
    }
    for query in ["from=x", "to=99999999999", "since=1"] {
        alice.get(&format!("/v1/skills/p/diff?{query}")).await.refused(400, "malformed");
    }
}

#[tokio::test]
async fn a_rollback_is_a_new_version() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    three_versions(alice).await;
    let back = |body: Value| alice.post("/v1/skills/p/rollback", body);
    let answer = back(json!({"version": 1})).await;
    let restored = answer.ok(200);
    assert_eq!(answer.header("etag"), "\"4\"");
    assert_eq!((&restored["version"], &restored["resources"]), (&json!(4), &json!([])));
    assert!(restored["content"].as_str().unwrap().contains("First this"));
    assert_eq!(alice.get("/v1/skills/p/versions").await.ok(200)["items"][0]["change"], "rollback");
    let again = back(json!({"version": 1})).await.ok(200);
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(4), &json!(true)));
    assert_eq!(back(json!({"version": 3})).await.ok(200)["resources"][0]["path"], "references/a.md");
    assert_eq!(alice.get("/v1/skills/p/resources/references/a.md").await.text(), "one\n");
    back(json!({"version": 1, "expected_version": 4})).await.refused(409, "version-conflict");
    for version in [0, -1, 99] {
        back(json!({"version": version})).await.refused(404, "not-found");
    }
    back(json!({})).await.refused(422, "invalid");
    bob.post("/v1/skills/p/rollback", json!({"version": 1})).await.refused(404, "not-found");
    read_only.post("/v1/skills/p/rollback", json!({"version": 1})).await.refused(403, "forbidden");
    assert_eq!(alice.peek("p").await["version"], 5);
}

#[tokio::test]
async fn a_diff_can_be_limited_to_one_file() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("p")).await;
    for (path, text) in [("references/a.md", "one\n"), ("references/b.md", "two\n")] {
        let path = format!("/v1/skills/p/resources/{path}");
        alice.send(reqwest::Method::PUT, &path).body("text/plain", text).await.ok(200);
    }
    let diff = async |query: &str| alice.get(&format!("/v1/skills/p/diff?from=1&to=3{query}")).await;
    let whole = diff("").await;
    assert_eq!((whole.header("knowhow-left-out"), whole.text().matches("+++ ").count()), ("0", 2));
    let one = diff("&path=references/b.md").await;
    assert_eq!((one.text().matches("+++ ").count(), one.text().contains("+two")), (1, true), "{one}");
    assert_eq!(diff("&path=SKILL.md").await.text(), "");
    diff("&path=references/c.md").await.refused(404, "not-found");
}

#[tokio::test]
async fn a_diff_shows_changed_modes() {
    let World { alice, .. } = &World::unreviewed().await;
    alice.create(skill("p")).await;
    for executable in [false, true, false] {
        let path = format!("/v1/skills/p/resources/scripts/a.sh?executable={executable}");
        alice.send(reqwest::Method::PUT, &path).body("text/plain", "echo a\n").await.ok(200);
    }
    let diff = async |query: &str| alice.get(&format!("/v1/skills/p/diff?{query}")).await.text();
    assert_eq!(diff("from=2&to=3").await, "File scripts/a.sh is now executable\n");
    assert_eq!(diff("from=3&to=4").await, "File scripts/a.sh is no longer executable\n");
    let created = diff("from=1&to=3").await;
    assert!(
        created.starts_with("File scripts/a.sh is now executable\n---") && created.contains("+echo a"),
        "{created}"
    );
    assert!(!diff("from=1&to=2").await.contains("executable"));
}
