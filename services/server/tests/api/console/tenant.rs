//! Pages of a tenant's admin: users, keys, the audit log and jobs.

use serde_json::json;

use super::visitor::Visitor;
use crate::callers::World;
use crate::jobs::enqueue;
use crate::sql;

#[tokio::test]
async fn an_admin_suspends_and_resumes_a_user() {
    let world = World::new().await;
    world.alice.names().await;
    let admin = Visitor::of(&world.admin).await;
    let list = admin.page("/console/users").await;
    assert!(list.contains("alice") && list.contains("anna-admin"), "{list}");
    assert!(admin.page("/console/users?prefix=zz").await.contains("No such user"));
    let fields = [("user", "alice"), ("reason", "no"), ("prefix", "a")];
    let short = admin.post("/console/users/suspend", &fields).await;
    assert!(short.status >= 400 && short.text().contains(r#"role="alert""#), "{short}");
    assert!(short.text().contains(r#"name="reason" type="text" value="no""#), "the typed reason stays: {short}");
    assert!(short.text().contains(r#"name="prefix" type="search" value="a""#), "and the filter: {short}");
    let own = admin.post("/console/users/suspend", &[("user", "anna-admin"), ("reason", "by mistake")]).await;
    assert_eq!(own.status, 403, "{own}");
    let fields = [("user", "alice"), ("reason", "left <b>the company</b>"), ("prefix", "al")];
    let done = admin.post("/console/users/suspend", &fields).await;
    assert_eq!(done.header("location"), "/console/users?prefix=al&done=suspended", "{done}");
    let page = admin.page("/console/users?prefix=alice&done=suspended").await;
    assert!(page.contains("left &#60;b&#62;the company") && page.contains("Let in again"), "{page}");
    assert!(world.admin.get("/v1/admin/users/alice").await.ok(200)["suspended_at"].is_string());
    let back = admin.post("/console/users/resume", &[("user", "alice")]).await;
    assert_eq!((back.status, back.header("location")), (303, "/console/users?done=resumed"), "{back}");
    assert!(world.admin.get("/v1/admin/users/alice").await.ok(200)["suspended_at"].is_null());
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
