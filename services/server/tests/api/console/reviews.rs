//! The review inbox: reading a change, approving and rejecting it.

use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::callers::World;
use crate::reviewing::{WHY, decide, saying};
use crate::service::poll_async;
use crate::talk::Talk;
use crate::worker::Ground;
use crate::{library, sql};

/// Saves a skill in a tainted session, and returns the submission.
async fn propose(world: &World, name: &str, words: &str) -> Value {
    let talk = Talk::tainted(&world.alice).await;
    world.alice.post("/v1/skills", saying(name, words)).header("Knowhow-Session", &talk.id).await.ok(202)
}

#[tokio::test]
async fn an_admin_reads_for_a_reason_and_approves_what_was_shown() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay\u{200b} the bill.").await;
    let id = submission["id"].as_str().unwrap();
    let admin = Visitor::of(&world.admin).await;
    let path = format!("/console/review/{id}");
    let list = admin.page("/console/review").await;
    assert!(list.contains("Give a reason") && !list.contains(id), "{list}");
    let asked = admin.page(&path).await;
    assert!(asked.contains("Why do you read them?") && !asked.contains("the bill"), "{asked}");
    assert!(asked.contains(&format!(r#"name="next" value="{path}""#)), "{asked}");
    let by_address = admin.page(&format!("{path}?reason=weekly%20review")).await;
    assert!(!by_address.contains("the bill"), "a reason in the address counts for nothing: {by_address}");
    let short = admin.post("/console/review/reason", &[("reason", "short"), ("next", &path)]).await;
    assert_eq!(short.status, 400, "{short}");
    assert!(short.text().contains(r#"value="short""#) && short.text().contains(&path), "{short}");
    let given = admin.post("/console/review/reason", &[("reason", WHY), ("next", &path)]).await;
    assert_eq!((given.status, given.header("location")), (303, &*format!("{path}?done=reason-given")), "{given}");

    let list = admin.page("/console/review").await;
    assert!(list.contains(&format!("href=\"{path}\"")) && list.contains("taint") && list.contains(WHY), "{list}");
    let page = admin.page(&path).await;
    assert!(page.contains("<mark>&#60;U+200B&#62;</mark>"), "the invisible character is a mark: {page}");
    assert!(!page.contains("reason="), "no address has the reason: {page}");
    world.alice.get("/v1/skills/pay").await.refused(404, "not-found");

    let reads = async || world.admin.get("/v1/admin/audit?action=submission.read").await.ok(200);
    let before = reads().await["items"].as_array().unwrap().len();
    let done = admin.post(&format!("{path}/approve"), &[("comment", "")]).await;
    assert_eq!((done.status, done.header("location")), (303, "/console/review?done=approved"), "{done}");
    assert_eq!(world.alice.peek("pay").await["version"], 1);
    let audit = reads().await;
    assert_eq!(audit["items"].as_array().unwrap().len(), before + 1, "the decision alone: {audit}");
    assert_eq!(audit["items"][0]["detail"]["reason"], WHY, "{audit}");

    let again = admin.post(&format!("{path}/approve"), &[("comment", "fine")]).await;
    assert_eq!(again.status, 409, "a second decision is told of the first: {again}");
    let shown = admin.page(&path).await;
    assert!(shown.contains("The change is applied") && shown.contains("version 1"), "{shown}");
    assert!(!shown.contains(r#"class="del""#) && !shown.contains("/approve"), "no deletion is shown: {shown}");

    let gone = admin.post("/console/review/reason", &[("reason", ""), ("next", "/console/review")]).await;
    assert_eq!(gone.header("location"), "/console/review?done=reason-removed", "{gone}");
    assert!(admin.page(&path).await.contains("Why do you read them?"));
}

#[tokio::test]
async fn a_rejection_needs_a_comment_and_keeps_what_was_typed() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay the bill.").await;
    let id = submission["id"].as_str().unwrap();
    let admin = Visitor::of(&world.admin).await;
    let path = format!("/console/review/{id}/reject");
    // The reason is over, or was never given.
    let unasked = admin.post(&path, &[("comment", "Ask <b>first</b>.")]).await;
    assert_eq!(unasked.status, 400, "{unasked}");
    let page = unasked.text();
    assert!(page.contains("Why do you read them?") && page.contains("Ask &#60;b&#62;first"), "{page}");
    admin.give_reason(WHY).await;
    let without = admin.post(&path, &[("comment", " ")]).await;
    assert_eq!(without.status, 422, "{without}");
    assert!(without.text().contains("is required"), "{without}");
    let done = admin.post(&path, &[("comment", "Ask first.\r\nThen pay.")]).await;
    assert_eq!(done.status, 303, "{done}");
    let closed = world.alice.get(&format!("/v1/submissions/{id}")).await.ok(200);
    assert_eq!((&closed["state"], &closed["comment"]), (&json!("rejected"), &json!("Ask first.\nThen pay.")));
}

#[tokio::test]
async fn an_approved_change_is_shown_without_a_difference() {
    let world = World::with(json!({"starter_skills": false})).await;
    let submission = propose(&world, "pay", "Pay the bill.").await;
    decide(&world.admin, &submission, "approve", json!({})).await.ok(200);
    let path = format!("/v1/submissions/{}", submission["id"].as_str().unwrap());
    let shown = world.admin.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown.get("diff").is_none() && shown.get("skill_md").is_none(), "{shown}");
    let alice = Visitor::of(&world.alice).await;
    let page = alice.page(&format!("/console/review/{}", submission["id"].as_str().unwrap())).await;
    assert!(page.contains(r#"href="/console/skills/pay/versions""#), "{page}");
}

#[tokio::test]
async fn the_reason_of_an_admin_is_over_after_half_an_hour() {
    let world = World::new().await;
    let submission = propose(&world, "pay", "Pay the bill.").await;
    let admin = Visitor::of(&world.admin).await;
    admin.give_reason(WHY).await;
    let path = format!("/console/review/{}", submission["id"].as_str().unwrap());
    assert!(admin.page(&path).await.contains("the bill"));
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    let late = format!(
        "update console_sessions set reason_ends_at = now() - interval '1 second' where tenant_id = {tenant} and reason is not null"
    );
    assert_eq!(sql::execute(&late), 1);
    assert!(admin.page(&path).await.contains("Why do you read them?"));
}

#[tokio::test]
async fn a_newer_starter_in_conflict_is_approved_with_one_of_the_texts() {
    let ground = Ground::new();
    let service = ground.serve(&[("KNOWHOW_WITH_WORKER", "true")]);
    let world = World::at(&service, &service, json!({"starter_skills": false})).await;
    let admin = Visitor::of(&world.admin).await;
    admin.give_reason(WHY).await;
    for (name, take, expected) in [("plan", "mine", "My one."), ("trip", "theirs", "Their one.")] {
        let lines = "One.\n\nTwo.\n\nThree.\n\nFour.";
        library::put(&world.admin, name, lines).await;
        world.alice.replace(name, "One.", "My one.").await.ok(200);
        library::put(&world.admin, name, &lines.replace("One.", "Their one.").replace("Four.", "Their four.")).await;
        world.alice.names().await;
        let waiting = poll_async("an offer", async || {
            let path = "/v1/submissions?state=needs_review&user=alice";
            let found = world.admin.get(path).header("Knowhow-Reason", WHY).await.ok(200);
            found["items"].as_array().unwrap().last().cloned()
        })
        .await;
        let path = format!("/console/review/{}", waiting["id"].as_str().unwrap());
        let page = admin.page(&path).await;
        assert!(page.contains(&format!(r#"name="take" value="{take}""#)) && page.contains("My one."), "{page}");
        assert!(!page.contains("Approve this change"), "{page}");
        let without = admin.post(&format!("{path}/approve"), &[("comment", "")]).await;
        assert_eq!(without.status, 409, "{without}");
        let done = admin.post(&format!("{path}/approve"), &[("comment", ""), ("take", take)]).await;
        assert_eq!(done.status, 303, "{done}");
        let text = world.alice.get(&format!("/v1/skills/{name}/SKILL.md")).await.text();
        assert!(text.contains(expected) && text.contains("Their four."), "{text}");
    }
    service.check_log();
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
    assert!(page.contains("Approve this change") && page.contains("the bill"), "{page}");
    let done = reviewer.post(&format!("/console/review/{id}/approve"), &[("comment", "")]).await;
    assert_eq!(done.status, 303, "{done}");
    assert_eq!(world.alice.peek("pay").await["version"], 1);
}
