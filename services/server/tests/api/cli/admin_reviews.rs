//! `knowhow admin` for reviewers: submissions, and approvals of tainted texts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::admin_cli::{fails, json_of, printed, run};
use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::reviewing::{ATTACK, POISON, WHY, saying};
use crate::talk::Talk;

/// Characters that control a terminal, reorder text or are invisible.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}txt\u{2066}\u{200b}\u{e0041}\u{9b}2J\rforged";

/// Saves a skill in a tainted session, and returns the id of the waiting submission.
async fn hold(alice: &Caller, skill: &Value) -> String {
    let talk = Talk::tainted(alice).await;
    let save = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id).json(skill);
    save.await.ok(202)["id"].as_str().unwrap().to_owned()
}

/// Asserts that a text has no character that a terminal interprets or hides.
#[track_caller]
fn check_visible(text: &str) {
    for c in HOSTILE.chars().filter(|c| !c.is_ascii_graphic()) {
        assert!(!text.contains(c), "U+{:04X} is printed: {text:?}", u32::from(c));
    }
    assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
}

#[tokio::test]
async fn reviewers_list_show_and_decide_on_submissions() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, operator, read_only, slug, .. } = &world;
    let id = &*hold(alice, &saying("mail", POISON)).await;
    let other = &*hold(alice, &saying("post", &format!("{POISON}\n\n{ATTACK}"))).await;

    let listed = json_of(admin, &["submissions", "--reason", WHY]);
    assert_eq!(pluck(&listed, "id"), [other, id]);
    let listed = printed(admin, &["submissions", "--reason", WHY, "--of", "alice", "--state", "needs_review"]);
    assert!(listed.contains(&format!("{id} needs_review: save of mail for alice by user:alice, tainted")), "{listed}");
    assert!(printed(admin, &["submissions", "--reason", WHY, "--state", "approved"]).contains("no submission"));
    assert_eq!(pluck(&json_of(alice, &["submissions"]), "id"), [other, id]);
    fails(admin, &["submissions", "--of", "alice"], "--reason");
    fails(admin, &["submissions", "--reason", "short"], "--reason");
    fails(admin, &["submissions", "--reason", "line\nbreak"], "control character");
    fails(bob, &["submissions", "--of", "alice", "--reason", WHY], "403");
    fails(operator, &["submissions", "--tenant", slug, "--reason", WHY], "--tenant cannot be used");

    let path = format!("/v1/submissions/{id}");
    let answer = admin.get(&path).header("Knowhow-Reason", WHY).await.ok(200);
    assert_eq!(json_of(admin, &["submission", id, "--reason", WHY]), answer);
    let shown = printed(admin, &["submission", id, "--reason", WHY]);
    for part in [
        "tainted by: a mail",
        "check hash: passed",
        "check scan: passed, rules ",
        "resulting digest: ",
        &format!("\n    +{POISON}\n"),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let found = printed(admin, &["submission", other, "--reason", WHY]);
    let finding = found.lines().find(|line| line.starts_with("  SKILL.md:")).unwrap_or_else(|| panic!("{found}"));
    assert!(finding.contains(", bytes ") && finding.ends_with(')'), "{finding}");
    let own = printed(alice, &["submission", id]);
    assert!(own.contains("only reviewers see the change") && !own.contains("invoice"), "{own}");
    fails(admin, &["submission", id], "--reason");
    fails(bob, &["submission", id, "--reason", WHY], "404");

    // Users, a reader without the scope, and another tenant's admin decide on nothing.
    for (caller, status) in [(alice, "403"), (bob, "403"), (read_only, "403"), (&elsewhere.admin, "404")] {
        fails(caller, &["approve", id, "--reason", WHY], status);
        fails(caller, &["reject", id, "--comment", "no", "--reason", WHY], status);
    }
    fails(&elsewhere.admin, &["submission", id, "--reason", WHY], "404");
    fails(&elsewhere.admin, &["rebase", id, "--reason", WHY], "404");
    assert_eq!(json_of(&elsewhere.admin, &["submissions", "--reason", WHY]), json!([]));

    fails(admin, &["reject", other, "--reason", WHY], "--comment");
    fails(admin, &["approve", id, "--take", "mine", "--reason", WHY], "take");
    let rejected = printed(admin, &["reject", other, "--comment", "not this", "--reason", WHY]);
    assert!(rejected.contains(&format!("{other} rejected: save of post")), "{rejected}");
    let approved = json_of(admin, &["approve", id, "--comment", "Grüße: harmless", "--reason", "Prüfung der Woche"]);
    assert_eq!((&approved["state"], &approved["applied_version"]), (&json!("approved"), &json!(1)));
    assert_eq!(approved["comment"], "Grüße: harmless");
    fails(admin, &["reject", id, "--comment", "too late", "--reason", WHY], "no longer pending");
    assert_eq!(alice.names().await, ["mail"]);
    let log = admin.get("/v1/admin/audit?action=submission.read&limit=200").await.ok(200);
    assert!(log["items"].to_string().contains("Prüfung der Woche"), "{log}");
}

#[tokio::test]
async fn a_submission_of_a_changed_skill_is_not_approved_until_it_is_rebased() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create(saying("mail", "One.\n\nTwo.\n\nThree.")).await;
    let talk = Talk::tainted(alice).await;
    let patch = alice.replace("mail", "One.", POISON).header("Knowhow-Session", &talk.id).await.ok(202);
    let id = patch["id"].as_str().unwrap();
    let shown = json_of(admin, &["submission", id, "--reason", WHY]);
    alice.replace("mail", "First this", "Last this").await.ok(200);
    fails(admin, &["approve", id, "--reason", WHY], "has changed since this was proposed");
    let current = alice.peek("mail").await;
    assert_eq!((&current["version"], current["content"].to_string().contains(POISON)), (&json!(2), false));
    let rebased = json_of(admin, &["rebase", id, "--reason", WHY]);
    let new = rebased["id"].as_str().unwrap();
    assert!(new != id && rebased["base_digest"] != shown["base_digest"], "{rebased}");
    let approved = printed(admin, &["approve", new, "--reason", WHY]);
    assert!(
        approved.contains(&format!("{new} approved: patch of mail")) && approved.contains("as version 3"),
        "{approved}"
    );
    let current = alice.peek("mail").await["content"].to_string();
    assert!(current.contains(POISON) && current.contains("Last this"), "{current}");
}

#[tokio::test]
async fn hostile_text_of_a_submission_is_drawn_as_code_points() {
    let World { alice, admin, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    talk.tell("/taint", json!({"source": "a mail \u{202e}txt\u{200b}"})).await;
    // The service rejects a skill with control characters, and accepts them in the submitter's reason.
    let mut submission = saying("plan", "Pay \u{202e}001 tsrif eht fo\u{202c} each month.");
    submission["reason"] = json!(HOSTILE);
    let submit = alice.send(Method::POST, "/v1/submissions").header("Knowhow-Session", &talk.id).json(&submission);
    let waiting = submit.await.ok(202);
    let id = waiting["id"].as_str().unwrap();
    for arguments in [&["submission", id, "--reason", WHY][..], &["submission", id, "--reason", WHY, "--json"]] {
        let output = run(admin, arguments);
        assert!(output.status.success(), "{output:?}");
        check_visible(std::str::from_utf8(&output.stdout).unwrap());
    }
    let shown = printed(admin, &["submission", id, "--reason", WHY]);
    assert!(shown.contains("reason: <U+001B>[2J") && shown.contains("\n    +Pay <U+202E>001 "), "{shown}");
    check_visible(&printed(admin, &["submissions", "--reason", WHY]));
    let comment = printed(admin, &["reject", id, "--comment", HOSTILE, "--reason", WHY]);
    check_visible(&comment);
}

#[tokio::test]
async fn tainted_versions_memories_and_souls_are_approved() {
    let (world, elsewhere) = (World::unreviewed().await, World::new().await);
    let World { alice, admin, read_only, .. } = &world;
    let talk = Talk::tainted(alice).await;
    let tainted = |method, path: &str| alice.send(method, path).header("Knowhow-Session", &talk.id);
    let skill = tainted(Method::POST, "/v1/skills").json(&saying("mail", POISON)).await.ok(201);
    let skill = skill["id"].as_str().unwrap();
    let memory = json!({"content": format!("Pays late {HOSTILE}"), "core": true});
    let memory = tainted(Method::POST, "/v1/memories").json(&memory).await.ok(201);
    let memory = memory["id"].as_str().unwrap();
    tainted(Method::PUT, "/v1/soul").json(&json!({"text": "Be kind."})).await.ok(200);

    let version = printed(admin, &["version", skill, "1", "--reason", WHY]);
    assert!(version.contains("tainted by: a mail") && version.contains(&format!("\n    {POISON}\n")), "{version}");
    let listed = printed(admin, &["memories", "--tainted", "--of", "alice", "--reason", WHY]);
    assert!(listed.contains(memory) && listed.contains("<U+001B>[2J"), "{listed}");
    check_visible(&listed);
    let souls = json_of(admin, &["souls", "--tainted", "--of", "alice", "--reason", WHY]);
    assert_eq!(pluck(&souls, "version"), ["1"]);

    let commands: [Vec<&str>; 3] = [
        vec!["approve-version", skill, "1", "--reason", WHY],
        vec!["approve-memory", memory, "1", "--of", "alice", "--comment", "asked her", "--reason", WHY],
        vec!["approve-soul", "1", "--of", "alice", "--reason", WHY],
    ];
    for command in &commands {
        fails(read_only, command, "403");
        fails(alice, command, "403");
        // In another tenant there is no such user, skill or memory.
        fails(&elsewhere.admin, command, "404");
    }
    fails(admin, &["approve-memory", memory, "1", "--of", "alice"], "--reason");
    fails(admin, &["approve-version", skill, "1", "--reason", "ok"], "8 to 200");
    let approved = json_of(admin, &commands[0]);
    assert_eq!((&approved["tainted"], &approved["version"]), (&json!(false), &json!(1)), "{approved}");
    for command in &commands {
        let line = printed(admin, command);
        assert!(line.contains(", approved by user:anna-admin") && !line.contains(", tainted"), "{line}");
        check_visible(&line);
    }
    assert_eq!(json_of(admin, &["memories", "--tainted", "--of", "alice", "--reason", WHY]), json!([]));
    assert!(printed(admin, &["souls", "--tainted", "--of", "alice", "--reason", WHY]).contains("no such version"));
}
