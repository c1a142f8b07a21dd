//! The audit log: which operations make an entry, and its content.

use knowhow_domain::skills::manifest;
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::service::{Service, keeper, poll_async};
use crate::talk::Talk;

async fn entries(admin: &Caller, query: &str) -> Vec<Value> {
    admin.get(&format!("/v1/admin/audit?limit=200{query}")).await.ok(200)["items"].as_array().unwrap().clone()
}

fn of<'a>(entries: &'a [Value], action: &str) -> Vec<&'a Value> {
    entries.iter().filter(|entry| entry["action"] == action).collect()
}

fn digest(text: &str) -> Value {
    Value::String(manifest::hex(&manifest::digest(text.as_bytes())))
}

#[tokio::test]
async fn every_change_makes_an_entry_with_its_request_id() {
    let World { alice, admin, .. } = &World::new().await;
    let created = alice.post("/v1/skills", skill("plan")).await;
    let first = created.ok(201)["digest"].clone();
    let second = alice.replace("plan", "First", "Last").await.ok(200)["digest"].clone();
    let memory = json!({"content": "Prefers trains", "core": true});
    let id = alice.post("/v1/memories", memory).await.ok(201)["id"].as_str().unwrap().to_owned();
    alice.delete(&format!("/v1/memories/{id}")).await.empty(204);
    alice.put("/v1/soul", json!({"text": "Be kind."})).await.ok(200);
    alice.put("/v1/soul", json!({"text": "Be brief."})).await.ok(200);
    let talk = Talk::long(alice).await;
    talk.say("what do we do about the trains today?").await;
    talk.tell("/taint", json!({"source": "a mail"})).await;
    talk.tell("/taint", json!({"source": "a mail"})).await;
    talk.tell("/feedback", json!({"kind": "thumbs_up", "note": "the secret note"})).await;
    alice.delete("/v1/skills/plan").await.empty(204);
    let log = entries(admin, "&user=alice").await;
    let actions = pluck(&json!(log), "action");
    let expected = [
        "skill.delete",
        "session.feedback",
        "session.taint",
        "soul.update",
        "soul.update",
        "memory.delete",
        "memory.save",
        "skill.patch",
        "skill.save",
        "user.create",
    ];
    assert_eq!(actions, expected);
    for entry in &log {
        assert!(entry["address"].as_str().is_some_and(|address| address == "127.0.0.1" || address == "::1"), "{entry}");
        assert!(entry["request_id"].is_string(), "{entry}");
        assert!(entry.to_string().len() < 640, "{entry}");
    }
    let save = of(&log, "skill.save")[0];
    assert_eq!(save["request_id"], created.header("x-request-id"));
    assert_eq!((&save["before"], &save["after"]), (&Value::Null, &first));
    assert_eq!((&log[7]["before"], &log[7]["after"]), (&first, &second));
    assert_eq!((&log[0]["before"], &log[0]["after"]), (&second, &Value::Null));
    assert_eq!((&log[6]["after"], &log[5]["before"]), (&digest("Prefers trains"), &digest("Prefers trains")));
    assert_eq!((&log[3]["before"], &log[3]["after"]), (&digest("Be kind."), &digest("Be brief.")));
    assert!(!json!(log).to_string().contains("secret note"));
}

#[tokio::test]
async fn reading_other_users_data_makes_an_entry() {
    let World { alice, admin, operator, slug, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    admin.post("/v1/admin/users", json!({"external_id": "carol"})).await.ok(200);
    admin.post("/v1/admin/users", json!({"external_id": "carol"})).await.ok(200);
    admin.get("/v1/admin/users").await.ok(200);
    admin.get("/v1/admin/users/alice").await.ok(200);
    admin.get("/v1/admin/archive?user=alice").await.ok(200);
    admin.get("/v1/admin/audit?user=alice").await.ok(200);
    operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200);
    operator.get(&format!("/v1/admin/keys?tenant={slug}")).await.ok(200);
    admin.get("/v1/admin/keys").await.ok(200);
    let log = entries(admin, "").await;
    let made: Vec<(&Value, &Value)> =
        of(&log, "user.create").iter().map(|entry| (&entry["actor"], &entry["target"])).collect();
    assert!(made.contains(&(&json!("user:anna-admin"), &json!("carol"))) && made.len() == 3, "{made:?}");
    let targets = |action: &str| pluck(&json!(of(&log, action)), "target");
    assert_eq!(targets("user.read"), ["alice", "all users"]);
    assert_eq!((targets("archive.read"), targets("audit.read")), (vec!["alice".to_owned()], vec!["alice".to_owned()]));
    assert_eq!(targets("tenant.read"), ["keys", slug]);
    // A user who reads their own data makes no entry.
    alice.get("/v1/skills/plan?peek=true").await.ok(200);
    alice.get("/v1/memories").await.ok(200);
    let actions = pluck(&json!(entries(admin, "&user=alice").await), "action");
    assert_eq!(actions, ["skill.save", "user.create"]);
}

#[tokio::test]
async fn refused_logins_are_counted() {
    // Uses a separate process, because a process records continuing refusals at ever longer intervals.
    let service = Service::start(&[]);
    let world = World::at(&service, keeper(), json!({})).await;
    let World { alice, admin, .. } = &world;
    let forged = alice.with_token(crate::signing::hs256(
        &crate::signing::random_secret(),
        &crate::signing::claims(&world.slug, "alice"),
    ));
    for _ in 0..20 {
        forged.send(Method::GET, "/v1/skills").await.refused(401, "unauthenticated");
    }
    let counted = poll_async("the refused logins in the audit log", async || {
        let log = entries(admin, "").await;
        let refused = of(&log, "login.refused");
        let count: u64 = refused.iter().map(|entry| entry["detail"]["count"].as_u64().unwrap()).sum();
        (count == 20).then(|| (refused.len(), refused[0]["address"].clone()))
    })
    .await;
    assert!(counted.0 <= 3 && counted.1.is_string(), "{counted:?}");
}
