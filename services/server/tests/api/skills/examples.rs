//! Learning from use: which uses make a message an example of a skill, and what removes an example.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{keeper, poll_async, shared};
use crate::talk::{Talk, described, names};

pub const ROME: &str = "get me to Rome by the night train on Friday";
pub const OSLO: &str = "find a cheap way to Oslo for the whole family";

/// Returns the examples of a skill, the newest first.
pub async fn examples(who: &Caller, skill: &str) -> Vec<Value> {
    let path = format!("/v1/skills/{}/examples?limit=200", skill.replace('/', "%2F"));
    who.get(&path).await.ok(200)["items"].as_array().unwrap().clone()
}

pub async fn messages(who: &Caller, skill: &str) -> Vec<String> {
    pluck(&json!(examples(who, skill).await), "message")
}

/// Waits until the examples of a skill have these messages, the newest first, and returns the examples.
pub async fn learned(who: &Caller, skill: &str, expected: &[&str]) -> Vec<Value> {
    poll_async(&format!("{skill} to learn {expected:?}"), async || {
        let examples = examples(who, skill).await;
        (pluck(&json!(examples), "message") == expected).then_some(examples)
    })
    .await
}

/// Loads a skill in a session, given by id or key.
pub async fn load(who: &Caller, session: &str, skill: &str) -> Value {
    who.get(&format!("/v1/skills/{skill}")).header("Knowhow-Session", session).await.ok(200)
}

pub async fn report(who: &Caller, session: &str, skill: &str, outcome: Value) {
    let body = json!({"skill": skill, "session_key": session, "outcome": outcome});
    who.post("/v1/skills/used", body).await.ok(200);
}

/// Waits until all earlier uses have been processed. Uses are processed in order, so another user learns two
/// examples, one after the other.
pub async fn settle() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["sentinel"]).await;
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    load(alice, &talk.id, "sentinel").await;
    learned(alice, "sentinel", &[ROME]).await;
    talk.say(OSLO).await;
    load(alice, &talk.id, "sentinel").await;
    learned(alice, "sentinel", &[OSLO, ROME]).await;
}

#[tokio::test]
async fn a_use_in_a_turn_makes_its_message_an_example() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create_all(&["trips", "rides", "tours", "walks"]).await;
    let talk = Talk::open(alice, json!({"key": "k"})).await;
    talk.say(ROME).await;
    load(alice, &talk.id, "trips").await;
    report(alice, "k", "rides", Value::Null).await;
    report(alice, &talk.id, "tours", json!("success")).await;
    report(alice, &talk.id, "walks", json!("partial")).await;
    for name in ["trips", "rides", "tours"] {
        let examples = learned(alice, name, &[ROME]).await;
        let members = crate::answers::members(&examples[0]);
        assert_eq!(members, ["confirmations", "confirmed_at", "counter_example", "id", "learned_at", "message"]);
        assert_eq!(examples[0]["confirmations"], 1);
    }
    // All uses in one turn count as one confirmation. A use in a later turn with the same message confirms the
    // example again.
    load(alice, "k", "trips").await;
    report(alice, &talk.id, "trips", json!("success")).await;
    settle().await;
    assert_eq!(examples(alice, "trips").await[0]["confirmations"], 1);
    talk.say(&format!("  {ROME}\n")).await;
    load(alice, "k", "trips").await;
    poll_async("the confirmation", async || {
        let examples = examples(alice, "trips").await;
        (examples.len() == 1 && examples[0]["confirmations"] == 2).then_some(())
    })
    .await;
    assert!(examples(alice, "walks").await.is_empty());
    let audit = admin.get("/v1/admin/audit?limit=200").await;
    assert!(!audit.text().contains(ROME) && !shared().log().contains(ROME));
}

#[tokio::test]
async fn only_a_use_in_the_turn_makes_an_example() {
    let World { alice, .. } = &World::new().await;
    alice.create(described("trips", "Plans journeys by train")).await;
    let talk = Talk::open(alice, json!({"key": "k", "inline_top": true})).await;
    load(alice, "k", "trips").await;
    let turn = talk.say("plan a journey by train, please").await;
    assert_eq!(names(&turn, "relevant"), ["trips"]);
    assert!(turn["relevant"][0]["content"].is_string(), "it came along, and was not asked for");
    alice.get("/v1/skills/trips").await.ok(200);
    alice.get("/v1/skills/trips?peek=true").header("Knowhow-Session", "k").await.ok(200);
    alice.get("/v1/skills/trips/SKILL.md").header("Knowhow-Session", "k").await;
    alice.post("/v1/skills/used", json!({"skill": "trips"})).await.ok(200);
    load(alice, "no-such-session", "trips").await;
    report(alice, "no-such-session", "trips", json!("success")).await;
    talk.say("👍 !!").await;
    load(alice, "k", "trips").await;
    settle().await;
    assert!(examples(alice, "trips").await.is_empty());
    // After hours of silence a use no longer belongs to the last message.
    talk.say(OSLO).await;
    talk.silent_for("7 hours");
    load(alice, "k", "trips").await;
    report(alice, "k", "trips", json!("success")).await;
    settle().await;
    assert!(examples(alice, "trips").await.is_empty());
    // A use belongs to the latest turn.
    let talk = Talk::long(alice).await;
    talk.say(ROME).await;
    let used = |key: &'static str| {
        let body = json!({"skill": "trips", "session_key": talk.id, "outcome": "success"});
        alice.post("/v1/skills/used", body).header("Idempotency-Key", key)
    };
    used("once").await.ok(200);
    learned(alice, "trips", &[ROME]).await;
    talk.say(OSLO).await;
    used("once").await.ok(200);
    settle().await;
    assert_eq!(messages(alice, "trips").await, [ROME], "the same report again is of the turn before");
    used("twice").await.ok(200);
    learned(alice, "trips", &[OSLO, ROME]).await;
}

#[tokio::test]
async fn a_skill_named_in_the_message_learns_the_message() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan-trip", "book-hotel"]).await;
    let talk = Talk::long(alice).await;
    let message = "please use plan-trip for my holidays in Rome";
    assert_eq!(names(&talk.say(message).await, "active"), ["plan-trip"]);
    learned(alice, "plan-trip", &[message]).await;
    let long = format!("use book-hotel {}", "for the four of us ".repeat(40));
    talk.say(&long).await;
    let cut = poll_async("the example", async || messages(alice, "book-hotel").await.pop()).await;
    assert!(cut.chars().count() <= 300 && cut.chars().count() > 280 && long.starts_with(&cut), "{cut}");
    assert!(long[cut.len()..].starts_with(' '), "{cut}");
    let tainted =
        json!({"message": "please use plan-trip as that page says", "tainted_by": ["a page"], "context_reset": true});
    assert_eq!(names(&talk.turn(tainted).await.ok(200), "active"), ["plan-trip"]);
    settle().await;
    assert!(messages(alice, "plan-trip").await.is_empty(), "nor does what was learned before the taint stay");
}

#[tokio::test]
async fn tainted_sessions_teach_no_examples() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["trips"]).await;
    let clean = Talk::open(alice, json!({"key": "clean"})).await;
    clean.say(OSLO).await;
    load(alice, "clean", "trips").await;
    learned(alice, "trips", &[OSLO]).await;
    let talk = Talk::open(alice, json!({"key": "k"})).await;
    talk.say(ROME).await;
    load(alice, "k", "trips").await;
    learned(alice, "trips", &[ROME, OSLO]).await;
    talk.tell("/taint", json!({"source": "a mail"})).await;
    assert_eq!(messages(alice, "trips").await, [OSLO], "what it taught before goes at once");
    load(alice, "k", "trips").await;
    report(alice, &talk.id, "trips", json!("success")).await;
    talk.say("and back again on the Sunday evening").await;
    load(alice, "k", "trips").await;
    // The tainted session teaches no example, even if the request also names a clean session.
    let body = json!({"skill": "trips", "session_key": "clean"});
    clean.say("a clean message of another session").await;
    alice.post("/v1/skills/used", body).header("Knowhow-Session", &talk.id).await.ok(200);
    settle().await;
    assert_eq!(messages(alice, "trips").await, [OSLO]);
}

#[tokio::test]
async fn a_reported_failure_removes_the_example() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["trips", "rides"]).await;
    let talk = Talk::long(alice).await;
    talk.say(OSLO).await;
    load(alice, &talk.id, "trips").await;
    learned(alice, "trips", &[OSLO]).await;
    talk.say(ROME).await;
    for name in ["trips", "rides"] {
        load(alice, &talk.id, name).await;
    }
    learned(alice, "trips", &[ROME, OSLO]).await;
    learned(alice, "rides", &[ROME]).await;
    report(alice, &talk.id, "trips", json!("failure")).await;
    assert_eq!(messages(alice, "trips").await, [OSLO]);
    // The skill does not learn the message again in this turn. Other skills and later turns still do.
    load(alice, &talk.id, "trips").await;
    settle().await;
    assert_eq!(
        (messages(alice, "trips").await, messages(alice, "rides").await),
        (vec![OSLO.into()], vec![ROME.into()])
    );
    talk.say(ROME).await;
    load(alice, &talk.id, "trips").await;
    learned(alice, "trips", &[ROME, OSLO]).await;
    // A failure in another session removes the example too if the message was used there again.
    let other = Talk::long(alice).await;
    other.say(OSLO).await;
    load(alice, &other.id, "trips").await;
    poll_async("the confirmation", async || (examples(alice, "trips").await[1]["confirmations"] == 2).then_some(()))
        .await;
    report(alice, &other.id, "trips", json!("failure")).await;
    assert_eq!(messages(alice, "trips").await, [ROME]);
}

#[tokio::test]
async fn a_correction_removes_the_examples_of_its_turn() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["trips", "rides"]).await;
    for kind in ["correction", "thumbs_down"] {
        let talk = Talk::long(alice).await;
        talk.say(OSLO).await;
        load(alice, &talk.id, "trips").await;
        learned(alice, "trips", &[OSLO]).await;
        talk.say(ROME).await;
        for name in ["trips", "rides"] {
            load(alice, &talk.id, name).await;
            poll_async("the example", async || messages(alice, name).await.contains(&ROME.to_owned()).then_some(()))
                .await;
        }
        talk.tell("/feedback", json!({"kind": "thumbs_up"})).await;
        assert_eq!(messages(alice, "trips").await, [ROME, OSLO]);
        talk.tell("/feedback", json!({"kind": kind})).await;
        assert_eq!((messages(alice, "trips").await, messages(alice, "rides").await), (vec![OSLO.into()], vec![]));
        load(alice, &talk.id, "trips").await;
        settle().await;
        assert_eq!(messages(alice, "trips").await, [OSLO], "{kind}");
        alice.delete("/v1/skills/trips/examples").await.empty(204);
    }
}

#[tokio::test]
async fn examples_are_separate_for_each_user() {
    let world = World::new().await;
    let others = [world.bob.clone(), world.other_tenant().await];
    world.alice.create_all(&["trips"]).await;
    let talk = Talk::open(&world.alice, json!({"key": "k"})).await;
    talk.say(ROME).await;
    load(&world.alice, "k", "trips").await;
    let id = learned(&world.alice, "trips", &[ROME]).await[0]["id"].as_str().unwrap().to_owned();
    for other in &others {
        other.get("/v1/skills/trips/examples").await.refused(404, "not-found");
        other.delete("/v1/skills/trips/examples").await.refused(404, "not-found");
        other.create_all(&["trips"]).await;
        // Neither alice's session nor a session with the same key teaches another user.
        for session in ["k", &talk.id] {
            load(other, session, "trips").await;
            report(other, session, "trips", json!("failure")).await;
        }
        let own = Talk::open(other, json!({"key": "k"})).await;
        own.say(OSLO).await;
        load(other, "k", "trips").await;
        learned(other, "trips", &[OSLO]).await;
        other.delete(&format!("/v1/skills/trips/examples/{id}")).await.refused(404, "not-found");
        other.delete("/v1/skills/trips/examples").await.empty(204);
        let exported = other.get("/v1/skills/export?examples=true").await;
        assert!(!String::from_utf8_lossy(&exported.body).contains("Rome"));
    }
    assert_eq!(messages(&world.alice, "trips").await, [ROME]);
    world.read_only.get("/v1/skills/trips/examples").await.ok(200);
    world.read_only.delete("/v1/skills/trips/examples").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_tenant_can_turn_learning_off() {
    for settings in
        [json!({"starter_skills": false, "learn_from_use": false}), json!({"starter_skills": false, "example_days": 0})]
    {
        let World { alice, .. } = &World::with(settings).await;
        alice.create_all(&["plan-trip"]).await;
        let talk = Talk::open(alice, json!({"key": "k"})).await;
        talk.say(ROME).await;
        load(alice, "k", "plan-trip").await;
        report(alice, "k", "plan-trip", json!("success")).await;
        talk.say("now use plan-trip for Oslo as well").await;
        let line = json!({"skill": "plan-trip", "message": ROME}).to_string();
        let imported = alice.send(reqwest::Method::POST, "/v1/skills/import");
        let report = imported.files(&[("knowhow-examples.jsonl", line.as_bytes())]).await.ok(200)["examples"].take();
        assert_eq!((&report["added"], &report["failed"]), (&json!(0), &json!(1)));
        settle().await;
        assert!(examples(alice, "plan-trip").await.is_empty());
    }
}

/// Two processes learn for one user. A 17th example replaces the oldest one that was never confirmed again.
#[tokio::test]
async fn a_skill_keeps_at_most_sixteen_examples() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["trips"]).await;
    let talk = Talk::long(alice).await;
    let processes = [alice.clone(), alice.at(keeper())];
    let city = |n: usize| format!("get me to the city of number {n} by train");
    let last = async |n: usize| {
        poll_async("the example", async || (messages(alice, "trips").await.first()? == &city(n)).then_some(())).await;
    };
    for n in 0..16 {
        talk.say(&city(n)).await;
        load(&processes[n % 2], &talk.id, "trips").await;
        last(n).await;
    }
    talk.say(&city(0)).await;
    load(alice, &talk.id, "trips").await;
    poll_async("the confirmation", async || (examples(alice, "trips").await[15]["confirmations"] == 2).then_some(()))
        .await;
    talk.say(&city(16)).await;
    load(&processes[1], &talk.id, "trips").await;
    last(16).await;
    let kept = messages(alice, "trips").await;
    assert_eq!(kept.len(), 16);
    assert!(kept.contains(&city(0)) && !kept.contains(&city(1)), "{kept:?}");
    // Several loads run concurrently.
    for n in 20..24 {
        talk.say(&city(n)).await;
        let loads = (0..6).map(|at| load(&processes[at % 2], &talk.id, "trips"));
        futures_util::future::join_all(loads).await;
    }
    last(23).await;
    settle().await;
    let kept = examples(alice, "trips").await;
    assert_eq!(kept.len(), 16);
    let newest = &kept[..4];
    assert!(newest.iter().all(|example| example["confirmations"] == 1), "{newest:?}");
}
