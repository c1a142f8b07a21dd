//! What a question shows of conversations, and evidence that is used once: by a patch, a rejected patch, or a
//! proposal that waits.

use std::sync::{Arc, Mutex};

use knowhow_testing::Reply;
use serde_json::{Value, json};

use super::dreams_nights::calendar::{end, sleep};
use super::dreams_stage::{Dreamer, Stage, plan};
use crate::sql::execute_at;
use crate::talk::Talk;

/// Creates a skill of the user's agent with eight steps, which is old.
async fn procedure(stage: &Stage, user: &Dreamer, name: &str) {
    let lines: String =
        (0..8).map(|n| format!("{n}. Step {n} of {name}: look at it and say what it shows.\n")).collect();
    let description = format!("Does {name} for a customer. Use when somebody asks for {name}.");
    user.agent
        .create(json!({"name": name, "description": description, "content": format!("## Steps\n\n{lines}")}))
        .await;
    for table in ["skills", "skill_versions"] {
        stage.set(user, table, "created_at = now() - interval '30 days'");
    }
}

/// Holds a conversation that used the skill, with a correction if there is a note.
async fn used(stage: &Stage, user: &Dreamer, skill: &str, note: Option<&str>) -> Talk {
    let talk = Talk::long(&user.who).await;
    talk.say(&format!("use {skill} for me, please")).await;
    talk.tell("/reply", json!({"message": "That is done.", "rounds": 1})).await;
    if let Some(note) = note {
        talk.tell("/feedback", json!({"kind": "correction", "note": note})).await;
    }
    end(stage, &talk);
    stage.idle(user).await;
    talk
}

type Questions = Arc<Mutex<Vec<Value>>>;

/// Makes the model answer each question with the operations that a function returns. Returns the questions.
fn answers(stage: &Stage, user: &Dreamer, answer: impl Fn(&Value) -> Value + Send + 'static) -> Questions {
    let asked = Questions::default();
    let seen = asked.clone();
    stage.says(user, move |question| -> Reply {
        // Other jobs ask the model too.
        if question["pass"].is_null() {
            return plan(&json!([]));
        }
        seen.lock().unwrap().push(question.clone());
        plan(&answer(question))
    });
    asked
}

/// Returns patches that add a line to each failed skill of a question. The line depends on the number of the question.
fn patches(question: &Value, line: &str) -> Value {
    let risks = question["candidates"]["at_risk"].as_array().unwrap().iter();
    let patch = |risk: &Value| {
        let skills = question["skills"].as_array().unwrap();
        let skill = skills.iter().find(|skill| skill["name"] == risk["skill"]).unwrap();
        let last = skill["text"].as_str().unwrap().trim_end().lines().last().unwrap();
        json!({
            "op": "patch", "name": risk["skill"], "version": skill["version"], "evidence": risk["went_badly"],
            "edits": [{"old_string": last, "new_string": format!("{last}\n{line}")}],
        })
    };
    risks.map(patch).collect()
}

/// Returns a model that patches each failed skill, with other words each time.
fn patching(stage: &Stage, user: &Dreamer) -> Questions {
    let count = Mutex::new(0);
    answers(stage, user, move |question| {
        let mut count = count.lock().unwrap();
        *count += 1;
        patches(question, &format!("- Worded for the {count}. time."))
    })
}

fn state(run: &Value) -> (&str, &str) {
    (run["state"].as_str().unwrap(), run["reason"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn a_question_shows_the_request_its_answer_and_the_last_messages_with_tools_and_uses() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    procedure(&stage, &user, "refunds").await;
    let talk = Talk::long(&user.who).await;
    let long = |start: &str, chars: usize| format!("{start} {}", "and more ".repeat(chars / 9));
    talk.say(&long("THE-REQUEST: use refunds for order 17", 3_000)).await;
    let tools = json!([{"name": "orders_get", "ok": true}, {"name": "refund", "ok": false, "error": "card expired"}]);
    talk.tell("/reply", json!({"message": long("THE-ANSWER", 6_000), "rounds": 1, "tool_calls": tools})).await;
    for turn in 2..=9 {
        talk.say(&format!("message {turn}")).await;
        talk.tell("/reply", json!({"message": format!("reply {turn}"), "rounds": 1})).await;
    }
    let outcome = json!({"skill": "refunds", "session_key": talk.id, "outcome": "failure"});
    user.who.post("/v1/skills/used", outcome).await.ok(200);
    talk.tell("/feedback", json!({"kind": "correction", "note": "not to the card"})).await;
    end(&stage, &talk);
    let back = "update usage_events set at = now() - interval '8 hours', outcome_at = now() - interval '8 hours'";
    execute_at(&stage.ground.owner, back);
    stage.idle(&user).await;
    let asked = answers(&stage, &user, |_| json!([]));
    stage.dream(&user, "optimize").await;
    let question = asked.lock().unwrap().pop().unwrap();
    let conversation = &question["conversations"][0];
    let messages = conversation["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 18, "{conversation:#}");
    let (request, answer) = (&messages[0], &messages[1]);
    assert!(request["text"].as_str().unwrap().starts_with("THE-REQUEST"), "{request}");
    assert!(request["text"].as_str().unwrap().len() > 2_900 && request["cut"].is_null(), "{request}");
    assert!(answer["text"].as_str().unwrap().starts_with("THE-ANSWER"), "{answer}");
    assert_eq!((answer["text"].as_str().unwrap().chars().count(), &answer["cut"]), (4_000, &json!(true)));
    assert_eq!(answer["tools"][0], json!({"name": "orders_get", "ok": true}));
    assert_eq!(answer["tools"][1], json!({"name": "refund", "ok": false, "error": "card expired"}));
    assert_eq!(messages[17]["text"], "reply 9");
    let uses = conversation["skills_used"].as_array().unwrap();
    assert!(uses.contains(&json!({"skill": "refunds", "version": 1, "outcome": "failure"})), "{uses:?}");
    let skill = question["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "refunds").unwrap();
    assert_eq!((&skill["last_30_days"]["failures"], &skill["last_30_days"]["successes"]), (&json!(1), &json!(0)));
    stage.service.check_log();
}

#[tokio::test]
async fn conversations_share_the_room_of_a_question() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    procedure(&stage, &user, "refunds").await;
    for n in 0..5 {
        let talk = Talk::long(&user.who).await;
        talk.say(&format!("REQUEST-{n}: use refunds {}", "x".repeat(5_000))).await;
        for turn in 0..if n == 0 { 1 } else { 12 } {
            let reply = json!({"message": format!("reply {turn} {}", "y".repeat(5_000)), "rounds": 1});
            talk.tell("/reply", reply).await;
            talk.say(&format!("and {turn} {}", "z".repeat(5_000))).await;
        }
        talk.tell("/feedback", json!({"kind": "thumbs_down"})).await;
        end(&stage, &talk);
    }
    stage.idle(&user).await;
    let asked = answers(&stage, &user, |_| json!([]));
    stage.dream(&user, "optimize").await;
    let question = asked.lock().unwrap().pop().unwrap();
    let conversations = question["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 3, "{question:#}");
    for conversation in conversations {
        let (messages, size) = (conversation["messages"].as_array().unwrap(), conversation.to_string().len());
        assert!(messages[0]["text"].as_str().unwrap().starts_with("REQUEST-"), "{conversation:#}");
        assert!(messages[1]["text"].as_str().unwrap().starts_with("reply 0"), "{conversation:#}");
        assert!(messages.last().unwrap()["text"].as_str().unwrap().starts_with("and 11"), "{conversation:#}");
        assert!(messages.iter().any(|part| part["left_out"].as_u64() > Some(3)), "{conversation:#}");
        assert!((15_000..22_000).contains(&size), "{size}");
    }
    stage.service.check_log();
}

#[tokio::test]
async fn a_correction_is_answered_by_one_patch() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    procedure(&stage, &user, "refunds").await;
    let asked = patching(&stage, &user);
    used(&stage, &user, "refunds", Some("not to the card")).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    // A later conversation that went well, and a judgement of the old one, are no new evidence.
    sleep(&stage, &user).await;
    let old = used(&stage, &user, "refunds", None).await;
    stage.age(&old, 3);
    old.tell("/feedback", json!({"kind": "correction", "note": "as before"})).await;
    used(&stage, &user, "refunds", None).await;
    for _ in 0..2 {
        let run = stage.dream(&user, "optimize").await;
        assert_eq!(run["state"], "skipped", "{run:#}");
        sleep(&stage, &user).await;
    }
    assert_eq!(asked.lock().unwrap().len(), 1);
    assert_eq!(user.who.get("/v1/dreams/candidates?pass=optimize").await.ok(200)["at_risk"], json!([]));
    // A correction of the new text is.
    used(&stage, &user, "refunds", Some("and send a receipt")).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    let question = asked.lock().unwrap().pop().unwrap();
    let bad = question["candidates"]["at_risk"][0]["went_badly"].as_array().unwrap();
    assert_eq!(bad.len(), 1, "{question:#}");
    stage.service.check_log();
}

#[tokio::test]
async fn outcomes_of_an_older_version_are_answered_by_the_patch() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    procedure(&stage, &user, "refunds").await;
    let fail = async |version: u32| {
        for n in 0..3 {
            let key = format!("k{version}-{n}");
            let used = json!({"skill": "refunds", "session_key": key, "outcome": "failure"});
            user.who.post("/v1/skills/used", used).await.ok(200);
        }
    };
    fail(1).await;
    let asked = patching(&stage, &user);
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    sleep(&stage, &user).await;
    assert_eq!(stage.dream(&user, "optimize").await["state"], "skipped");
    fail(2).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!((&run["state"], asked.lock().unwrap().len()), (&json!("applied"), 2), "{run:#}");
    stage.service.check_log();
}

#[tokio::test]
async fn a_short_skill_grows_only_with_new_uses_and_by_a_bounded_number_of_bytes() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    let short =
        json!({"name": "migrate", "description": "Migrates. Use after an update.", "content": "Run `make migrate`.\n"});
    user.agent.create(short).await;
    stage.set(&user, "skills", "created_at = now() - interval '30 days'");
    used(&stage, &user, "migrate", None).await;
    let count = Mutex::new(0);
    let asked = answers(&stage, &user, move |question| {
        let skills = question["skills"].as_array().unwrap();
        let skill = skills.iter().find(|skill| skill["name"] == "migrate").unwrap();
        *count.lock().unwrap() += 1;
        let room = skill["may_grow"].as_u64().unwrap();
        let line = if room < 3_000 { "x ".repeat(2_000) } else { "Look at the log.".to_owned() };
        let edits = json!([{"old_string": "Run `make migrate`.", "new_string": format!("Run `make migrate`. {line}")}]);
        json!([{"op": "patch", "name": "migrate", "version": skill["version"], "edits": edits, "evidence": []}])
    });
    assert_eq!(stage.dream(&user, "optimize").await["state"], "applied");
    sleep(&stage, &user).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!((&run["state"], asked.lock().unwrap().len()), (&json!("skipped"), 1), "{run:#}");
    used(&stage, &user, "migrate", None).await;
    let run = stage.dream(&user, "optimize").await;
    assert!(run["ops"][0]["reasons"][0].as_str().unwrap().contains("the limit is 3000"), "{run:#}");
    stage.service.check_log();
}

#[tokio::test]
async fn a_rejected_patch_silences_its_conversations_and_not_the_skill() {
    let stage = Stage::new().await;
    for (name, mode) in [("ann", "propose"), ("ben", "apply")] {
        let user = stage.user(name).await;
        user.who.put("/v1/learning", json!({"optimize": mode})).await.ok(200);
        procedure(&stage, &user, "refunds").await;
        let asked = patching(&stage, &user);
        used(&stage, &user, "refunds", Some("not to the card")).await;
        let run = stage.dream(&user, "optimize").await;
        let path = format!("/v1/dreams/{}", run["id"].as_str().unwrap());
        let verb = if mode == "apply" { "undo" } else { "reject" };
        user.who.post(&format!("{path}/{verb}"), json!({})).await.ok(200);
        sleep(&stage, &user).await;
        let run = stage.dream(&user, "optimize").await;
        assert_eq!((&run["state"], asked.lock().unwrap().len()), (&json!("skipped"), 1), "{mode}: {run:#}");
        used(&stage, &user, "refunds", Some("send a receipt")).await;
        let run = stage.dream(&user, "optimize").await;
        let expected = if mode == "apply" { "applied" } else { "proposed" };
        assert_eq!(run["ops"][0]["outcome"], expected, "{run:#}");
        let question = asked.lock().unwrap().pop().unwrap();
        let risk = &question["candidates"]["at_risk"][0];
        assert_eq!(risk["went_badly"].as_array().unwrap().len(), 1, "{question:#}");
    }
    stage.service.check_log();
}

#[tokio::test]
async fn outcomes_before_a_rejection_are_answered() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    user.who.put("/v1/learning", json!({"optimize": "propose"})).await.ok(200);
    procedure(&stage, &user, "refunds").await;
    let fail = async |round: u32| {
        for n in 0..3 {
            let used = json!({"skill": "refunds", "session_key": format!("k{round}-{n}"), "outcome": "failure"});
            user.who.post("/v1/skills/used", used).await.ok(200);
        }
    };
    fail(1).await;
    patching(&stage, &user);
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["ops"][0]["outcome"], "proposed", "{run:#}");
    user.who.post(&format!("/v1/dreams/{}/reject", run["id"].as_str().unwrap()), json!({})).await.ok(200);
    sleep(&stage, &user).await;
    assert_eq!(stage.dream(&user, "optimize").await["state"], "skipped");
    fail(2).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["ops"][0]["outcome"], "proposed", "{run:#}");
    stage.service.check_log();
}

#[tokio::test]
async fn proposals_that_wait_are_not_made_again_and_are_counted() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    let modes = json!({"gaps": "propose", "consolidate": "propose", "optimize": "propose"});
    user.who.put("/v1/learning", modes).await.ok(200);
    procedure(&stage, &user, "refunds").await;
    let asked = patching(&stage, &user);
    used(&stage, &user, "refunds", Some("not to the card")).await;
    let run = stage.dream(&user, "optimize").await;
    assert_eq!(run["ops"][0]["outcome"], "proposed", "{run:#}");
    let learning = user.who.get("/v1/learning").await.ok(200);
    assert_eq!(learning["waiting"], json!({"dreams": 1, "reflections": 0}));
    // The same failure comes again, as nobody has decided.
    for _ in 0..2 {
        sleep(&stage, &user).await;
        used(&stage, &user, "refunds", Some("not to the card!")).await;
        let run = stage.dream(&user, "optimize").await;
        assert_eq!(state(&run).0, "skipped", "{run:#}");
        assert!(state(&run).1.starts_with("each proposal waits"), "{run:#}");
    }
    assert_eq!(asked.lock().unwrap().len(), 1);
    stage.service.check_log();
}

#[tokio::test]
async fn a_request_with_a_waiting_or_applied_proposal_is_not_asked_about_again() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    user.who.put("/v1/learning", json!({"gaps": "propose"})).await.ok(200);
    let create = answers(&stage, &user, |question| {
        let gap = &question["candidates"]["gaps"][0];
        json!([{"op": "create", "name": "wishes", "description": "Grants wishes. Use when asked.", "triggers": ["a wish"],
            "body": "Ask, then do it.\n", "evidence": gap["conversations"]}])
    });
    for day in [3, 2] {
        stage.talked(&user, day, &format!("please kinwish on day {day}")).await;
    }
    let run = stage.dream(&user, "gaps").await;
    assert_eq!(run["ops"][0]["outcome"], "proposed", "{run:#}");
    // Many further requests are no reason to propose another skill.
    for n in 0..6 {
        stage.talked(&user, 1, &format!("please kinwish again {n}")).await;
    }
    sleep(&stage, &user).await;
    let again = stage.dream(&user, "gaps").await;
    assert!(state(&again).0 == "skipped" && state(&again).1.starts_with("each proposal waits"), "{again:#}");
    assert_eq!(create.lock().unwrap().len(), 1);
    assert_eq!(user.who.get("/v1/learning").await.ok(200)["waiting"]["dreams"], 1);
    user.who.post(&format!("/v1/dreams/{}/apply", run["id"].as_str().unwrap()), json!({})).await.ok(200);
    assert_eq!(user.who.get("/v1/learning").await.ok(200)["waiting"]["dreams"], 0);
    stage.service.check_log();
}

#[tokio::test]
async fn a_repeated_proposal_is_skipped_and_no_failure() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    user.who.put("/v1/learning", json!({"consolidate": "propose"})).await.ok(200);
    for name in ["a", "b", "c"] {
        procedure(&stage, &user, &format!("bills/{name}")).await;
    }
    answers(&stage, &user, |_| {
        let members = json!(["bills/a", "bills/b", "bills/c"]);
        let body = "Take bills/a, bills/b or bills/c.\n";
        json!([{"op": "parent", "name": "bills/guide", "members": members, "description": "Guides.", "body": body}])
    });
    let run = stage.dream(&user, "consolidate").await;
    assert_eq!(run["ops"][0]["outcome"], "proposed", "{run:#}");
    // The family is no candidate any more. A model that proposes the guide all the same causes no failure.
    for name in ["x", "y"] {
        procedure(&stage, &user, &format!("mails/{name}")).await;
    }
    let run = stage.dream(&user, "consolidate").await;
    assert_eq!((&run["state"], &run["counts"]["refused"]), (&json!("skipped"), &json!(1)), "{run:#}");
    let failures = user.who.get("/v1/learning").await.ok(200)["passes"][1]["failures"].clone();
    assert_eq!(failures, 0);
    stage.service.check_log();
}
