//! The review inbox: reading a change, approving and rejecting it.

use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::callers::World;
use crate::reviewing::{WHY, saying};
use crate::talk::Talk;

const REASON: &str = "weekly%20review%20of%20what%20waits";

/// Saves a skill in a tainted session, and returns the submission.
async fn propose(world: &World, name: &str, words: &str) -> Value {
    let talk = Talk::tainted(&world.alice).await;
    world.alice.post("/v1/skills", saying(name, words)).header("Knowhow-Session", &talk.id).await.ok(202)
}

/// Returns the digest that a submission's page binds decisions to.
fn hash_in(page: &str) -> String {
    page.split(r#"name="hash" value=""#).nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn an_admin_reads_for_a_reason_and_approves_what_was_shown() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay\u{200b} the bill.").await;
    let id = submission["id"].as_str().unwrap();
    let admin = Visitor::of(&world.admin).await;
    assert!(admin.page("/console/review").await.contains("Give a reason"));
    let list = admin.page(&format!("/console/review?reason={REASON}")).await;
    assert!(list.contains(&format!("/console/review/{id}?reason={REASON}")) && list.contains("taint"), "{list}");
    let asked = admin.page(&format!("/console/review/{id}")).await;
    assert!(asked.contains("Why do you read it?") && !asked.contains("the bill"), "{asked}");
    assert_eq!(admin.get(&format!("/console/review/{id}?reason=short")).await.status, 400);

    let page = admin.page(&format!("/console/review/{id}?reason={REASON}")).await;
    assert!(page.contains("<mark>&#60;U+200B&#62;</mark>"), "the invisible character is a mark: {page}");
    let path = format!("/console/review/{id}/approve");
    let other = admin.post(&path, &[("comment", "fine"), ("hash", "0"), ("reason", WHY)]).await;
    assert_eq!(other.status, 409, "{other}");
    assert!(other.text().contains("not the one that you were shown") && other.text().contains("fine"), "{other}");
    world.alice.get("/v1/skills/pay").await.refused(404, "not-found");

    let hash = hash_in(&page);
    let done = admin.post(&path, &[("comment", ""), ("hash", &hash), ("reason", WHY)]).await;
    assert_eq!(done.status, 303, "{done}");
    assert!(done.header("location").ends_with("done=approved"), "{done}");
    assert_eq!(world.alice.peek("pay").await["version"], 1);

    let again = admin.post(&path, &[("comment", ""), ("hash", &hash), ("reason", WHY)]).await;
    assert_eq!(again.status, 409, "a second decision is told of the first: {again}");
    let audit = world.admin.get("/v1/admin/audit?action=submission.read").await.ok(200);
    assert_eq!(audit["items"][0]["detail"]["reason"], WHY, "{audit}");
}

#[tokio::test]
async fn a_rejection_needs_a_comment_and_keeps_what_was_typed() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay the bill.").await;
    let id = submission["id"].as_str().unwrap();
    let admin = Visitor::of(&world.admin).await;
    let page = admin.page(&format!("/console/review/{id}?reason={REASON}")).await;
    let hash = hash_in(&page);
    let path = format!("/console/review/{id}/reject");
    let without = admin.post(&path, &[("comment", " "), ("hash", &hash), ("reason", WHY)]).await;
    assert_eq!(without.status, 422, "{without}");
    assert!(without.text().contains("is required"), "{without}");
    let done = admin.post(&path, &[("comment", "Ask first.\r\nThen pay."), ("hash", &hash), ("reason", WHY)]).await;
    assert_eq!(done.status, 303, "{done}");
    let closed = world.alice.get(&format!("/v1/submissions/{id}")).await.ok(200);
    assert_eq!((&closed["state"], &closed["comment"]), (&json!("rejected"), &json!("Ask first.\nThen pay.")));
}

#[tokio::test]
async fn the_submitter_sees_the_decision_and_not_the_text() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay the bill of zanzibar.").await;
    let alice = Visitor::of(&world.alice).await;
    assert!(alice.page("/console").await.contains("1 change waits"));
    let list = alice.page("/console/review").await;
    assert!(list.contains("pay") && !list.contains("Reason to see"), "{list}");
    let page = alice.page(&format!("/console/review/{}", submission["id"].as_str().unwrap())).await;
    assert!(page.contains("shown to reviewers only") && !page.contains("zanzibar"), "{page}");
    assert!(!page.contains("/approve"), "{page}");
}

#[tokio::test]
async fn users_who_may_review_decide_on_what_their_agent_proposed() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let talk = Talk::tainted(&world.alice).await;
    let backend = {
        let body = json!({"name": "agent", "scopes": ["skills:read", "skills:write", "sessions"]});
        let key = world.admin.post("/v1/admin/keys", body).await.ok(201);
        world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("alice")
    };
    let held = backend.post("/v1/skills", saying("pay", "Pay the bill.")).header("Knowhow-Session", &talk.id).await;
    let submission = held.ok(202);
    let reviewer = Visitor::of(&world.scoped("alice", "skills:read skills:write review")).await;
    let id = submission["id"].as_str().unwrap();
    let page = reviewer.page(&format!("/console/review/{id}")).await;
    let hash = hash_in(&page);
    let done = reviewer.post(&format!("/console/review/{id}/approve"), &[("comment", ""), ("hash", &hash)]).await;
    assert_eq!(done.status, 303, "{done}");
    assert_eq!(world.alice.peek("pay").await["version"], 1);
}
