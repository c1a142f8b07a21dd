//! Waiting submissions: why a change waits, that no agent sees it, who decides, and the effect of a decision.

use reqwest::Method;
use serde_json::{Value, json};

use super::scans::attacking;
use crate::callers::{Caller, Sending, World, skill};
use crate::reviewing::{self, ATTACK, POISON, WHY, saying};
use crate::service::printed;
use crate::talk::Talk;

pub(super) fn poisoned(name: &str) -> Value {
    saying(name, POISON)
}

/// Saves a skill in a tainted session and returns the waiting submission.
pub(super) async fn hold(who: &Caller, talk: &Talk, skill: &Value) -> Value {
    who.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(skill).await.ok(202)
}

pub(super) fn id(submission: &Value) -> &str {
    submission["id"].as_str().unwrap()
}

pub(super) fn decide(who: &Caller, submission: &Value, verdict: &str, comment: &str) -> Sending {
    reviewing::decide(who, submission, verdict, json!({"comment": comment}))
}

#[tokio::test]
async fn a_save_of_a_tainted_session_waits_until_a_person_approves_it() {
    let world = World::new().await;
    let World { alice, bob, admin, .. } = &world;
    let talk = Talk::tainted(alice).await;
    let waiting = hold(alice, &talk, &poisoned("mail")).await;
    assert_eq!(
        (&waiting["state"], &waiting["tainted"], &waiting["tainted_by"], &waiting["base_version"]),
        (&json!("needs_review"), &json!(true), &json!(["a mail"]), &json!(0)),
        "{waiting}"
    );
    alice.get("/v1/skills/mail").await.refused(404, "not-found");
    assert!(alice.names().await.is_empty());
    // Saving the same text again returns the same submission.
    assert_eq!(hold(alice, &talk, &poisoned("mail")).await["id"], waiting["id"]);
    // The submitter cannot read the text, and another user cannot read the submission.
    let path = format!("/v1/submissions/{}", id(&waiting));
    let own = alice.get(&path).await.ok(200);
    assert!(own.get("diff").is_none() && !own.to_string().contains("invoice"), "{own}");
    bob.get(&path).await.refused(404, "not-found");
    decide(alice, &waiting, "approve", "mine").await.refused(403, "forbidden");
    decide(bob, &waiting, "approve", "not mine").await.refused(403, "forbidden");
    admin.get(&path).await.refused(400, "malformed");
    let other = world.other_tenant().await;
    other.get(&path).header("Knowhow-Reason", WHY).await.refused(404, "not-found");
    for odd in ["short", &"long ".repeat(50)] {
        admin.get(&path).header("Knowhow-Reason", odd).await.refused(400, "malformed");
    }
    let shown = admin.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains(&format!("+{POISON}")), "{shown}");
    let approved = decide(admin, &waiting, "approve", "harmless").await.ok(200);
    assert_eq!((&approved["state"], &approved["applied_version"]), (&json!("approved"), &json!(1)), "{approved}");
    let live = alice.peek("mail").await;
    assert_eq!((&live["tainted"], &live["version"]), (&json!(false), &json!(1)));
    let version = alice.get("/v1/skills/mail/versions").await.ok(200)["items"][0].take();
    assert_eq!((&version["actor"], &version["session"]), (&json!("user:alice"), &json!(talk.id)), "{version}");
    assert!(version["approved_by"].is_string());
    // A decision is final. The approved text is accepted from now on, but another byte makes it wait again.
    decide(admin, &waiting, "reject", "too late").await.refused(409, "decided");
    let mut more = poisoned("mail");
    more["content"] = json!(format!("# mail\n\n{POISON}\n\nFirst this, then that!\n"));
    assert_eq!(hold(alice, &talk, &more).await["state"], "needs_review");
    let log = admin.get("/v1/admin/audit?user=alice&limit=200").await.ok(200);
    for action in ["submission.add", "submission.read", "submission.approved"] {
        assert!(log["items"].as_array().unwrap().iter().any(|entry| entry["action"] == action), "{action}: {log}");
    }
}

#[tokio::test]
async fn patches_fields_files_rollbacks_and_deletes_wait_too() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create(skill("mail")).await;
    alice.replace("mail", "First this", "Last this").await.ok(200);
    let talk = Talk::tainted(alice).await;
    let tainted = |method, path: &str| alice.send(method, path).header("Knowhow-Session", &talk.id);
    let edits = json!({"edits": [{"old_string": "then that", "new_string": POISON}]});
    let patched = tainted(Method::PATCH, "/v1/skills/mail").json(&edits).await.ok(202);
    let fields = tainted(Method::PUT, "/v1/skills/mail/fields").json(&json!({"category": "office"})).await.ok(202);
    let file = tainted(Method::PUT, "/v1/skills/mail/resources/references/a.md").body("text/markdown", "alpha");
    let file = file.await.ok(202);
    let back = tainted(Method::POST, "/v1/skills/mail/rollback").json(&json!({"version": 1})).await.ok(202);
    let gone = tainted(Method::DELETE, "/v1/skills/mail").await.ok(202);
    let kinds: Vec<&Value> = [&patched, &fields, &file, &back, &gone].map(|s| &s["kind"]).to_vec();
    assert_eq!(kinds, ["patch", "save", "save", "rollback", "delete"]);
    assert_eq!(alice.peek("mail").await["version"], 2);
    let listed = alice.get("/v1/submissions?state=needs_review").await.ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 5);
    // Approving one submission makes the others stale. A rebase proposes a stale change for the new version.
    decide(admin, &file, "approve", "fine").await.ok(200);
    assert_eq!(alice.get("/v1/skills/mail/resources/references/a.md").await.text(), "alpha");
    decide(admin, &patched, "approve", "fine").await.refused(409, "stale");
    let again = admin.send(Method::POST, &format!("/v1/submissions/{}/rebase", id(&patched)));
    let again = again.header("Knowhow-Reason", WHY).await.ok(202);
    assert_eq!((&again["base_version"], &again["tainted"]), (&json!(3), &json!(true)), "{again}");
    assert_eq!((&again["submitter"], &again["state"]), (&patched["submitter"], &json!("needs_review")));
    decide(admin, &again, "approve", "fine").await.ok(200);
    let now = alice.peek("mail").await;
    assert!(now["content"].as_str().unwrap().contains(POISON) && now["version"] == 4, "{now}");
    assert_eq!(alice.get("/v1/skills/mail/resources/references/a.md").await.text(), "alpha", "nothing is lost");
    decide(admin, &gone, "approve", "fine").await.refused(409, "stale");
    let gone = tainted(Method::DELETE, "/v1/skills/mail").await.ok(202);
    decide(admin, &gone, "approve", "not needed any more").await.ok(200);
    alice.get("/v1/skills/mail").await.refused(404, "not-found");
}

#[tokio::test]
async fn a_rejection_has_a_comment_and_is_remembered() {
    let World { alice, admin, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let waiting = hold(alice, &talk, &poisoned("mail")).await;
    admin
        .post(&format!("/v1/submissions/{}/reject", id(&waiting)), json!({}))
        .header("Knowhow-Reason", WHY)
        .await
        .invalid("/comment", "is required");
    let rejected = decide(admin, &waiting, "reject", "leave the invoices out").await.ok(200);
    assert_eq!((&rejected["state"], &rejected["comment"]), (&json!("rejected"), &json!("leave the invoices out")));
    let again = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(&poisoned("mail"));
    let again = again.await.refused(409, "rejected");
    assert!(again["detail"].as_str().unwrap().contains("leave the invoices out"), "{again}");
    // The rejected text is recognized under another name.
    assert_eq!(alice.post("/v1/skills", poisoned("post")).await.ok(202)["tainted"], true);
    let waiting = hold(alice, &talk, &skill("other")).await;
    let withdrawn = alice.post(&format!("/v1/submissions/{}/withdraw", id(&waiting)), json!({})).await.ok(200);
    assert_eq!(withdrawn["state"], "withdrawn");
    decide(admin, &waiting, "approve", "too late").await.refused(409, "decided");
}

#[tokio::test]
async fn concurrent_approvals_apply_once() {
    let World { alice, admin, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let waiting = hold(alice, &talk, &poisoned("mail")).await;
    let all = futures_util::future::join_all(
        (0..8).map(|_| async { decide(admin, &waiting, "approve", "fine").await.status }),
    )
    .await;
    assert_eq!(all.iter().filter(|status| **status == 200).count(), 1, "{all:?}");
    assert!(all.iter().all(|status| *status == 200 || *status == 409), "{all:?}");
    assert_eq!(alice.peek("mail").await["version"], 1);
}

#[tokio::test]
async fn a_submission_without_a_reason_to_wait_is_applied_at_once() {
    let World { alice, admin, .. } = &World::new().await;
    let mut body = skill("plan");
    body["reason"] = json!("worked three times");
    let applied = alice.post("/v1/submissions", body.clone()).await.ok(201);
    assert_eq!((&applied["state"], &applied["applied_version"]), (&json!("approved"), &json!(1)), "{applied}");
    assert_eq!(alice.peek("plan").await["version"], 1);
    alice.post("/v1/submissions", body).await.refused(409, "unchanged");
    let edits = json!([{"old_string": "First this", "new_string": "Last this"}]);
    let patch = json!({"skill": "plan", "edits": edits, "reason": "the order was wrong"});
    assert_eq!(alice.post("/v1/submissions", patch.clone()).await.ok(201)["kind"], "patch");
    alice.post("/v1/submissions", json!({"edits": edits})).await.invalid("", "edits need 'skill'");
    alice.post("/v1/submissions", json!({"skill": "plan", "delete": true})).await.ok(201);
    assert!(alice.names().await.is_empty());
    let listed = admin.get("/v1/submissions?user=alice").header("Knowhow-Reason", WHY).await.ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_tenant_sets_what_is_reviewed_and_whether_users_may_review() {
    let settings = json!({"starter_skills": false, "review": "all", "users_review": true});
    let world = &World::with(settings).await;
    let World { alice, .. } = world;
    let waiting = alice.post("/v1/skills", skill("plan")).await.ok(202);
    assert_eq!((&waiting["tainted"], &waiting["state"]), (&json!(false), &json!("needs_review")));
    assert!(waiting["checks"].as_array().unwrap().iter().any(|check| check["outcome"] == "held"), "{waiting}");
    // The agent proposes with an API key. The user decides with their own token, which needs the scope `review`.
    let scopes = json!({"name": "agent", "scopes": ["skills:read", "skills:write", "review"]});
    let key = world.admin.post("/v1/admin/keys", scopes).await.ok(201);
    let agent = alice.with_token(key["secret"].as_str().unwrap()).acting_for("alice");
    let proposed = agent.post("/v1/skills", skill("other")).await.ok(202);
    decide(&agent, &proposed, "approve", "mine").await.refused(403, "forbidden");
    decide(alice, &proposed, "approve", "no scope").await.refused(403, "forbidden");
    let reviewer = world.scoped("alice", "skills:read review");
    let shown = reviewer.get(&format!("/v1/submissions/{}", id(&proposed))).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains("+# other"), "{shown}");
    decide(&reviewer, &proposed, "approve", "good").await.ok(200);
    decide(&reviewer, &waiting, "approve", "own").await.refused(403, "forbidden");
    assert_eq!(alice.names().await, ["other"]);

    let off = &World::with(json!({"starter_skills": false, "review": "off"})).await;
    let talk = Talk::tainted(&off.alice).await;
    let saved = off.alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(&skill("plan"));
    assert_eq!(saved.await.ok(201)["tainted"], true, "live, and marked");
}

#[tokio::test]
async fn a_change_of_a_cached_skill_waits_like_any_other() {
    let World { alice, admin, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let edit = |old: &str, new: &str| json!({"edits": [{"old_string": old, "new_string": new}]});
    let patch = |session: &str, key: &str, body: Value| {
        alice.patch("/v1/skills/mail", body).header("Knowhow-Session", session).header("Idempotency-Key", key)
    };
    let clean = Talk::long(alice).await;
    // The skill is cached because it was just written, so its next change is composed before the database is read.
    alice.create(skill("mail")).await;
    let waiting = patch(&talk.id, "one", edit("then that", POISON)).await.ok(202);
    // The idempotency key is still unused, because the change was not made.
    assert_eq!(patch(&talk.id, "one", edit("then that", POISON)).await.ok(202)["id"], waiting["id"]);
    assert_eq!(patch(&clean.id, "two", edit("First this", "Last this")).await.ok(200)["version"], 2);
    let again = patch(&talk.id, "three", edit("Last this", POISON)).await.ok(202);
    assert_eq!((&again["base_version"], &again["tainted"]), (&json!(2), &json!(true)), "{again}");
    let live = alice.peek("mail").await;
    assert_eq!((&live["version"], &live["tainted"]), (&json!(2), &json!(false)), "{live}");
    decide(admin, &again, "approve", "fine").await.ok(200);
    // After the approval the cached skill has neither its old text nor taint.
    let next = patch(&clean.id, "four", edit("then that", "then all")).await.ok(200);
    assert_eq!((&next["version"], &next["tainted"]), (&json!(4), &json!(false)), "{next}");
    assert!(next["content"].as_str().unwrap().contains(POISON), "{next}");
}

pub(super) fn documents(names: impl Iterator<Item = String>, text: &str) -> Vec<(String, String)> {
    let document =
        |name: &str| format!("---\nname: {name}\ndescription: Does {name}. Use it so.\n---\n# {name}\n\n{text}\n");
    names.map(|name| (format!("{name}/SKILL.md"), document(&name))).collect()
}

pub(super) async fn import(who: &Caller, session: Option<&str>, files: &[(String, String)]) -> Value {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let zip = crate::skills::exchange::zip(&files);
    let sending = who.send(Method::POST, "/v1/skills/import").files(&[("skills.zip", &zip)]);
    let sending = match session {
        Some(session) => sending.header("Knowhow-Session", session),
        None => sending,
    };
    sending.await.ok(200)
}

#[tokio::test]
async fn skills_imported_together_wait_separately() {
    let World { alice, admin, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let names = || (0..40).map(|number| format!("skill-{number}"));
    let files = documents(names(), POISON);
    let report = import(alice, Some(&talk.id), &files).await;
    assert_eq!(
        (&report["waiting"], &report["created"], &report["failed"]),
        (&json!(40), &json!(0), &json!(0)),
        "{report}"
    );
    assert!(alice.names().await.is_empty());
    // Importing the same files again returns the same submissions, even outside of the session, because the text is
    // known.
    let again = import(alice, None, &files).await;
    assert_eq!(again["items"], report["items"]);
    let listed = alice.get("/v1/submissions?state=needs_review&limit=200").await.ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 40);
    let first = json!({"id": report["items"][0]["submission"]});
    decide(admin, &first, "approve", "fine").await.ok(200);
    assert_eq!(alice.names().await, [report["items"][0]["name"].as_str().unwrap()]);
}

#[tokio::test]
async fn an_import_waits_as_a_whole_if_everything_is_reviewed() {
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "review": "all"})).await;
    let report = import(alice, None, &documents((0..5).map(|number| format!("skill-{number}")), "Do it.")).await;
    assert_eq!((&report["waiting"], &report["failed"]), (&json!(5), &json!(0)), "{report}");
    assert!(report["items"].as_array().unwrap().iter().all(|item| item["submission"].is_string()), "{report}");
    assert!(alice.names().await.is_empty());
}

/// Repeating the request does not restore skills that were approved and deleted since.
#[tokio::test]
async fn a_repeated_import_restores_no_deleted_skill() {
    let World { alice, admin, .. } = &World::new().await;
    let files = documents(["setup", "start"].map(str::to_owned).into_iter(), ATTACK);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let zip = crate::skills::exchange::zip(&files);
    let import = || {
        let sending = alice.send(Method::POST, "/v1/skills/import").header("Idempotency-Key", "one");
        sending.files(&[("skills.zip", &zip)])
    };
    let first = import().await.ok(200);
    assert_eq!(first["waiting"], 2, "{first}");
    for item in first["items"].as_array().unwrap() {
        decide(admin, &json!({"id": item["submission"]}), "approve", "our own host").await.ok(200);
        alice.delete(&format!("/v1/skills/{}", item["name"].as_str().unwrap())).await.empty(204);
    }
    let again = import().await.ok(200);
    assert_eq!(
        crate::answers::pluck(&again["items"], "submission"),
        crate::answers::pluck(&first["items"], "submission")
    );
    assert!(alice.names().await.is_empty(), "{again}");
}

#[tokio::test]
async fn at_most_fifty_submissions_wait() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    for number in 0..50 {
        hold(alice, &talk, &skill(&format!("skill-{number}"))).await;
    }
    let one_more = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(&skill("one-more"));
    one_more.await.refused(429, "quota-exceeded");
    alice.create(skill("clean")).await;
}

#[tokio::test]
async fn an_agent_over_mcp_learns_that_its_change_waits() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let call = json!({"name": "skill_save", "arguments": poisoned("mail")});
    let result = alice.rpc("tools/call", call).header("Knowhow-Session", &talk.id).await.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("awaits review by a person") && text.contains("Do not send it again"), "{result}");
    assert!(result["isError"] != true && result["structuredContent"]["submission"].is_string(), "{result}");
    let attack = json!({"name": "skill_save", "arguments": attacking("setup")});
    let result = alice.rpc("tools/call", attack).await.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("awaits review by a person") && text.contains("download-and-run: "), "{result}");
    let submit = json!({"name": "skill_submit", "arguments": {"name": "plan", "description": "Plans. Use to plan.",
        "content": "# Plan\n\nPlan it.\n", "reason": "please look"}});
    let result = alice.rpc("tools/call", submit).await.result();
    assert_eq!(result["structuredContent"]["state"], "approved", "{result}");
    let edits = json!([{"old_string": "Plan it.", "new_string": "Plan it well."}]);
    let submit = json!({"name": "skill_submit", "arguments": {"name": "plan", "edits": edits}});
    assert_eq!(alice.rpc("tools/call", submit).await.result()["structuredContent"]["version"], 2);
}

/// The admin token of `make run` is an operator's token that names the tenant.
#[tokio::test]
async fn an_operator_of_the_tenant_decides_without_a_user() {
    let World { alice, operator, slug, .. } = &World::new().await;
    let (other, talk) = (World::new().await, Talk::tainted(alice).await);
    let token = |slug: &str| printed(&["token", "--operator", "--user", "root", "--tenant", slug]);
    let (of_tenant, of_other) = (operator.with_token(token(slug)), operator.with_token(token(&other.slug)));
    let (first, second) = (hold(alice, &talk, &poisoned("mail")).await, hold(alice, &talk, &poisoned("post")).await);
    let listed = of_tenant.get("/v1/submissions?state=needs_review").header("Knowhow-Reason", WHY).await.ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
    of_tenant.get("/v1/submissions").await.refused(400, "malformed");
    let path = format!("/v1/submissions/{}", id(&first));
    let shown = of_tenant.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    assert!(shown["diff"].as_str().unwrap().contains(POISON), "{shown}");
    for (stranger, status) in [(operator, 403), (&of_other, 404)] {
        assert_eq!(decide(stranger, &first, "approve", "fine").await.status, status);
    }
    decide(&of_tenant, &first, "approve", "fine").await.ok(200);
    decide(&of_tenant, &second, "reject", "no").await.ok(200);
    assert_eq!(alice.names().await, ["mail"]);
    // An operator has no skills.
    of_tenant.get("/v1/skills").await.refused(403, "forbidden");
    of_tenant.post("/v1/skills", skill("x")).await.refused(403, "forbidden");
    of_tenant.get("/v1/skills").header("Knowhow-User", "alice").await.refused(403, "forbidden");
}
