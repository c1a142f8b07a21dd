//! Sharing a skill with the tenant, and merges of newer starters: who reviews, and the effect of a decision.

use reqwest::Method;
use serde_json::{Value, json};

use crate::admin_cli::{fails, json_of};
use crate::callers::{Caller, Sending, World, skill};
use crate::library::{put, text};
use crate::reviewing::{WHY, decide};
use crate::service::poll_async;
use crate::talk::Talk;
use crate::worker::Ground;

fn share(who: &Caller, name: &str) -> Sending {
    who.post(&format!("/v1/skills/{name}/share"), json!({"reason": "all of us do it"}))
}

async fn md(who: &Caller, name: &str) -> String {
    who.get(&format!("/v1/skills/{name}/SKILL.md")).await.text()
}

#[tokio::test]
async fn a_shared_skill_waits_for_an_admin_and_then_reaches_all_users() {
    let world = World::with(json!({"starter_skills": false, "review": "off", "users_review": true})).await;
    let World { alice, bob, admin, .. } = &world;
    alice.create(skill("plan")).await;
    let given = md(alice, "plan").await;
    let waiting = share(alice, "plan").await.ok(202);
    assert_eq!((&waiting["kind"], &waiting["state"]), (&json!("share"), &json!("needs_review")), "{waiting}");
    assert_eq!((&waiting["base_version"], &waiting["reason"]), (&json!(0), &json!("all of us do it")));
    assert_eq!(share(alice, "plan").await.ok(202)["id"], waiting["id"], "the same again is the same");
    assert!(bob.names().await.is_empty());
    // Users with the scope `review` may decide on their own skills only. A shared skill concerns all users.
    let reviewer = world.scoped("alice", "skills:read skills:write review");
    decide(&reviewer, &waiting, "approve", json!({})).await.refused(403, "forbidden");
    decide(&reviewer, &waiting, "reject", json!({"comment": "no"})).await.refused(403, "forbidden");
    bob.get(&format!("/v1/submissions/{}", waiting["id"].as_str().unwrap())).await.refused(404, "not-found");
    let shown = admin.get(&format!("/v1/submissions/{}", waiting["id"].as_str().unwrap()));
    let shown = shown.header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains("+# plan") && shown["skill_md"] == given, "{shown}");
    let approved = decide(admin, &waiting, "approve", json!({"comment": "good"})).await.ok(200);
    assert_eq!((&approved["state"], &approved["applied_version"]), (&json!("approved"), &json!(1)));
    decide(admin, &waiting, "approve", json!({})).await.refused(409, "decided");
    assert_eq!((bob.names().await, md(bob, "plan").await), (vec!["plan".to_owned()], given.clone()));
    let entry = admin.get("/v1/admin/starter-skills/plan").await.ok(200);
    assert_eq!((&entry["actor"], &entry["approved_by"]), (&json!("user:alice"), &json!("user:anna-admin")));
    // Alice's skill is now an unchanged copy of the starter, so it follows the library.
    assert_eq!(md(alice, "plan").await, given);
    let users = admin.get("/v1/admin/starter-skills/plan/users").await.ok(200);
    assert_eq!(crate::answers::pluck(&users["items"], "state"), ["unchanged"; 3], "alice, bob, and the admin: {users}");
    share(alice, "plan").await.refused(409, "unchanged");
    let next = text("plan", "Now by the house.");
    admin.put("/v1/admin/starter-skills/plan", json!({"skill_md": next})).await.ok(200);
    assert_eq!((md(alice, "plan").await, md(bob, "plan").await), (next.clone(), next));
}

#[tokio::test]
async fn a_share_becomes_stale_when_the_library_changes() {
    let World { alice, bob, admin, .. } = &World::new().await;
    put(admin, "plan", "One.").await;
    alice.replace("plan", "One.", "One, and a half.").await.ok(200);
    let waiting = share(alice, "plan").await.ok(202);
    assert_eq!(waiting["base_version"], 1);
    let shown = admin.get(&format!("/v1/submissions/{}", waiting["id"].as_str().unwrap()));
    let shown = shown.header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains("-One.\n"), "{shown}");
    put(admin, "plan", "Two.").await;
    decide(admin, &waiting, "approve", json!({})).await.refused(409, "stale");
    alice
        .post(&format!("/v1/submissions/{}/rebase", waiting["id"].as_str().unwrap()), json!({}))
        .await
        .refused(409, "stale");
    assert_eq!(md(bob, "plan").await, text("plan", "Two."));
    let waiting = share(alice, "plan").await.ok(202);
    assert_eq!(waiting["base_version"], 2);
    let rejected = decide(admin, &waiting, "reject", json!({"comment": "two is enough"})).await.ok(200);
    assert_eq!(rejected["state"], "rejected");
    let again = share(alice, "plan").await.refused(409, "rejected");
    assert!(again["detail"].as_str().unwrap().contains("two is enough"), "{again}");
    // Alice may still save the rejected text as her own skill.
    let same = alice.post("/v1/skills", json!({"skill_md": md(alice, "plan").await})).await.ok(200);
    assert_eq!(same["unchanged"], true);
    alice.replace("plan", "half", "third").await.ok(200);
    let waiting = share(alice, "plan").await.ok(202);
    let all = futures_util::future::join_all(
        (0..6).map(|_| async { decide(admin, &waiting, "approve", json!({})).await.status }),
    );
    let all = all.await;
    assert_eq!(all.iter().filter(|status| **status == 200).count(), 1, "{all:?}");
    assert_eq!(admin.get("/v1/admin/starter-skills/plan").await.ok(200)["version"], 3);
    assert!(md(bob, "plan").await.contains("third"));
}

#[tokio::test]
async fn a_share_of_a_tainted_skill_is_tainted_and_files_are_rejected() {
    let World { alice, admin, .. } = &World::with(json!({"starter_skills": false, "review": "off"})).await;
    let talk = Talk::long(alice).await;
    talk.tell("/taint", json!({"source": "a mail"})).await;
    alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(&skill("mail")).await.ok(201);
    let waiting = share(alice, "mail").await.ok(202);
    assert_eq!((&waiting["tainted"], &waiting["tainted_by"]), (&json!(true), &json!(["a mail"])), "{waiting}");
    decide(admin, &waiting, "approve", json!({})).await.ok(200);
    alice.create(skill("tool")).await;
    let file = "/v1/skills/tool/resources/references/a.md";
    alice.send(Method::PUT, file).body("text/markdown", "alpha").await.ok(200);
    share(alice, "tool").await.invalid("/skill", "has files");
    share(alice, "nothing").await.refused(404, "not-found");
    alice.post("/v1/skills/mail/share", json!({"reason": "x".repeat(1001)})).await.invalid("/reason", "1000");
    let waiting = {
        alice.create(skill("other")).await;
        share(alice, "other").await.ok(202)
    };
    let path = format!("/v1/submissions/{}/withdraw", waiting["id"].as_str().unwrap());
    assert_eq!(alice.post(&path, json!({})).await.ok(200)["state"], "withdrawn");
}

/// Returns the merges that wait for alice.
async fn offers(world: &World) -> Vec<Value> {
    let page = world.admin.get("/v1/submissions?state=needs_review&user=alice").header("Knowhow-Reason", WHY).await;
    page.ok(200)["items"].as_array().unwrap().clone()
}

async fn offer(world: &World) -> Value {
    poll_async("an offer", async || offers(world).await.pop()).await
}

const LINES: &str = "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.";

async fn ground_with_worker() -> (Ground, crate::service::Service) {
    let ground = Ground::new();
    let service = ground.serve(&[("KNOWHOW_WITH_WORKER", "true")]);
    (ground, service)
}

#[tokio::test]
async fn a_newer_starter_is_offered_once_to_users_who_changed_theirs() {
    let (_ground, service) = ground_with_worker().await;
    let world = World::at(&service, &service, json!({"starter_skills": false, "users_review": true})).await;
    let World { alice, bob, admin, .. } = &world;
    put(admin, "plan", LINES).await;
    bob.names().await;
    alice.replace("plan", "One.", "One, my way.").await.ok(200);
    let mine = md(alice, "plan").await;
    put(admin, "plan", &LINES.replace("Five.", "Five, and six.")).await;
    // An unchanged copy follows the starter. A changed copy stays, and a merge is offered.
    assert!(md(bob, "plan").await.contains("Five, and six."));
    assert_eq!(md(alice, "plan").await, mine);
    let waiting = offer(&world).await;
    assert_eq!((&waiting["kind"], &waiting["submitter"]), (&json!("merge"), &json!("starters")), "{waiting}");
    let reviewer = world.scoped("alice", "skills:read skills:write review");
    let shown = reviewer.get(&format!("/v1/submissions/{}", waiting["id"].as_str().unwrap())).await.ok(200);
    let merged = text("plan", &LINES.replace("One.", "One, my way.").replace("Five.", "Five, and six."));
    assert_eq!(shown["skill_md"], merged);
    decide(&reviewer, &waiting, "approve", json!({"take": "mine"})).await.invalid("/take", "conflicts");
    decide(alice, &waiting, "withdraw", json!({})).await.refused(403, "forbidden");
    // A rejected merge is not offered again for the same starter text, even if other starters change.
    decide(&reviewer, &waiting, "reject", json!({"comment": "not now"})).await.ok(200);
    put(admin, "other", "Something else.").await;
    assert_eq!(alice.names().await, ["other", "plan"]);
    // A merge with the next text is offered. Its base is the text that the user was first given.
    put(admin, "plan", &LINES.replace("Five.", "Five to nine.")).await;
    assert_eq!(md(alice, "plan").await, mine);
    let waiting = offer(&world).await;
    assert_eq!(offers(&world).await.len(), 1);
    decide(&reviewer, &waiting, "approve", json!({})).await.ok(200);
    let merged = text("plan", &LINES.replace("One.", "One, my way.").replace("Five.", "Five to nine."));
    assert_eq!(md(alice, "plan").await, merged);
    let versions = alice.get("/v1/skills/plan/versions").await.ok(200);
    assert_eq!((&versions["items"][0]["change"], &versions["items"][0]["version"]), (&json!("merge"), &json!(3)));
    assert_eq!(alice.get("/v1/skills/plan/versions/2").await.ok(200)["skill_md"], mine, "nothing is lost");
    // A newer offer replaces the waiting one.
    put(admin, "plan", &LINES.replace("Five.", "Five to ten.")).await;
    alice.names().await;
    let first = offer(&world).await;
    put(admin, "plan", &LINES.replace("Five.", "Five to eleven.")).await;
    alice.names().await;
    let second = poll_async("a newer offer", async || {
        let waiting = offers(&world).await;
        (waiting.len() == 1 && waiting[0]["id"] != first["id"]).then(|| waiting[0].clone())
    });
    let second = second.await;
    decide(&reviewer, &first, "approve", json!({})).await.refused(409, "decided");
    // The skill changed meanwhile, so a rebase makes the offer for the changed skill.
    alice.replace("plan", "Three.", "Three, too.").await.ok(200);
    let rebased = admin.post(&format!("/v1/submissions/{}/rebase", second["id"].as_str().unwrap()), json!({}));
    let rebased = rebased.header("Knowhow-Reason", WHY).await.ok(202);
    decide(admin, &rebased, "approve", json!({})).await.ok(200);
    let now = md(alice, "plan").await;
    assert!(["One, my way.", "Three, too.", "Five to eleven."].iter().all(|line| now.contains(line)), "{now}");
    service.check_log();
}

#[tokio::test]
async fn a_person_resolves_conflicting_changes_of_the_same_lines() {
    let (_ground, service) = ground_with_worker().await;
    let world = World::at(&service, &service, json!({"starter_skills": false})).await;
    let World { alice, admin, .. } = &world;
    put(admin, "plan", LINES).await;
    alice.replace("plan", "One.", "My one.").await.ok(200);
    let mine = md(alice, "plan").await;
    let theirs = LINES.replace("One.", "Their one.").replace("Four.", "Their four.");
    put(admin, "plan", &theirs).await;
    assert_eq!(md(alice, "plan").await, mine);
    let stale = offer(&world).await;
    // An edit makes the offer stale. The same update is offered again on the current version.
    alice.replace("plan", "Two.", "My two.").await.ok(200);
    let refused = decide(admin, &stale, "approve", json!({"take": "theirs"})).await.refused(409, "stale");
    assert!(refused["detail"].as_str().unwrap().contains("offered again"), "{refused}");
    let waiting = offer(&world).await;
    assert_ne!(waiting["id"], stale["id"]);
    let path = format!("/v1/submissions/{}", waiting["id"].as_str().unwrap());
    let shown = admin.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("<<<<<<<") && diff.contains("My one.") && diff.contains("Their one."), "{diff}");
    // A rebase makes the offer for the current version too. Only the approval needs `take`.
    let rebase = admin.post(&format!("{path}/rebase"), json!({})).header("Knowhow-Reason", WHY);
    rebase.await.refused(409, "current");
    alice.replace("plan", "Three.", "My three.").await.ok(200);
    let rebased = json_of(admin, &["rebase", waiting["id"].as_str().unwrap(), "--reason", WHY]);
    assert_ne!(rebased["id"], waiting["id"]);
    assert_eq!(offers(&world).await.len(), 1);
    let waiting = rebased;
    let refused = decide(admin, &waiting, "approve", json!({})).await.refused(409, "merge-conflict");
    assert!(refused["detail"].as_str().unwrap().contains("take"), "{refused}");
    decide(admin, &waiting, "approve", json!({"take": "both"})).await.refused(422, "invalid");
    let id = waiting["id"].as_str().unwrap();
    fails(admin, &["approve", id, "--reason", WHY], "--take mine or --take theirs");
    // `"take": "mine"` keeps the lines in conflict, and takes the newer starter's other changes.
    assert_eq!(json_of(admin, &["approve", id, "--take", "mine", "--reason", WHY])["state"], "approved");
    let own = |text: &str| text.replace("One.", "My one.").replace("Two.", "My two.").replace("Three.", "My three.");
    assert_eq!(md(alice, "plan").await, text("plan", &own(LINES).replace("Four.", "Their four.")));
    // The skill now counts as derived from the newer starter, so the next merge has no conflict.
    put(admin, "plan", &theirs.replace("Five.", "Five, and six.")).await;
    alice.names().await;
    let waiting = offer(&world).await;
    decide(admin, &waiting, "approve", json!({})).await.ok(200);
    let merged = text("plan", &own(LINES).replace("Four.", "Their four.").replace("Five.", "Five, and six."));
    assert_eq!(md(alice, "plan").await, merged);
    // `"take": "theirs"` makes a new version and keeps the version before.
    put(admin, "plan", &LINES.replace("One.", "Wholly new.")).await;
    alice.names().await;
    let waiting = offer(&world).await;
    decide(admin, &waiting, "approve", json!({"take": "theirs"})).await.ok(200);
    assert_eq!(md(alice, "plan").await, text("plan", &LINES.replace("One.", "Wholly new.")));
    let versions = alice.get("/v1/skills/plan/versions").await.ok(200);
    let before = versions["items"][1]["version"].as_i64().unwrap();
    assert_eq!(alice.get(&format!("/v1/skills/plan/versions/{before}")).await.ok(200)["skill_md"], merged);
    service.check_log();
}

#[tokio::test]
async fn taking_the_users_text_does_not_approve_it() {
    let (_ground, service) = ground_with_worker().await;
    let world = World::at(&service, &service, json!({"starter_skills": false, "review": "off"})).await;
    let World { alice, admin, .. } = &world;
    put(admin, "plan", LINES).await;
    let talk = Talk::open(alice, json!({"key": "web"})).await;
    let edits = json!({"edits": [{"old_string": "One.", "new_string": "My one from the web."}]});
    alice.patch("/v1/skills/plan", edits).header("Knowhow-Session", "web").await.ok(200);
    alice.post(&talk.path("/taint"), json!({"source": "https://example.com"})).await.ok(200);
    assert_eq!(alice.peek("plan").await["tainted"], true);
    put(admin, "plan", &LINES.replace("One.", "Their one.").replace("Four.", "Their four.")).await;
    alice.names().await;
    let waiting = offer(&world).await;
    decide(admin, &waiting, "approve", json!({"take": "mine"})).await.ok(200);
    assert!(md(alice, "plan").await.contains("Their four."));
    assert_eq!(alice.peek("plan").await["tainted"], true);
}
