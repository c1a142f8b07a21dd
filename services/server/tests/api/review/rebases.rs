//! Rebases of submissions.

use reqwest::Method;
use serde_json::{Value, json};

use super::submissions::{decide, hold, id, poisoned};
use crate::callers::{Caller, World};
use crate::reviewing::{POISON, WHY, saying};
use crate::talk::Talk;

/// Proposes a change in a tainted session, then changes the skill as its user, so that the proposal is stale.
async fn propose_and_move(alice: &Caller) -> Value {
    alice.create(saying("mail", "One.\n\nTwo.\n\nThree.")).await;
    let talk = Talk::tainted(alice).await;
    let edits = json!({"edits": [
        {"old_string": "One.", "new_string": POISON}, {"old_string": "First this", "new_string": "Last this"}
    ]});
    let patched = alice.patch("/v1/skills/mail", edits).header("Knowhow-Session", &talk.id).await.ok(202);
    alice.replace("mail", "First this", "Last this").await.ok(200);
    patched
}

pub(super) async fn rebase(who: &Caller, submission: &Value) -> Value {
    let path = format!("/v1/submissions/{}/rebase", id(submission));
    who.send(Method::POST, &path).header("Knowhow-Reason", WHY).await.ok(202)
}

async fn count_waiting(who: &Caller) -> usize {
    let listed = who.get("/v1/submissions?state=needs_review&limit=200").await.ok(200);
    listed["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_rebase_with_the_same_result_replaces_the_old_submission() {
    let World { alice, admin, .. } = &World::new().await;
    let old = propose_and_move(alice).await;
    let new = rebase(admin, &old).await;
    assert_eq!((&new["result_digest"], &new["state"]), (&old["result_digest"], &json!("needs_review")), "{new}");
    assert_eq!((&new["base_version"], &old["base_version"]), (&json!(2), &json!(1)));
    assert_ne!(new["id"], old["id"]);
    assert_eq!(count_waiting(alice).await, 1);
    decide(admin, &new, "approve", "fine").await.ok(200);
    assert_eq!(alice.peek("mail").await["version"], 3);
}

#[tokio::test]
async fn a_rebase_succeeds_when_the_limit_of_waiting_submissions_is_reached() {
    let World { alice, admin, .. } = &World::new().await;
    let old = propose_and_move(alice).await;
    let talk = Talk::tainted(alice).await;
    for number in 1..50 {
        hold(alice, &talk, &poisoned(&format!("mail-{number}"))).await;
    }
    rebase(admin, &old).await;
    assert_eq!(count_waiting(alice).await, 50);
}
