//! Pages of a tenant's admin: users, keys, the audit log and jobs.

use serde_json::json;

use super::visitor::{Visitor, hidden};
use crate::callers::World;
use crate::jobs::enqueue;
use crate::service::poll_async;
use crate::sql;
use crate::talk::Talk;

#[tokio::test]
async fn an_admin_suspends_and_resumes_a_user() {
    let world = World::new().await;
    world.alice.names().await;
    let admin = Visitor::of(&world.admin).await;
    let list = admin.page("/console/users").await;
    assert!(list.contains("alice") && list.contains("anna-admin"), "{list}");
    assert!(admin.page("/console/users?prefix=zz").await.contains("No such user"));
    let short = admin.post("/console/users/alice/suspend", &[("reason", "no")]).await;
    assert!(short.status >= 400 && short.text().contains(r#"role="alert""#), "{short}");
    assert!(short.text().contains(r#"name="reason" type="text" value="no""#), "the typed reason stays: {short}");
    let own = admin.post("/console/users/anna-admin/suspend", &[("reason", "by mistake")]).await;
    assert_eq!(own.status, 403, "{own}");
    let done = admin.post("/console/users/alice/suspend", &[("reason", "left <b>the company</b>")]).await;
    assert_eq!(done.header("location"), "/console/users/alice?done=suspended", "{done}");
    let page = admin.page("/console/users/alice?done=suspended").await;
    assert!(page.contains("left &#60;b&#62;the company") && page.contains("Let in again"), "{page}");
    assert!(admin.page("/console/users?prefix=al").await.contains("left &#60;b&#62;the company"));
    assert!(world.admin.get("/v1/admin/users/alice").await.ok(200)["suspended_at"].is_string());
    let back = admin.post("/console/users/alice/resume", &[]).await;
    assert_eq!((back.status, back.header("location")), (303, "/console/users/alice?done=resumed"), "{back}");
    assert!(world.admin.get("/v1/admin/users/alice").await.ok(200)["suspended_at"].is_null());
}

#[tokio::test]
async fn an_admin_ends_a_session_of_a_user() {
    let world = World::new().await;
    let talk = Talk::long(&world.alice).await;
    talk.say("hello there").await;
    let admin = Visitor::of(&world.admin).await;
    let page = admin.page("/console/users/alice").await;
    assert!(page.contains(&talk.id) && !page.contains("hello there"), "without messages: {page}");
    let done = admin.post("/console/users/alice/end-session", &[("session", &talk.id)]).await;
    assert_eq!(done.header("location"), "/console/users/alice?done=session-ended", "{done}");
    assert!(admin.page("/console/users/alice").await.contains("No open session"));
}

#[tokio::test]
async fn an_admin_downloads_holds_and_erases_a_user() {
    let world = World::new().await;
    world.alice.create(crate::callers::skill("plan")).await;
    let admin = Visitor::of(&world.admin).await;
    let id = text_of(&world.admin.get("/v1/admin/users/alice").await.ok(200)["id"]);
    let archive = admin.post("/console/users/alice/export", &[]).await;
    assert_eq!((archive.status, archive.header("content-type")), (200, "application/zip"), "{}", archive.status);
    assert_eq!(&archive.body[..2], b"PK");

    let why = "the customer asked for it";
    let erase = async |name: &str| {
        admin.post("/console/users/alice/erase", &[("name", name), ("reason", why), ("user_id", &id)]).await
    };
    admin.post("/console/users/alice/hold", &[("reason", "a lawsuit is pending")]).await;
    let held = erase("alice").await;
    assert!(held.status == 409 && held.text().contains("The user is held"), "{held}");
    let released = admin.post("/console/users/alice/release", &[]).await;
    assert_eq!(released.header("location"), "/console/users/alice?done=released", "{released}");
    let wrong = erase("alicia").await;
    assert!(wrong.status == 400 && wrong.text().contains("was not erased") && wrong.text().contains(why), "{wrong}");
    assert_eq!(erase("alice").await.header("location"), "/console/users?done=erased");
    assert_eq!(admin.get("/console/users/alice").await.status, 404);
    assert_eq!(erase("alice").await.status, 303, "a form that is sent twice erases no other user");
}

#[tokio::test]
async fn a_key_is_created_rotated_and_revoked() {
    let world = World::new().await;
    let admin = Visitor::of(&world.admin).await;
    let newest = async || hidden(&admin.page("/console/keys").await, "newest");
    let none = admin.post("/console/keys", &[("name", "my <b>backend</b>"), ("newest", &newest().await)]).await;
    assert!(none.status == 422 && none.text().contains("my &#60;b&#62;backend"), "the typed name stays: {none}");
    let fields = [("name", "backend"), ("skills:read", "on"), ("memories", "on"), ("newest", &*newest().await)];
    let created = admin.post("/console/keys", &fields).await;
    assert_eq!(created.status, 200, "{created}");
    let again = admin.post("/console/keys", &fields).await;
    assert!(again.status == 409 && !again.text().contains("kh_"), "the response is loaded again: {again}");
    let first = secret_in(&created.text());
    let skills = |key: &str| world.anonymous.with_token(key).get("/v1/skills").header("Knowhow-User", "alice");
    skills(&first).await.ok(200);
    let listed = world.admin.get("/v1/admin/keys").await.ok(200);
    let key = listed["items"].as_array().unwrap().iter().find(|key| key["name"] == "backend").unwrap().clone();
    assert_eq!(key["scopes"], json!(["memories", "skills:read"]), "{key}");
    assert!(!admin.page("/console/keys").await.contains(&first), "a key is shown once");

    let path = format!("/console/keys/{}", key["id"].as_str().unwrap());
    let fields = [("overlap_hours", "0"), ("newest", &*newest().await)];
    let rotated = admin.post(&format!("{path}/rotate"), &fields).await;
    let second = secret_in(&rotated.text());
    skills(&second).await.ok(200);
    let listed = world.admin.get("/v1/admin/keys").await.ok(200);
    let new = listed["items"].as_array().unwrap().iter().find(|key| second.contains(key["prefix"].as_str().unwrap()));
    let path = format!("/console/keys/{}/revoke", new.unwrap()["id"].as_str().unwrap());
    assert_eq!(admin.post(&path, &[]).await.header("location"), "/console/keys?done=revoked");
    poll_async("both keys to end", async || {
        let ended = skills(&first).await.status == 401 && skills(&second).await.status == 401;
        ended.then_some(())
    })
    .await;
}

fn text_of(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Returns the key that a page shows.
fn secret_in(page: &str) -> String {
    let (_, rest) = page.split_once(r#"<pre class="text">kh_"#).unwrap_or_else(|| panic!("no key in {page}"));
    format!("kh_{}", rest.split('<').next().unwrap())
}

#[tokio::test]
async fn keys_are_listed_without_their_secrets() {
    let world = World::new().await;
    let body = json!({"name": "backend of <i>billing</i>", "scopes": ["skills:read"]});
    let key = world.admin.post("/v1/admin/keys", body).await.ok(201);
    let admin = Visitor::of(&world.admin).await;
    let page = admin.page("/console/keys").await;
    assert!(page.contains("backend of &#60;i&#62;billing") && page.contains("skills:read"), "{page}");
    assert!(!page.contains(key["secret"].as_str().unwrap()), "{page}");
    world.admin.delete(&format!("/v1/admin/keys/{}", key["id"].as_str().unwrap())).await.empty(204);
    assert!(admin.page("/console/keys").await.contains("revoked"));
}

#[tokio::test]
async fn an_admin_restores_a_deleted_skill() {
    let world = World::new().await;
    world.alice.create(crate::callers::skill("plan")).await;
    world.alice.delete("/v1/skills/plan").await.empty(204);
    let admin = Visitor::of(&world.admin).await;
    assert!(admin.page("/console/archive?user=bob").await.contains("No deleted skills"));
    let page = admin.page("/console/archive?user=alice").await;
    let path =
        format!("/console/archive/{}/restore", page.split("/archive/").nth(1).unwrap().split('/').next().unwrap());
    let without = admin.post(&path, &[("reason", " "), ("user", "alice")]).await;
    assert!(without.status == 422 && without.text().contains(r#"role="alert""#), "{without}");
    let done = admin.post(&path, &[("reason", "deleted by mistake"), ("user", "alice")]).await;
    assert_eq!(done.header("location"), "/console/archive?user=alice&done=restored", "{done}");
    assert_eq!(world.alice.peek("plan").await["version"], 1);
    assert_eq!(admin.post(&path, &[("reason", "once more"), ("user", "")]).await.status, 404);
}

#[tokio::test]
async fn an_admin_sets_tests_and_removes_the_webhook() {
    let world = World::new().await;
    let admin = Visitor::of(&world.admin).await;
    assert!(!admin.page("/console/webhook").await.contains("Send a test message"));
    let wrong = admin.post("/console/webhook", &[("url", "http://10.0.0.1/<b>")]).await;
    assert!(wrong.status == 422 && wrong.text().contains("http://10.0.0.1/&#60;b&#62;"), "{wrong}");
    let set = admin.post("/console/webhook", &[("url", "https://review.example/hook")]).await;
    let text = set.text();
    let (_, rest) = text.split_once(r#"<pre class="text">"#).unwrap_or_else(|| panic!("no secret in {text}"));
    assert!(rest.starts_with("whsec_"), "{text}");
    let secret = rest.split('<').next().unwrap();
    let page = admin.page("/console/webhook").await;
    assert!(page.contains("https://review.example/hook") && !page.contains(secret), "shown once: {page}");
    let tested = admin.post("/console/webhook/test", &[]).await;
    assert!(tested.status == 200 && tested.text().contains("was not delivered"), "{tested}");
    let again = admin.post("/console/webhook", &[("url", "https://review.example/hook2")]).await;
    assert_eq!(again.header("location"), "/console/webhook?done=saved", "the secret stays: {again}");
    let removed = admin.post("/console/webhook/remove", &[]).await;
    assert_eq!(removed.header("location"), "/console/webhook?done=removed", "{removed}");
    world.admin.get("/v1/admin/webhook").await.refused(404, "not-found");
}

#[tokio::test]
async fn the_audit_log_is_filtered_by_address() {
    let world = World::new().await;
    world.alice.create(crate::callers::skill("plan")).await;
    let admin = Visitor::of(&world.admin).await;
    let all = admin.page("/console/audit").await;
    assert!(all.contains("user.create") && all.contains("user:alice"), "{all}");
    let some = admin.page("/console/audit?action=key.*").await;
    assert!(!some.contains("<b>user.create</b>"), "{some}");
}

#[tokio::test]
async fn a_dead_job_is_retried_and_discarded() {
    let world = World::new().await;
    world.alice.names().await;
    let (first, second) = (enqueue(&world, "alice").await, enqueue(&world, "alice").await);
    let dead = format!(
        "update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'TaskError(\"<b>broken</b>\")'
         where id in ({first}, {second})"
    );
    assert_eq!(sql::execute(&dead), 2);
    let admin = Visitor::of(&world.admin).await;
    let page = admin.page("/console/jobs?state=dead").await;
    assert!(page.contains("&#60;b&#62;broken") && page.contains(&format!("/console/jobs/{first}/retry")), "{page}");
    let done = admin.post(&format!("/console/jobs/{first}/retry"), &[("state", "dead")]).await;
    assert_eq!(done.header("location"), "/console/jobs?state=dead&done=retried", "the filter stays: {done}");
    let done = admin.post(&format!("/console/jobs/{second}/discard"), &[]).await;
    assert_eq!(done.header("location"), "/console/jobs?done=discarded", "{done}");
    let left = world.admin.get("/v1/admin/jobs").await.ok(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!((&left["items"][0]["id"], &left["items"][0]["attempts"]), (&json!(first), &json!(0)));
    assert_eq!(admin.post("/console/jobs/1/retry", &[]).await.status, 404);
}
