//! Counter-examples: skills that a turn offered and that were ignored or did not apply.

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::examples::{OSLO, ROME, examples, learned, load, messages, report, settle};
use crate::service::{poll_async, shared};
use crate::sessions::everyday::{ready, vectors_made, with_model, world};
use crate::talk::{MAIL, Talk, brought, create_described, names};

/// Returns the messages of a skill, the newest first, and whether each is a counter-example.
async fn marked(who: &Caller, skill: &str) -> Vec<(String, bool)> {
    let of = |example: &Value| {
        (example["message"].as_str().unwrap().to_owned(), example["counter_example"].as_bool().unwrap())
    };
    examples(who, skill).await.iter().map(of).collect()
}

async fn report_inapplicable(who: &Caller, session: &str, skill: &str) -> Value {
    let body = json!({"skill": skill, "session_key": session, "outcome": "inapplicable"});
    who.post("/v1/skills/used", body).await.ok(200)
}

async fn offers(who: &Caller, skill: &str) -> (i64, i64, i64) {
    let analytics = who.get("/v1/analytics/skills").await.ok(200);
    let of = |found: &Value| {
        let number = |member: &str| found[member].as_i64().unwrap();
        (number("offered"), number("ignored"), number("inapplicable"))
    };
    let all = analytics["offered"].as_array().unwrap();
    let sum = |member: &str| all.iter().map(|found| found[member].as_i64().unwrap()).sum::<i64>();
    let total = (sum("offered"), sum("ignored"), sum("inapplicable"));
    assert_eq!(of(&analytics["offers"]), total, "{analytics}");
    all.iter().find(|found| found["name"] == skill).map_or((0, 0, 0), of)
}

#[tokio::test]
async fn an_inapplicable_report_counts_no_use_and_adds_a_counter_example() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create_all(&["trips", "rides"]).await;
    let talk = Talk::open(alice, json!({"key": "k"})).await;
    talk.say(ROME).await;
    load(alice, &talk.id, "trips").await;
    learned(alice, "trips", &[ROME]).await;
    assert_eq!(report_inapplicable(alice, "k", "trips").await, json!({"counted": true, "times_used": 1}));
    assert_eq!(report_inapplicable(alice, &talk.id, "trips").await, json!({"counted": false, "times_used": 1}));
    assert_eq!(marked(alice, "trips").await, [(ROME.to_owned(), true)], "the example gives way");
    // A load in the same turn does not undo the report, but a reported success does.
    load(alice, &talk.id, "trips").await;
    settle().await;
    assert_eq!(marked(alice, "trips").await, [(ROME.to_owned(), true)]);
    report(alice, &talk.id, "trips", json!("success")).await;
    poll_async("the example", async || (marked(alice, "trips").await == [(ROME.to_owned(), false)]).then_some(()))
        .await;
    // In a later turn the last report wins again. A reported failure keeps the counter-example.
    talk.say(ROME).await;
    report_inapplicable(alice, &talk.id, "trips").await;
    report(alice, &talk.id, "trips", json!("failure")).await;
    assert_eq!(marked(alice, "trips").await, [(ROME.to_owned(), true)]);
    talk.say(ROME).await;
    load(alice, &talk.id, "trips").await;
    poll_async("the example", async || (marked(alice, "trips").await == [(ROME.to_owned(), false)]).then_some(()))
        .await;
    assert_eq!(offers(alice, "trips").await.2, 2);
    // A report without a session is counted, and no message is learned.
    let body = json!({"skill": "rides", "outcome": "inapplicable"});
    assert_eq!(alice.post("/v1/skills/used", body).await.ok(200), json!({"counted": true, "times_used": 0}));
    assert_eq!((offers(alice, "rides").await.2, marked(alice, "rides").await.len()), (1, 0));
    assert!(alice.peek("rides").await["last_used_at"].is_null());
    let audit = admin.get("/v1/admin/audit?limit=200").await;
    assert!(!audit.text().contains(ROME) && !shared().log().contains(ROME));
}

#[tokio::test]
async fn counter_examples_are_deleted_exported_and_imported_like_examples() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["trips", "rides"]).await;
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    report_inapplicable(alice, &talk.id, "trips").await;
    talk.say(OSLO).await;
    load(alice, &talk.id, "trips").await;
    learned(alice, "trips", &[OSLO, ROME]).await;
    let archive = alice.get("/v1/skills/export?examples=true").await.body;
    let import = async || bob.send(Method::POST, "/v1/skills/import").files(&[("skills.zip", &archive)]).await.ok(200);
    assert_eq!(import().await["examples"]["added"], 2);
    assert_eq!(import().await["examples"]["unchanged"], 2);
    let mut both = marked(bob, "trips").await;
    both.sort_unstable();
    assert_eq!(both, [(OSLO.to_owned(), false), (ROME.to_owned(), true)]);
    assert_eq!(bob.get("/v1/skills/export?examples=true").await.body, archive);
    // An absorbing skill takes over examples but no counter-examples.
    alice.delete("/v1/skills/trips").json(&json!({"absorbed_into": "rides"})).await.empty(204);
    assert_eq!(marked(alice, "rides").await, [(OSLO.to_owned(), false)]);
    let id = examples(bob, "trips").await.iter().find(|e| e["counter_example"] == true).unwrap()["id"].clone();
    bob.delete(&format!("/v1/skills/trips/examples/{}", id.as_str().unwrap())).await.empty(204);
    assert_eq!(marked(bob, "trips").await, [(OSLO.to_owned(), false)]);
}

#[tokio::test]
async fn a_counter_example_affects_only_its_user() {
    let world = World::new().await;
    let others = [world.bob.clone(), world.other_tenant().await];
    world.alice.create_all(&["trips"]).await;
    let talk = Talk::open(&world.alice, json!({"key": "k"})).await;
    talk.say(ROME).await;
    report_inapplicable(&world.alice, "k", "trips").await;
    for other in &others {
        let body = json!({"skill": "trips", "session_key": talk.id, "outcome": "inapplicable"});
        other.post("/v1/skills/used", body).await.refused(404, "not-found");
        other.create_all(&["trips"]).await;
        for session in ["k", &talk.id] {
            report_inapplicable(other, session, "trips").await;
        }
        assert!(examples(other, "trips").await.is_empty());
        assert_eq!(offers(other, "trips").await, (0, 0, 2), "without a session of their own each report counts");
    }
    assert_eq!(marked(&world.alice, "trips").await, [(ROME.to_owned(), true)]);
    assert_eq!(offers(&world.alice, "trips").await.2, 1);
}

#[tokio::test]
async fn tainted_sessions_and_opted_out_tenants_learn_no_counter_examples() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["trips"]).await;
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    report_inapplicable(alice, &talk.id, "trips").await;
    assert_eq!(marked(alice, "trips").await.len(), 1);
    talk.tell("/taint", json!({"source": "a mail"})).await;
    assert!(examples(alice, "trips").await.is_empty(), "what the session taught before goes at once");
    talk.say(OSLO).await;
    assert_eq!(report_inapplicable(alice, &talk.id, "trips").await["counted"], true);
    assert!(examples(alice, "trips").await.is_empty());
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "learn_from_use": false})).await;
    alice.create_all(&["trips"]).await;
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    assert_eq!(report_inapplicable(alice, &talk.id, "trips").await["counted"], true);
    assert!(examples(alice, "trips").await.is_empty());
    assert_eq!(offers(alice, "trips").await.2, 1);
}

#[tokio::test]
async fn an_agent_reports_outcomes_over_mcp() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    alice.create_all(&["trips"]).await;
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    let report = |who: &Caller, outcome: &str| {
        let arguments = json!({"name": "trips", "outcome": outcome});
        who.tool("skill_used", arguments).header("Knowhow-Session", &talk.id)
    };
    let answer = report(alice, "inapplicable").await.done("skill_used");
    assert_eq!(answer, json!({"counted": true, "times_used": 0}));
    assert_eq!(report(alice, "inapplicable").await.done("skill_used")["counted"], false);
    assert_eq!(marked(alice, "trips").await, [(ROME.to_owned(), true)]);
    assert_eq!(report(alice, "success").await.done("skill_used"), json!({"counted": true, "times_used": 1}));
    poll_async("the example", async || (marked(alice, "trips").await == [(ROME.to_owned(), false)]).then_some(()))
        .await;
    let (_, problem) = bob.fails("skill_used", json!({"name": "trips", "outcome": "inapplicable"})).await;
    assert_eq!(problem["status"], 404);
    let (_, problem) = alice.fails("skill_used", json!({"name": "trips", "outcome": "perfect"})).await;
    assert_eq!(problem["status"], 422);
    let (_, problem) = alice.fails("skill_used", json!({"name": "trips"})).await;
    assert_eq!(problem["status"], 422);
    read_only.does("skill_used", json!({"name": "trips", "outcome": "partial"})).await;
}

#[tokio::test]
async fn turns_count_offered_and_ignored_skills() {
    let World { alice, bob, .. } = &World::new().await;
    create_described(alice, &MAIL).await;
    let talk = Talk::long(alice).await;
    let ask = "please send an attachment with my mail";
    let turn = |body: Value| talk.turn(body);
    let first = json!({"message": ask, "turn_key": "1", "deadline_ms": 30_000});
    let answer = turn(first.clone()).await.ok(200);
    assert_eq!(names(&answer, "relevant")[0], "mcp/email");
    assert_eq!(turn(first).await.ok(200), answer, "the same turn again");
    assert_eq!(offers(alice, "mcp/email").await, (1, 0, 0));
    // The skill is not used until the next turn, which does not offer the skill again because the session has seen
    // it.
    talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (1, 1, 0));
    talk.say("xyzzy xyzzy xyzzy xyzzy again").await;
    assert_eq!(offers(alice, "mcp/email").await, (1, 1, 0), "it is judged once");
    // A use between two turns counts even without a session.
    turn(json!({"message": ask, "context_reset": true, "deadline_ms": 30_000})).await.ok(200);
    alice.get("/v1/skills/mcp%2Femail").await.ok(200);
    talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (2, 1, 0));
    // A skill that the message calls, or whose body is included, counts as used.
    let called = json!({"message": "use mcp/email for this one, please", "context_reset": true, "deadline_ms": 30_000});
    assert_eq!(names(&turn(called).await.ok(200), "active"), ["mcp/email"]);
    talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (3, 1, 0));
    let inline = Talk::open(alice, json!({"inline_top": true, "tools": "full"})).await;
    assert!(inline.say(ask).await["relevant"][0]["content"].is_string());
    inline.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (4, 1, 0));
    // The explanations contain the counts.
    let why = alice.post("/v1/skills/match", json!({"message": ask, "explain": true})).await.ok(200);
    let email = &why["explanation"]["candidates"][0];
    assert_eq!(
        (&email["name"], &email["offers"]),
        (&json!("mcp/email"), &json!({"offered": 4, "ignored": 1, "inapplicable": 0}))
    );
    assert_eq!(email["parts"]["counter_examples"], 0.0);
    let suggested = alice.get("/v1/skills/suggest?context=send+mail&explain=true").await.ok(200);
    assert_eq!(suggested["explanation"]["candidates"][0]["offers"]["ignored"], 1);
    assert_eq!(offers(bob, "mcp/email").await, (0, 0, 0));
    // Being ignored does not change the score of a skill.
    let fresh = Talk::long(alice).await;
    assert_eq!(pluck(&fresh.say(ask).await["relevant"], "score"), pluck(&answer["relevant"], "score"));
}

#[tokio::test]
async fn an_inapplicable_skill_does_not_count_as_ignored() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &MAIL).await;
    let talk = Talk::long(alice).await;
    let answer = talk.say("please send an attachment with my mail").await;
    assert_eq!(names(&answer, "relevant")[0], "mcp/email");
    report_inapplicable(alice, &talk.id, "mcp/email").await;
    talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (1, 0, 1));
    // The report applies to its own turn only.
    talk.turn(json!({"message": "please send an attachment with my mail", "context_reset": true})).await.ok(200);
    talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!(offers(alice, "mcp/email").await, (2, 1, 1));
}

#[tokio::test]
async fn concurrent_turns_count_each_offer_once() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &MAIL).await;
    let ask = "please send an attachment with my mail";
    let talks = futures_util::future::join_all((0..8).map(|_| Talk::long(alice))).await;
    futures_util::future::join_all(talks.iter().map(|talk| talk.say(ask))).await;
    assert_eq!(offers(alice, "mcp/email").await, (8, 0, 0));
    // Concurrent turns of one session run one after the other.
    let body = json!({"message": "xyzzy xyzzy xyzzy xyzzy", "deadline_ms": 30_000});
    let again = talks.iter().flat_map(|talk| (0..3).map(|_| talk.turn(body.clone()).into_future()));
    for answer in futures_util::future::join_all(again).await {
        answer.ok(200);
    }
    assert_eq!(offers(alice, "mcp/email").await, (8, 8, 0));
}

/// With the real model: a skill that did not apply once is not recalled for similar messages, but still for other
/// ones.
#[tokio::test]
async fn a_counter_example_keeps_similar_messages_from_recalling_a_skill() {
    let Some(service) = with_model() else { return };
    let world = world(&service, json!({"starter_skills": false})).await;
    let (alice, bob) = (&world.alice, &world.bob);
    let skills = [
        ("book-table", "Books a table at a restaurant. Use when somebody wants to eat out."),
        ("read-mail", "Reads the inbox and says what is new."),
    ];
    for who in [alice, bob] {
        create_described(who, &skills).await;
    }
    vectors_made(&world.slug).await;
    ready(alice, "please book a table at a restaurant", "book-table").await;
    let (wrong, alike) =
        ("book a table in the library for my study group", "can you book a table at the library for our study group?");
    let (right, named) = ("please reserve us a table for dinner at Luigi's tonight", "use book-table for the library");
    let comes = async |who: &Caller, message: &str| {
        let turn = Talk::long(who).await.say(message).await;
        brought(&turn).contains(&"book-table".to_owned())
    };
    for message in [wrong, alike, right, named] {
        assert!(comes(alice, message).await, "{message}");
    }
    for (over, skill_used) in [("rest", false), ("mcp", true)] {
        let talk = Talk::long(alice).await;
        talk.say(wrong).await;
        match skill_used {
            true => {
                let arguments = json!({"name": "book-table", "outcome": "inapplicable"});
                alice.tool("skill_used", arguments).header("Knowhow-Session", &talk.id).await.done("skill_used");
            }
            false => drop(report_inapplicable(alice, &talk.id, "book-table").await),
        }
        for message in [wrong, alike] {
            assert!(!comes(alice, message).await, "{over}: {message}");
        }
        for message in [right, named] {
            assert!(comes(alice, message).await, "{over}: {message}");
        }
        assert!(comes(bob, alike).await, "another user has learned nothing");
        let why = alice.post("/v1/skills/match", json!({"message": alike, "explain": true})).await.ok(200);
        let table = why["explanation"]["candidates"].as_array().unwrap().iter().find(|c| c["name"] == "book-table");
        let parts = &table.unwrap()["parts"];
        assert!(parts["counter_examples"].as_f64().unwrap() > 0.7, "{parts}");
        // A later use makes the message an example again.
        let talk = Talk::long(alice).await;
        talk.say(wrong).await;
        load(alice, &talk.id, "book-table").await;
        poll_async("the example", async || {
            marked(alice, "book-table").await.contains(&(wrong.to_owned(), false)).then_some(())
        })
        .await;
        assert!(comes(alice, alike).await, "{over}");
    }
    assert!(messages(alice, "read-mail").await.is_empty());
}
