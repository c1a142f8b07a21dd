//! A skill with a secret waits for a person, whichever interface writes it. No answer and no log repeats the secret.

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::exchange::zip;
use crate::reviewing::{WHY, saying};

/// The secret part of the address.
const PASSWORD: &str = "Zk29xQ7vLm4t";

fn address() -> String {
    format!("postgres://app:{PASSWORD}@db.acme.io:5432/shop")
}

/// Asserts that a submission waits because of a secret and does not repeat it.
fn check_waits(what: &str, submission: &Value) {
    assert_eq!(submission["state"], "needs_review", "{what}: {submission}");
    let reasons = submission["checks"].to_string();
    assert!(reasons.contains("secret: ") && !submission.to_string().contains(PASSWORD), "{what}: {submission}");
}

async fn get(who: &Caller, id: &Value) -> Value {
    who.get(&format!("/v1/submissions/{}", id.as_str().unwrap())).await.ok(200)
}

#[tokio::test]
async fn a_secret_waits_for_review_through_every_interface() {
    let World { alice, admin, .. } = &World::new().await;
    let address = address();
    alice.create(skill("mail")).await;
    let created = alice.post("/v1/skills", saying("created", &address)).await.ok(202);
    let mut described = skill("described");
    described["metadata"] = json!({"url": address});
    let described = alice.post("/v1/skills", described).await.ok(202);
    let edits = json!({"edits": [{"old_string": "First this", "new_string": address}]});
    let patched = alice.patch("/v1/skills/mail", edits).await.ok(202);
    let put = |path: &str| alice.send(Method::PUT, &format!("/v1/skills/mail/{path}"));
    let fields = put("fields").json(&json!({"metadata": {"url": address}})).await.ok(202);
    let file = put("resources/references/a.env").body("text/plain", format!("DATABASE_URL={address}")).await.ok(202);
    let ways = [("create", created), ("metadata", described), ("patch", patched), ("fields", fields), ("file", file)];
    ways.iter().for_each(|(way, submission)| check_waits(way, submission));
    let tool = alice.does("skill_save", saying("tool", &address)).await;
    check_waits("MCP", &get(alice, &tool["submission"]).await);
    let asked = json!({"name": "asked", "description": "Plans. Use to plan.", "content": address, "reason": "please"});
    check_waits("MCP submit", &get(alice, &alice.does("skill_submit", asked).await["submission"]).await);
    let document = format!("---\nname: zipped\ndescription: Does it. Use it so.\n---\n# Zipped\n\n{address}\n");
    let archive = zip(&[("zipped/SKILL.md", document.as_bytes())]);
    let import = alice.send(Method::POST, "/v1/skills/import").files(&[("skills.zip", &archive)]);
    let report = import.await.ok(200);
    assert_eq!(report["waiting"], 1, "{report}");
    check_waits("import", &get(alice, &report["items"][0]["submission"]).await);
    assert_eq!(alice.names().await, ["mail"]);
    let log = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    assert!(!log.to_string().contains(PASSWORD), "{log}");
    // The reviewer sees the text with the secret.
    let path = format!("/v1/submissions/{}", ways[0].1["id"].as_str().unwrap());
    let shown = admin.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains(PASSWORD), "{shown}");
    assert!(!shown["checks"].to_string().contains(PASSWORD), "{shown}");
}

#[tokio::test]
async fn placeholders_do_not_wait() {
    let World { alice, .. } = &World::new().await;
    let words =
        "Set `DATABASE_URL=postgres://user:password@localhost:5432/db`, `TOKEN=${TOKEN}` and `API_KEY=YOUR_API_KEY`.";
    alice.create(saying("mail", words)).await;
}
