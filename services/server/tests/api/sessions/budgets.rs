//! The iteration budget: how many rounds an agent may use to answer one message, and the rounds that replies report.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::World;
use crate::service::keeper;
use crate::sql;
use crate::talk::Talk;

/// Acceptance case 20: a budget limits the rounds of one message, not the number of messages.
#[tokio::test]
async fn messages_beyond_the_budget_are_answered_like_the_first() {
    let World { alice, .. } = &World::new().await;
    for (terms, budget) in [(json!({"channel": "voice"}), 6), (json!({}), 10), (json!({"max_turns": 1}), 1)] {
        let talk = Talk::open(alice, terms.clone()).await;
        for turn in 1..=40 {
            let answer = talk.turn(json!({"message": "hello", "turn_key": format!("k{turn}")})).await.ok(200);
            assert_eq!((&answer["turn"], &answer["max_turns"]), (&json!(turn), &json!(budget)), "{terms}");
            assert_eq!(answer["nudge"].is_string(), turn % 10 == 0, "{terms} {turn}");
        }
    }
    let talk = Talk::open(alice, json!({"key": "a long conversation"})).await;
    for turn in 1..=200 {
        let answer = talk.turn(json!({"message": "hello"})).await.ok(200);
        assert_eq!((&answer["turn"], &answer["max_turns"]), (&json!(turn), &json!(10)));
    }
    let resumed = alice.post("/v1/sessions", json!({"key": "a long conversation"})).await.ok(200);
    assert_eq!((&resumed["turns"], &resumed["max_turns"]), (&json!(200), &json!(10)));
    assert!(resumed["turns_left"].is_null());
}

#[tokio::test]
async fn each_channel_has_its_own_budget() {
    let World { alice, .. } = &World::new().await;
    for (terms, budget) in [
        (json!({"channel": "voice"}), 6),
        (json!({"channel": "voice", "max_turns": 9}), 9),
        (json!({}), 10),
        (json!({"channel": "chat"}), 10),
        (json!({"channel": "scheduled"}), 15),
        (json!({"channel": "nudge"}), 5),
        (json!({"max_turns": 1000}), 1000),
    ] {
        let talk = Talk::open(alice, terms.clone()).await;
        assert_eq!(talk.opened["max_turns"], budget, "{terms}");
        assert_eq!(talk.say("hello").await["max_turns"], budget, "{terms}");
    }
}

#[tokio::test]
async fn a_tenant_sets_the_budgets_of_its_channels() {
    let channels = json!({"voice": {"max_turns": 2}, "chat": {"max_turns": 1000}});
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "channels": channels})).await;
    for (terms, budget) in [
        (json!({"channel": "voice"}), 2),
        (json!({"channel": "chat"}), 1000),
        (json!({"channel": "sms"}), 10),
        (json!({"channel": "voice", "max_turns": 3}), 3),
    ] {
        let talk = Talk::open(alice, terms).await;
        assert_eq!(
            (&talk.opened["max_turns"], &talk.say("hello").await["max_turns"]),
            (&json!(budget), &json!(budget))
        );
    }
}

#[tokio::test]
async fn one_turn_can_have_a_budget_of_its_own() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    let body = json!({"message": "plan the whole year", "turn_key": "k", "max_turns": 9});
    let first = talk.turn(body.clone()).await;
    assert_eq!(first.ok(200)["max_turns"], 9);
    // A repeated turn returns the same answer, even with another budget.
    let elsewhere = Talk { who: alice.at(keeper()), ..talk.clone() };
    for budget in [9, 3] {
        let mut again = body.clone();
        again["max_turns"] = json!(budget);
        assert_eq!(elsewhere.turn(again).await.body, first.body);
    }
    assert_eq!(alice.get(&talk.path("/turns/1")).await.body, first.body);
    // The budget of the turn applies only to replies to that turn.
    talk.tell("/reply", json!({"message": "Done.", "rounds": 8})).await;
    assert_eq!(talk.read().await["budgets_spent"], 0);
    assert_eq!(talk.say("thanks").await["max_turns"], 6);
    talk.tell("/reply", json!({"message": "Welcome.", "rounds": 8})).await;
    let session = talk.read().await;
    assert_eq!((&session["budgets_spent"], &session["max_turns"]), (&json!(1), &json!(6)));
    for budget in [0, 1001] {
        let refused = talk.turn(json!({"message": "x", "max_turns": budget})).await;
        refused.invalid("/max_turns", "must be 1 to 1000");
    }
    for budget in [json!(-1), json!("9"), json!(1.5), json!(4_294_967_296_u64)] {
        talk.turn(json!({"message": "x", "max_turns": budget})).await.refused(422, "invalid");
    }
    assert_eq!(talk.read().await["turns"], 2);
}

#[tokio::test]
async fn a_reply_reports_its_rounds_and_the_outcomes_of_its_calls() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    talk.say("move the meeting").await;
    let calls = json!([
        {"name": "calendar_find", "ok": true, "ms": 120},
        {"name": "calendar_move", "ok": false, "ms": 5000, "error": "timeout\nafter 5 s \u{1F600}"},
        {"name": "calendar_move", "ok": true},
    ]);
    talk.tell("/reply", json!({"message": "One moment.", "rounds": 5, "tool_calls": calls})).await;
    talk.tell("/reply", json!({"message": "Moved.", "rounds": 6, "tool_calls": 4})).await;
    talk.tell("/reply", json!({"message": "Anything else?"})).await;
    let log = alice.get(&talk.path("/messages")).await.ok(200);
    let brief =
        |item: &Value| json!([item["text"], item["tool_calls"], item["rounds"], item["tools"], item["budget_spent"]]);
    assert_eq!(
        log["items"].as_array().unwrap().iter().map(brief).collect::<Vec<_>>(),
        [
            json!(["move the meeting", 0, null, null, null]),
            json!(["One moment.", 3, 5, calls, null]),
            json!(["Moved.", 4, 6, null, true]),
            json!(["Anything else?", 0, null, null, null]),
        ]
    );
    assert_eq!(talk.read().await["budgets_spent"], 1);
    assert_eq!(alice.get("/v1/sessions").await.ok(200)["items"][0]["budgets_spent"], 1);
    // The reported tool calls count towards the size of the log.
    let bytes = "move the meetingOne moment.Moved.Anything else?".len() + serde_json::to_string(&calls).unwrap().len();
    let counted = format!(
        "select from sessions s where s.session_id = '{}' and s.log_bytes = {bytes} + (
             select sum(octet_length(t.answer)) from turns t where t.session_id = s.session_id)",
        talk.id
    );
    assert_eq!(sql::execute(&counted), 1, "{bytes}");
}

#[tokio::test]
async fn malformed_reply_reports_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    let reply = async |member: &str, value: Value| {
        alice.post(&talk.path("/reply"), json!({"message": "x", member: value})).await
    };
    let call = json!({"name": "find", "ok": true});
    let with = |member: &str, value: Value| {
        let mut call = call.clone();
        call[member] = value;
        json!([{"name": "find", "ok": true}, call])
    };
    for (calls, pointer, detail) in [
        (json!(2_147_483_648_u32), "/tool_calls", "is out of bounds"),
        (json!(-1), "/tool_calls", "must be a whole number of at least 0 or a list of calls, is -1"),
        (json!("three"), "/tool_calls", "must be a whole number of at least 0 or a list of calls"),
        (json!({}), "/tool_calls", "must be a whole number of at least 0 or a list of calls"),
        (json!(vec![call.clone(); 129]), "/tool_calls", "takes at most 128 calls, has 129"),
        (json!([3]), "/tool_calls/0", "must be an object"),
        (json!([{"ok": true}]), "/tool_calls/0/name", "is missing"),
        (json!([{"name": "find"}]), "/tool_calls/0/ok", "is missing"),
        (with("ok", json!("yes")), "/tool_calls/1/ok", "true or false"),
        (with("ms", json!(-1)), "/tool_calls/1/ms", "whole number"),
        (with("name", json!("")), "/tool_calls/1/name", "1 to 128"),
        (with("name", json!("n".repeat(129))), "/tool_calls/1/name", "1 to 128"),
        (with("error", json!("")), "/tool_calls/1/error", "1 to 1000"),
        (with("error", json!("a\0b")), "/tool_calls/1/error", "control"),
        (with("error", json!("e".repeat(1001))), "/tool_calls/1/error", "1 to 1000"),
        (with("result", json!("x")), "/tool_calls/1/result", "is unknown"),
    ] {
        reply("tool_calls", calls).await.invalid(pointer, detail);
    }
    for (rounds, detail) in
        [(json!(10_001), "at most 10000"), (json!(-1), "whole number"), (json!("3"), "whole number")]
    {
        reply("rounds", rounds).await.invalid("/rounds", detail);
    }
    assert_eq!(alice.get(&talk.path("/messages")).await.ok(200)["items"], json!([]));
    for (member, value) in [
        ("tool_calls", json!(vec![call.clone(); 128])),
        ("tool_calls", json!([])),
        ("tool_calls", Value::Null),
        ("rounds", json!(0)),
        ("rounds", json!(10_000)),
        ("rounds", Value::Null),
    ] {
        reply(member, value).await.ok(200);
    }
}

/// A reply repeated with its idempotency key is logged once and spends its budget once.
#[tokio::test]
async fn a_repeated_reply_spends_its_budget_once() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"max_turns": 2})).await;
    talk.say("hello").await;
    let body = json!({"message": "Yes?", "rounds": 2, "tool_calls": [{"name": "find", "ok": true}]});
    let send = |body: &Value| alice.post(&talk.path("/reply"), body.clone()).header("Idempotency-Key", "r1");
    for _ in 0..3 {
        assert_eq!(send(&body).await.ok(200), json!({"turn": 1}));
    }
    let mut other = body.clone();
    other["rounds"] = json!(1);
    send(&other).await.refused(422, "idempotency-mismatch");
    assert_eq!(talk.read().await["budgets_spent"], 1);
    assert_eq!(pluck(&alice.get(&talk.path("/messages")).await.ok(200)["items"], "text"), ["hello", "Yes?"]);
}

/// A session of an older version that had used up its messages continues. Its newer columns have their defaults.
#[tokio::test]
async fn a_session_at_its_former_limit_continues() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    talk.say("hello").await;
    assert_eq!(sql::execute(&format!("update sessions set turns = 6 where session_id = '{}'", talk.id)), 1);
    let next = talk.say("and now?").await;
    assert_eq!((&next["turn"], &next["max_turns"]), (&json!(7), &json!(6)));
}
