//! Dreams in the console: a person reads a run, applies its changes and undoes them.

use serde_json::json;

use super::visitor::Visitor;
use crate::dreams::{Night, merge, overlapping};

/// Creates a run that proposes one merge, and returns its page.
async fn propose(night: &Night) -> String {
    overlapping(&night.agent().await).await;
    night.says(&merge(1));
    let run = night.dream("consolidate").await;
    assert_eq!(run["counts"]["proposed"], 1, "{run:#}");
    format!("/console/dreams/{}", run["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_person_applies_a_change_and_undoes_the_run() {
    let night = Night::begin(json!({})).await;
    let path = propose(&night).await;
    let alice = Visitor::of(&night.alice).await;
    let list = alice.page("/console/dreams").await;
    assert!(list.contains(&path) && list.contains("1 to decide"), "{list}");
    let page = alice.page(&path).await;
    assert!(page.contains("Merge into billing") && page.contains("both answer the same questions"), "{page}");
    assert!(page.contains("invoice get ID") && !page.contains("Undo the whole run"), "{page}");

    let applied = alice.post(&format!("{path}/apply"), &[("op", "0")]).await;
    assert_eq!(applied.header("location"), format!("{path}?done=applied"), "{applied}");
    assert_eq!(night.alice.peek("invoices").await["moved_from"], "invoices");
    let page = alice.page(&path).await;
    assert!(page.contains("brings back invoices") && !page.contains(">Apply<"), "says what an undo does: {page}");
    let twice = alice.post(&format!("{path}/apply"), &[]).await;
    assert!(twice.status == 409 && twice.text().contains(r#"role="alert""#), "{twice}");

    let undone = alice.post(&format!("{path}/undo"), &[]).await;
    assert_eq!(undone.header("location"), format!("{path}?done=undone"), "{undone}");
    assert!(alice.page(&path).await.contains("Undo: undone"));
    assert!(night.alice.peek("invoices").await["moved_from"].is_null());
}

#[tokio::test]
async fn an_admin_decides_on_the_run_of_a_user_with_a_reason() {
    let night = Night::begin(json!({"users_review": false})).await;
    let path = propose(&night).await;
    let owner = Visitor::of(&night.alice).await;
    let page = owner.page(&path).await;
    assert!(!page.contains(">Apply<") && !page.contains("invoice get ID"), "a user who may not review: {page}");
    assert_eq!(owner.post(&format!("{path}/apply"), &[]).await.status, 403);

    let admin = Visitor::of(&night.world.admin).await;
    assert_eq!(admin.get(&path).await.status, 404);
    let begun = admin.post("/console/users/alice/view", &[("reason", "weekly review of dreams")]).await;
    assert_eq!(begun.status, 303, "{begun}");
    assert!(admin.page(&path).await.contains("invoice get ID"));
    assert_eq!(admin.post(&format!("{path}/undo"), &[]).await.status, 403, "only decisions");
    let rejected = admin.post(&format!("{path}/reject"), &[("comment", "not the same <i>thing</i>")]).await;
    assert_eq!(rejected.header("location"), format!("{path}?done=rejected"), "{rejected}");
    let page = admin.page(&path).await;
    assert!(page.contains("not the same &#60;i&#62;thing") && !page.contains(">Apply<"), "{page}");
    assert_eq!(night.alice.peek("billing").await["version"], 1);
    let log = night.world.admin.get("/v1/admin/audit?action=dream.read").await.ok(200);
    assert_eq!(log["items"][0]["detail"]["reason"], "weekly review of dreams", "{log}");
}

#[tokio::test]
async fn a_run_is_started_and_says_why_it_found_nothing() {
    let night = Night::begin(json!({})).await;
    let alice = Visitor::of(&night.alice).await;
    assert!(alice.page("/console/dreams").await.contains("No runs yet"));
    let started = alice.post("/console/dreams", &[("pass", "optimize"), ("dry_run", "on")]).await;
    assert_eq!(started.header("location"), "/console/dreams?done=started", "{started}");
    let runs = night.alice.get("/v1/dreams").await.ok(200);
    let run = night.ended(runs["items"][0]["id"].as_str().unwrap()).await;
    let list = alice.page("/console/dreams").await;
    assert!(list.contains("nothing to do") && list.contains("only shown"), "{list}");
    assert!(list.contains(run["reason"].as_str().unwrap()), "{list}");
}
