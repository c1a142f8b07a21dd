//! Imports of the home folders of other agents with the command line.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{run, scratch, shared};

fn home(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let home = scratch("home").join(name);
    for (path, text) in files {
        let file = home.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    home
}

fn document(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nbody\n")
}

/// Runs an import, and returns its JSON output and whether it succeeded.
fn import(caller: &Caller, source: &Path, options: &[&str]) -> (Value, bool) {
    let arguments = ["import", source.to_str().unwrap(), "--json", "--url", &shared().url, "--token"];
    let output = run(&[&arguments[..], &[caller.token.as_deref().unwrap()], options].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}")), output.status.success())
}

async fn contents(caller: &Caller) -> Vec<String> {
    let mut contents = pluck(&caller.get("/v1/memories").await.ok(200)["items"], "content");
    contents.sort();
    contents
}

#[tokio::test]
async fn skills_memories_and_the_soul_are_imported_from_hermes() {
    let World { alice, .. } = &World::new().await;
    let hermes = "metadata:\n  hermes:\n    tags: [ops, release]\n    related_skills: [rollback]\n";
    let source = home(
        ".hermes",
        &[
            ("skills/devops/DESCRIPTION.md", "---\ndescription: Ships.\n---\n"),
            ("skills/devops/deploy/SKILL.md", &document("deploy", hermes)),
            ("skills/.archive/gone/SKILL.md", &document("gone", "")),
            ("memories/MEMORY.md", "Deploys on Fridays\n\u{a7}\nUses two clusters,\none in Munich"),
            ("memories/USER.md", "Called Sam"),
            ("SOUL.md", "Be brief.\n"),
        ],
    );
    let (report, is_complete) = import(alice, &source, &[]);
    assert!(is_complete, "{report}");
    assert_eq!((&report["kind"], &report["totals"]["created"]), (&json!("hermes"), &json!(1)));
    let deploy = alice.peek("devops/deploy").await;
    assert_eq!((&deploy["tags"], &deploy["see_also"]), (&json!(["ops", "release"]), &json!(["rollback"])));
    assert_eq!(contents(alice).await, ["Called Sam", "Deploys on Fridays", "Uses two clusters,\none in Munich"]);
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "Be brief.");
    let snapshot = alice.get("/v1/snapshot").await.text();
    assert!(snapshot.contains("Called Sam"), "what was in every prompt stays there: {snapshot}");
    let left = pluck(&report["left_out"], "path");
    assert!(left.iter().any(|path| path.ends_with("skills/.archive")), "{left:?}");
    assert!(left.iter().any(|path| path.ends_with("devops/DESCRIPTION.md")), "{left:?}");
    let (again, is_complete) = import(alice, &source, &[]);
    assert!(is_complete && again["totals"]["unchanged"] == 1, "{again}");
    assert_eq!(pluck(&again["memories"], "outcome"), ["unchanged"; 3]);
    assert_eq!(contents(alice).await.len(), 3);
    let hidden = alice.put("/v1/skills/devops%2Fdeploy/fields", json!({"tags": []})).await.ok(200);
    assert_eq!(hidden["tags"], json!([]), "what Hermes has can be taken away");
}

#[tokio::test]
async fn a_soul_is_replaced_only_with_replace_soul() {
    let World { alice, .. } = &World::new().await;
    alice.put("/v1/soul", json!({"text": "Be mine."})).await.ok(200);
    let source = home(".hermes", &[("SOUL.md", "Be theirs."), ("memories/USER.md", "x")]);
    let (report, is_complete) = import(alice, &source, &[]);
    assert!(is_complete && report["soul"]["reason"].as_str().unwrap().contains("--replace-soul"), "{report}");
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "Be mine.");
    let (report, _) = import(alice, &source, &["--replace-soul"]);
    assert_eq!(report["soul"]["outcome"], "updated");
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "Be theirs.");
    let long = home(".hermes", &[("SOUL.md", &"x".repeat(9000)), ("memories/USER.md", &"y".repeat(9000))]);
    let (report, is_complete) = import(alice, &long, &["--replace-soul"]);
    assert!(!is_complete && report["soul"]["outcome"] == "refused", "{report}");
    assert_eq!(report["memories"][0]["outcome"], "refused");
}

#[tokio::test]
async fn commands_and_linked_skills_are_imported_from_claude_code() {
    let World { alice, .. } = &World::new().await;
    let checkout = home(
        "checkout",
        &[
            ("skills/linked/SKILL.md", &document("linked", "disable-model-invocation: true\n")),
            ("skills/linked/references/a.md", "a"),
            ("secret.md", "s"),
        ],
    );
    let source = home(
        ".claude",
        &[
            ("skills/own/SKILL.md", &document("own", "")),
            ("commands/git/review.md", "---\ndescription: Reviews\nargument-hint: [number] [more]\n---\nReview $1.\n"),
            ("commands/ship.md", "# Ship it\n\nNow.\n"),
            ("agents/helper.md", "x"),
        ],
    );
    let link = |target: &Path, path: &str| std::os::unix::fs::symlink(target, source.join(path)).unwrap();
    link(&checkout.join("skills/linked"), "skills/linked");
    link(&source.join("skills"), "skills/again");
    link(&checkout.join("secret.md"), "skills/own/secret.md");
    link(&checkout, "elsewhere");
    link(Path::new("/no/such/place"), "skills/broken");
    let (report, is_complete) = import(alice, &source, &[]);
    assert!(is_complete, "{report}");
    assert_eq!(report["kind"], "claude-code");
    assert_eq!(alice.names().await, ["git/review", "linked", "own", "ship"]);
    let review = alice.peek("git/review").await;
    assert_eq!((&review["description"], &review["content"]), (&json!("Reviews"), &json!("Review $1.\n")));
    assert_eq!(alice.peek("ship").await["description"], "Ship it");
    assert_eq!(pluck(&alice.peek("linked").await["resources"], "path"), ["references/a.md"]);
    assert_eq!(alice.peek("own").await["resources"], json!([]), "a link out of the folder is not followed");
    let left = pluck(&report["left_out"], "path");
    for path in ["agents", "elsewhere", "skills/again", "skills/broken", "skills/own/secret.md"] {
        assert!(left.contains(&source.join(path).display().to_string()), "{path}: {left:?}");
    }
}

#[tokio::test]
async fn json_skills_with_files_are_imported_from_rockbot() {
    let World { alice, .. } = &World::new().await;
    let email =
        r##"{"name": "mcp/email", "summary": "Send email", "content": "# Email\n\n1. Write.\n", "seeAlso": ["x"]}"##;
    let source = home(
        "rockbot",
        &[
            ("skills/mcp/email.json", email),
            ("skills/mcp/email.resources/form.md", "form"),
            ("memory/user/1.json", r#"{"id": "1", "content": "Likes tea", "category": "user", "tags": []}"#),
            ("soul.md", "Be Rocky."),
        ],
    );
    let (report, is_complete) = import(alice, &source, &["--from", "rockbot"]);
    assert!(is_complete, "{report}");
    let email = alice.peek("mcp/email").await;
    assert_eq!((&email["description"], &email["see_also"]), (&json!("Send email"), &json!(["x"])));
    assert_eq!(alice.get("/v1/skills/mcp%2Femail/resources/resources/form.md").await.text(), "form");
    assert_eq!(contents(alice).await, ["Likes tea"]);
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "Be Rocky.");
    let (again, _) = import(alice, &source, &[]);
    assert_eq!((&again["kind"], &again["totals"]["unchanged"]), (&json!("rockbot"), &json!(1)));
}

#[tokio::test]
async fn json_frontmatter_is_read_and_fix_adds_a_missing_name() {
    let World { alice, .. } = &World::new().await;
    let json = "---\n{\n\t\"name\": \"weather\",\n\t\"description\": \"Tells the weather\",\n\t\"metadata\": {\"tags\": [\"sky\"]}\n}\n---\nLook up.\n";
    let source = home(
        "ws",
        &[
            ("skills/weather/SKILL.md", json),
            ("skills/unnamed/SKILL.md", "---\ndescription: Has no name\n---\nb\n"),
            ("AGENTS.md", "x"),
            ("SOUL.md", "Be open."),
            ("MEMORY.md", "- Likes tea\n- Has a cat\n"),
        ],
    );
    let (report, is_complete) = import(alice, &source, &[]);
    assert!(!is_complete && report["kind"] == "openclaw", "{report}");
    assert_eq!(alice.peek("weather").await["tags"], json!(["sky"]));
    assert_eq!(contents(alice).await, ["Has a cat", "Likes tea"]);
    let (report, is_complete) = import(alice, &source, &["--fix"]);
    assert!(is_complete, "{report}");
    assert_eq!(alice.names().await, ["unnamed", "weather"]);
}
