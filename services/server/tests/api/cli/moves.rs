//! All data of a user moves to another user: `knowhow export --all`, and the export of an admin.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{run, scratch, shared};

const SKILLS: usize = 20;
const MEMORIES: usize = 40;

/// Runs a command as a user, which must succeed, and returns its output.
fn command(who: &Caller, arguments: &[&str]) -> String {
    let token = ["--url", &shared().url, "--token", who.token.as_deref().unwrap()];
    let output = run(&[arguments, &token].concat());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

async fn furnish(who: &Caller) {
    for n in 0..SKILLS {
        let (name, content) = (format!("group-{}/skill-{n}", n % 3), format!("Do {n}.\n"));
        who.create(json!({"name": name, "description": format!("Does {n}."), "content": content})).await;
        let path = format!("/v1/skills/group-{}%2Fskill-{n}/resources/scripts/run.sh?executable=true", n % 3);
        who.send(reqwest::Method::PUT, &path).body("text/plain", format!("echo {n}\n")).await.ok(200);
    }
    for n in 0..MEMORIES {
        let kind = ["semantic", "episodic"][n % 2];
        let memory = json!({
            "content": format!("Fact number {n}"), "kind": kind, "importance": 0.25,
            "tags": [format!("tag-{n}")], "core": n < 3, "created_at": format!("2025-01-{:02}T10:00:00Z", n % 28 + 1),
        });
        who.post("/v1/memories", memory).await.ok(201);
    }
    who.put("/v1/soul", json!({"text": "Be brief."})).await.ok(200);
}

/// Returns the memories by content, without the fields that differ by service: the id and the time of storing.
async fn memories(who: &Caller) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = who.get(&format!("/v1/memories?limit=200{cursor}")).await.ok(200);
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    for item in items.iter_mut().map(|item| item.as_object_mut().unwrap()) {
        item.remove("id").unwrap();
        item.remove("updated_at").unwrap();
    }
    items.sort_by_key(|item| item["content"].as_str().unwrap().to_owned());
    items
}

async fn digests(who: &Caller) -> Value {
    let page = who.get("/v1/skills/export/digests").await.ok(200);
    json!(pluck(&page["items"], "name").into_iter().zip(pluck(&page["items"], "digest")).collect::<Vec<_>>())
}

async fn check_equal(from: &Caller, to: &Caller) {
    assert_eq!(digests(to).await, digests(from).await);
    let (wanted, came) = (memories(from).await, memories(to).await);
    assert_eq!((came.len(), &came), (MEMORIES, &wanted));
    assert_eq!(to.get("/v1/soul").await.ok(200)["text"], "Be brief.");
}

#[tokio::test]
async fn import_of_an_export_restores_all_data_with_dates() {
    let World { alice, bob, .. } = &World::unreviewed().await;
    furnish(alice).await;
    let file = scratch("all.zip");
    let file = file.to_str().unwrap();
    command(alice, &["export", "--all", "-o", file]);
    let report: Value = serde_json::from_str(&command(bob, &["import", file, "--json"])).unwrap();
    assert_eq!((&report["kind"], &report["left_out"]), (&json!("knowhow"), &json!([])), "{report}");
    check_equal(alice, bob).await;
    // A second import changes nothing.
    let again = command(bob, &["import", file]);
    assert!(again.contains(&format!("0 created, 0 updated, {SKILLS} unchanged")), "{again}");
    assert_eq!(memories(bob).await.len(), MEMORIES);
}

#[tokio::test]
async fn an_admins_export_of_a_user_is_restored_and_the_rest_is_listed() {
    let World { alice, bob, admin, .. } = &World::unreviewed().await;
    furnish(alice).await;
    let file = scratch("alice.zip");
    std::fs::write(&file, admin.get("/v1/admin/users/alice/export").await.body).unwrap();
    let report: Value = serde_json::from_str(&command(bob, &["import", file.to_str().unwrap(), "--json"])).unwrap();
    check_equal(alice, bob).await;
    let left_out = pluck(&report["left_out"], "path");
    for table in ["skill_versions", "audit_log"] {
        assert!(left_out.iter().any(|path| path.ends_with(&format!("data/{table}-0001.jsonl"))), "{left_out:?}");
    }
    assert!(!left_out.iter().any(|path| path.contains("memories-") || path.contains("souls-")), "{left_out:?}");
}

#[tokio::test]
async fn tool_folders_of_a_skill_are_reported() {
    let World { alice, .. } = &World::new().await;
    let home = scratch("d");
    let text = "---\nname: p\ndescription: Does p. Use when asked.\n---\nb\n";
    for (path, text) in [("p/SKILL.md", text), ("p/.git/HEAD", "x"), ("p/scripts/node_modules/a.js", "x")] {
        std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        std::fs::write(home.join(path), text).unwrap();
    }
    let told = command(alice, &["import", home.to_str().unwrap()]);
    assert!(told.contains("p/.git: is made by a tool"), "{told}");
    assert!(told.contains("p/scripts/node_modules: is made by a tool"), "{told}");
}
