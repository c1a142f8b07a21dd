//! An admin reads the data of one user, for a reason, by `Knowhow-User` and `Knowhow-Reason`.

use serde_json::Value;

use crate::answers::Answer;
use crate::callers::{Caller, World};
use crate::reviewing::saying;
use crate::talk::Talk;

const WHY: &str = "ticket 4711: the agent forgets the address";

async fn view(caller: &Caller, path: &str, user: &str, reason: &str) -> Answer {
    caller.get(path).header("Knowhow-User", user).header("Knowhow-Reason", reason).await
}

async fn reads(world: &World) -> Vec<Value> {
    let log = world.admin.get("/v1/admin/audit?action=content.read").await.ok(200);
    log["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_admin_reads_skills_sessions_and_memories_of_a_user() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create(saying("plan", "the quetzalcoatl way")).await;
    alice.post("/v1/memories", serde_json::json!({"content": "Likes tea"})).await.ok(201);
    let talk = Talk::long(alice).await;
    talk.say("use plan").await;
    let used = alice.peek("plan").await["usage"]["count"].clone();

    let skill = view(&world.admin, "/v1/skills/plan", "alice", WHY).await.ok(200);
    assert!(skill["content"].as_str().unwrap().contains("quetzalcoatl"), "{skill}");
    let sessions = view(&world.admin, "/v1/sessions", "alice", WHY).await.ok(200);
    assert_eq!(sessions["items"][0]["id"], talk.id, "{sessions}");
    let memories = view(&world.admin, "/v1/memories", "alice", WHY).await.ok(200);
    assert_eq!(memories["items"][0]["content"], "Likes tea", "{memories}");
    assert_eq!(alice.peek("plan").await["usage"]["count"], used, "a view is no use");

    let log = reads(&world).await;
    assert_eq!(log.len(), 3, "{log:?}");
    assert_eq!((&log[2]["user"], &log[2]["detail"]["reason"]), (&"alice".into(), &WHY.into()), "{log:?}");
    let memory = memories["items"][0]["id"].as_str().unwrap();
    view(&world.admin, &format!("/v1/memories/{memory}"), "alice", WHY).await.ok(200);
    assert_eq!(reads(&world).await[0]["detail"]["read"], format!("/v1/memories/{memory}"), "with ids");
    assert_eq!(log[2]["detail"]["read"], "/v1/skills/{skill}", "without names of the user's data: {log:?}");
}

#[tokio::test]
async fn nothing_is_written_for_the_viewed_user() {
    let world = World::new().await;
    world.alice.create(saying("plan", "the way")).await;
    for (method, path, body) in [
        (reqwest::Method::PUT, "/v1/soul", r#"{"text": "Stolen"}"#),
        (reqwest::Method::DELETE, "/v1/skills/plan", ""),
        (reqwest::Method::POST, "/v1/memories", r#"{"content": "Stolen"}"#),
    ] {
        let sent = world.admin.send(method, path).header("Knowhow-User", "alice").header("Knowhow-Reason", WHY);
        let answer = sent.body("application/json", body).await;
        assert_eq!(answer.status, 403, "{answer}");
    }
    assert_eq!(world.alice.peek("plan").await["version"], 1);
    assert!(reads(&world).await.is_empty());
}

#[tokio::test]
async fn only_an_admin_with_a_reason_reads_the_data_of_others() {
    let world = World::new().await;
    world.alice.create(saying("plan", "the way")).await;
    let other = world.other_tenant().await;
    assert_eq!(view(&world.bob, "/v1/skills/plan", "alice", WHY).await.status, 403);
    assert!([403, 404].contains(&view(&other, "/v1/skills/plan", "alice", WHY).await.status));
    assert_eq!(world.admin.get("/v1/skills/plan").header("Knowhow-User", "alice").await.status, 403);
    assert_eq!(view(&world.admin, "/v1/skills/plan", "alice", "short").await.status, 400);
    let unknown = view(&world.admin, "/v1/skills", "nobody-here", WHY).await;
    assert_eq!(unknown.status, 404, "{unknown}");
    let users = world.admin.get("/v1/admin/users?prefix=nobody").await.ok(200);
    assert_eq!(users["items"], serde_json::json!([]), "a view creates no user");
    let listed = view(&world.admin, "/v1/submissions", "alice", WHY).await;
    assert_eq!(listed.status, 403, "the list would be that of all users: {listed}");
    assert_eq!(view(&world.admin, "/v1/admin/users", "alice", WHY).await.status, 403);
    assert!(reads(&world).await.is_empty());
    // The admin's own name, with a superfluous reason, is an ordinary request.
    view(&world.admin, "/v1/skills", "anna-admin", WHY).await.ok(200);
    assert!(reads(&world).await.is_empty());
}
