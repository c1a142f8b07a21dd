//! An admin views the pages of one user, for a reason and for half an hour, and changes nothing.

use serde_json::json;

use super::visitor::Visitor;
use crate::callers::World;
use crate::reviewing::saying;
use crate::sql;
use crate::talk::Talk;

const WHY: &str = "ticket 4711: the agent forgets";

async fn view(admin: &Visitor, user: &str) {
    let begun = admin.post(&format!("/console/users/{user}/view"), &[("reason", WHY)]).await;
    assert_eq!((begun.status, begun.header("location")), (303, "/console?done=viewing"), "{begun}");
}

#[tokio::test]
async fn an_admin_sees_what_the_user_sees() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create(saying("plan", "the quetzalcoatl way")).await;
    let memory = alice.post("/v1/memories", json!({"content": "Likes <b>tea</b>"})).await.ok(201);
    let talk = Talk::long(alice).await;
    talk.say("use plan").await;
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;

    let text = admin.page("/console/skills/plan").await;
    assert!(text.contains("the quetzalcoatl way") && text.contains("You see the pages of <b>alice</b>"), "{text}");
    assert!(!text.contains("Save a new version"), "nothing can be changed: {text}");
    assert!(text.contains("Knowhow-Reason: ticket 4711") && text.contains("Knowhow-User: alice"), "{text}");
    assert!(admin.page(&format!("/console/sessions/{}", talk.id)).await.contains("use plan"));
    let shown = admin.page(&format!("/console/memories/{}", memory["id"].as_str().unwrap())).await;
    assert!(shown.contains("Likes &#60;b&#62;tea") && !shown.contains("Forget this memory"), "{shown}");
    for path in ["/console", "/console/memories", "/console/soul", "/console/conversations", "/console/snapshot"] {
        assert!(admin.page(path).await.contains("You see the pages of <b>alice</b>"), "{path}");
    }
    // The pages of the tenant stay the admin's own.
    assert!(!admin.page("/console/users").await.contains("You see the pages of"));

    let log = world.admin.get("/v1/admin/audit?action=content.read").await.ok(200);
    let entries = log["items"].as_array().unwrap();
    assert_eq!(
        (entries.len(), &entries[0]["detail"]["reason"]),
        (1, &json!(WHY)),
        "one entry for the whole view: {log}"
    );

    let stopped = admin.post("/console/review/reason", &[("reason", ""), ("next", "/console/users/alice")]).await;
    assert_eq!(stopped.header("location"), "/console/users/alice?done=reason-removed", "{stopped}");
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
}

#[tokio::test]
async fn a_view_changes_nothing() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create(saying("plan", "the way")).await;
    let memory = alice.post("/v1/memories", json!({"content": "Likes tea"})).await.ok(201);
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;
    let memory = format!("/console/memories/{}", memory["id"].as_str().unwrap());
    let text = "---\nname: plan\ndescription: Stolen. Use it.\n---\nStolen.\n";
    for (path, fields) in [
        ("/console/skills/plan", vec![("text", text), ("version", "1")]),
        ("/console/skills/plan/rollback", vec![("version", "1"), ("current", "1")]),
        ("/console/soul", vec![("text", "Stolen"), ("version", "0")]),
        (&memory, vec![("content", "Stolen"), ("tags", ""), ("version", "1")]),
        (&format!("{memory}/forget"), vec![]),
    ] {
        let answer = admin.post(path, &fields).await;
        assert_eq!(answer.status, 403, "{path}: {answer}");
        assert!(answer.text().contains("You view the data of another user"), "{path}: {answer}");
    }
    assert_eq!(alice.peek("plan").await["version"], 1);
    assert_eq!(alice.get("/v1/soul").await.ok(200)["version"], 0);
}

#[tokio::test]
async fn a_view_ends_after_half_an_hour_and_with_the_user() {
    let world = World::new().await;
    world.alice.create(saying("plan", "the way")).await;
    let admin = Visitor::of(&world.admin).await;
    let short = admin.post("/console/users/alice/view", &[("reason", "short")]).await;
    assert!(short.status == 400 && short.text().contains(r#"value="short""#), "{short}");
    view(&admin, "alice").await;
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    let over = format!(
        "update console_sessions set reason_ends_at = now() - interval '1 second' where tenant_id = {tenant} and viewed_user is not null"
    );
    assert_eq!(sql::execute(&over), 1);
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
    view(&admin, "alice").await;
    admin.page("/console/skills/plan").await;
    world.admin.delete("/v1/admin/users/alice?reason=asked%20for%20it").await.ok(202);
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
    let bob = Visitor::of(&world.bob).await;
    assert_eq!(bob.post("/console/users/alice/view", &[("reason", WHY)]).await.status, 403);
}

#[tokio::test]
async fn decisions_during_a_view_are_the_admins_own() {
    let world = World::new().await;
    let talk = Talk::tainted(&world.alice).await;
    let held = world.alice.post("/v1/skills", saying("bill", "the bill")).header("Knowhow-Session", &talk.id).await;
    let held = held.ok(202);
    let path = format!("/console/review/{}", held["id"].as_str().unwrap());
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;
    assert!(admin.page(&path).await.contains("the bill"), "the reason counts for the review, too");
    let approved = admin.post(&format!("{path}/approve"), &[("comment", "fine")]).await;
    assert_eq!(approved.header("location"), "/console/review?done=approved", "{approved}");
    let log = world.admin.get("/v1/admin/audit?action=submission.read").await.ok(200);
    assert_eq!(log["items"][0]["detail"]["reason"], WHY, "{log}");
    assert_eq!(world.alice.peek("bill").await["version"], 1);
}
