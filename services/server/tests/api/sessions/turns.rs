//! Turns: idempotent, counted and ordered; malformed turns are rejected.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use knowhow_testing::{FakeServer, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::{Answer, pluck};
use crate::callers::{World, skill};
use crate::service::keeper;
use crate::sessions::recall::with_embeddings;
use crate::sql;
use crate::talk::{Talk, create_described, names};

/// Acceptance case 21: a repeated turn returns the stored answer byte for byte.
#[tokio::test]
async fn a_turn_happens_once_and_is_read_again_byte_for_byte() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["zither"]).await;
    let talk = Talk::long(alice).await;
    let body = json!({"message": "use zither", "turn_key": "k 1", "context_reset": true});
    let first = talk.turn(body.clone()).await;
    assert_eq!(names(&first.ok(200), "active"), ["zither"]);
    alice.replace("zither", "First", "Last").await.ok(200);
    let elsewhere = Talk { who: alice.at(keeper()), ..talk.clone() };
    for again in [talk.turn(body.clone()).await, elsewhere.turn(body.clone()).await] {
        assert_eq!((again.status, &again.body), (200, &first.body));
    }
    talk.say("and now?").await;
    let third = talk.turn(json!({"message": "use zither", "context_reset": true})).await;
    assert_eq!(third.ok(200)["active"][0]["version"], 2);
    alice.delete("/v1/skills/zither").await.empty(204);
    for (turn, bytes) in [(1, &first.body), (3, &third.body)] {
        let read = elsewhere.who.get(&talk.path(&format!("/turns/{turn}"))).await;
        read.ok(200);
        assert_eq!(&read.body, bytes);
    }
    assert_eq!(talk.turn(body).await.body, first.body);
    assert_eq!(talk.read().await["turns"], 3);
    assert_eq!(alice.get(&talk.path("/messages")).await.ok(200)["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn fifty_concurrent_turns_with_one_key_are_one_turn() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["zither"]).await;
    let talk = Talk::long(alice).await;
    let elsewhere = Talk { who: alice.at(keeper()), ..talk.clone() };
    let sent = (0..50).map(|n| {
        let talk = if n % 5 == 0 { &elsewhere } else { &talk };
        talk.turn(json!({"message": "use zither", "turn_key": "once"})).into_future()
    });
    let answers = join_all(sent).await;
    let first = answers[0].ok(200);
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
    assert_eq!((&first["turn"], names(&first, "active")), (&json!(1), vec!["zither".to_owned()]));
    assert_eq!(talk.read().await["turns"], 1);
    assert_eq!(alice.peek("zither").await["times_used"], 1);
    assert!(has_events(&talk, 1));
}

/// Returns whether the session's user has exactly `times` loads in total.
fn has_events(talk: &Talk, times: u64) -> bool {
    let of_user = format!("select user_id from sessions where session_id = '{}'", talk.id);
    sql::execute(&format!(
        "select from usage_events where user_id = ({of_user}) group by user_id having sum(times) = {times}"
    )) == 1
}

#[tokio::test]
async fn a_turn_key_identifies_one_message() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    let say = |message: &str| talk.turn(json!({"message": message, "turn_key": "k"}));
    let first = say("one").await;
    say("two").await.invalid("/turn_key", "fresh key");
    say("one ").await.invalid("/turn_key", "fresh key");
    assert_eq!(say("one").await.body, first.body);
    // The `Idempotency-Key` header works like the member `turn_key`.
    let send = |message: &str| talk.turn(json!({"message": message})).header("Idempotency-Key", "h");
    let first = send("three").await;
    assert_eq!(first.ok(200)["turn"], 2);
    assert_eq!(send("three").await.body, first.body);
    send("four").await.refused(422, "idempotency-mismatch");
    let other = Talk::long(alice).await;
    assert_eq!(other.turn(json!({"message": "two", "turn_key": "k"})).await.ok(200)["turn"], 1);
    assert_eq!(talk.read().await["turns"], 2);
}

#[tokio::test]
async fn concurrent_turns_all_succeed_and_show_each_skill_once() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("zither", "Plays music with strings"), ("kazoo", "Plays music with air")]).await;
    let talk = Talk::long(alice).await;
    let messages = ["use zither or use kazoo", "music, use zither"];
    let answers = join_all(messages.map(|message| talk.say(message))).await;
    let numbers: BTreeSet<i64> = answers.iter().map(|answer| answer["turn"].as_i64().unwrap()).collect();
    assert_eq!(numbers, BTreeSet::from([1, 2]));
    let mut shown: Vec<String> = answers.iter().flat_map(|answer| names(answer, "active")).collect();
    shown.sort_unstable();
    assert_eq!(shown, ["kazoo", "zither"]);
    let many = (0..20).map(|n| talk.turn(json!({"message": format!("number {n}"), "tool_calls": n})).into_future());
    let mut numbers: Vec<i64> =
        join_all(many).await.iter().map(|answer| answer.ok(200)["turn"].as_i64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (3..=22).collect::<Vec<i64>>());
    let log = alice.get(&talk.path("/messages?limit=200")).await.ok(200);
    let turns: BTreeSet<String> = pluck(&log["items"], "turn").into_iter().collect();
    assert_eq!((log["items"].as_array().unwrap().len(), turns.len()), (22, 22));
}

#[tokio::test]
async fn every_tenth_turn_reminds_of_saving() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    for turn in 1..=20 {
        let answer = talk.say("hello").await;
        let reminder = "Did you solve something complex? Save it with skill_save.";
        if turn % 10 == 0 {
            let text = format!("<knowhow>\n{reminder}\n</knowhow>");
            assert_eq!((&answer["nudge"], &answer["text"]), (&json!(reminder), &json!(text)));
        } else {
            assert_eq!((&answer["nudge"], &answer["text"]), (&Value::Null, &json!("")), "{turn}");
        }
    }
}

#[tokio::test]
async fn an_ended_conversation_accepts_no_turn() {
    let World { alice, .. } = &World::new().await;
    for channel in ["sms", "voice", "chat", "scheduled", "nudge"] {
        let talk = Talk::open(alice, json!({"channel": channel})).await;
        let body = json!({"message": "hello", "turn_key": "k"});
        let first = talk.turn(body.clone()).await;
        talk.silent_for("5 hours 59 minutes");
        talk.say("still here").await;
        talk.silent_for("6 hours 1 second");
        // On channels with several conversations, a turn within a day continues the session.
        if !["sms", "voice"].contains(&channel) {
            assert_eq!(talk.say("and now?").await["turn"], 3);
            talk.silent_for("24 hours 1 second");
        }
        talk.turn(json!({"message": "and now?"})).await.refused(409, "session-ended");
        alice.post(&talk.path("/reply"), json!({"message": "late"})).await.refused(409, "session-ended");
        talk.tell("/end", json!({})).await;
        talk.turn(json!({"message": "and now?"})).await.refused(409, "session-ended");
        alice.post(&talk.path("/reply"), json!({"message": "late"})).await.refused(409, "session-ended");
        assert_eq!(talk.turn(body).await.body, first.body);
        assert_eq!(alice.get(&talk.path("/turns/1")).await.body, first.body);
    }
}

/// Another user's session gets the same answer as a missing one.
#[tokio::test]
async fn another_users_session_answers_like_a_missing_one() {
    let world = World::new().await;
    let talk = Talk::long(&world.alice).await;
    talk.say("hello").await;
    let missing = uuid::Uuid::now_v7().to_string();
    let asks: [(Method, &str, Option<Value>); 9] = [
        (Method::GET, "", None),
        (Method::GET, "/messages", None),
        (Method::GET, "/turns/1", None),
        (Method::GET, "/turns/2", None),
        (Method::POST, "/turns", Some(json!({"message": "hello"}))),
        (Method::POST, "/reply", Some(json!({"message": "hello"}))),
        (Method::POST, "/taint", Some(json!({"source": "mail"}))),
        (Method::POST, "/feedback", Some(json!({"kind": "thumbs_up"}))),
        (Method::POST, "/end", None),
    ];
    let before = talk.read().await;
    for stranger in [&world.bob, &world.other_tenant().await] {
        for (method, rest, body) in &asks {
            let mut told = Vec::new();
            for id in [&talk.id, &missing] {
                let sending = stranger.send(method.clone(), &format!("/v1/sessions/{id}{rest}"));
                let answer = match body {
                    Some(body) => sending.json(body).await,
                    None => sending.await,
                };
                let mut problem = answer.refused(404, "not-found");
                problem["instance"] = json!("-");
                told.push(problem);
            }
            assert_eq!(told[0], told[1], "{rest}");
        }
        assert_eq!(stranger.get("/v1/sessions").await.ok(200)["items"], json!([]));
    }
    world.read_only.get(&talk.path("")).await.refused(403, "forbidden");
    assert_eq!(talk.read().await, before);
}

/// A model that never answers does not fail the turn: `degraded` lists the missing part.
#[tokio::test]
async fn a_late_embedding_is_skipped() {
    let fake = FakeServer::start([Reply::Hang]);
    let service = with_embeddings(&fake);
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("zebra-care", "Feeds and brushes striped horses")]).await;
    let talk = Talk { who: alice.at(&service), ..Talk::long(alice).await };
    // The first turn of a user loads the skills, which may take longer than a short deadline.
    assert_eq!(talk.say("👍").await["degraded"], Value::Null);
    for body in [
        json!({"message": "how do I brush my striped horses?", "deadline_ms": 60, "turn_key": "k"}),
        json!({"message": "do horses have stripes at all, then?", "deadline_ms": 1}),
        json!({"message": "striped, striped horses, so many of them", "context_reset": true}),
    ] {
        let turn = talk.turn(body.clone()).await.ok(200);
        assert_eq!(turn["degraded"], json!(["embedding"]), "{body}");
        let expected: &[&str] = if turn["turn"] == 3 { &[] } else { &["zebra-care"] };
        assert_eq!(names(&turn, "relevant"), expected, "{body}");
    }
    // Repeating the turn returns the same answer, also in a process without a model.
    let again =
        alice.post(&talk.path("/turns"), json!({"message": "how do I brush my striped horses?", "turn_key": "k"}));
    assert_eq!(again.await.ok(200)["degraded"], json!(["embedding"]));
}

#[tokio::test]
async fn a_turn_shows_one_consistent_version_of_a_skill() {
    let World { alice, .. } = &World::new().await;
    let body = |n: usize| json!({"name": "zither", "description": "Sounds.", "content": format!("state {n}\n")});
    alice.create(body(1)).await;
    let talk = Talk::long(alice).await;
    let turns = (0..30).map(|_| async {
        let turn =
            talk.turn(json!({"message": "use zither", "context_reset": true, "deadline_ms": 60_000})).await.ok(200);
        let active = &turn["active"][0];
        assert_eq!(active["content"], format!("state {}\n", active["version"]));
    });
    let saves = async {
        for n in 2..=20 {
            alice.post("/v1/skills", body(n)).await.ok(200);
        }
    };
    tokio::join!(join_all(turns), saves);
    assert_eq!(talk.read().await["turns"], 30);
    assert!(has_events(&talk, 30));
    assert_eq!(alice.peek("zither").await["times_used"], 30);
}

#[tokio::test]
async fn a_skill_deleted_during_a_turn_is_whole_or_absent() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    for round in 0..10 {
        alice.create(skill("zither")).await;
        let question = json!({"message": "use zither", "context_reset": true});
        let (turn, gone) = tokio::join!(talk.turn(question), alice.delete("/v1/skills/zither"));
        gone.empty(204);
        let turn = turn.ok(200);
        assert_eq!(turn["turn"], round + 1);
        let whole = |skill: &Value| skill["content"] == "# zither\n\nFirst this, then that.\n";
        assert!(turn["active"].as_array().unwrap().iter().all(whole), "{turn}");
    }
}

#[tokio::test]
async fn malformed_turns_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    let turn = |body: Value| talk.turn(body);
    turn(json!({"message": ""})).await.invalid("/message", "empty");
    turn(json!({"message": " \r\n\t\u{2003}"})).await.invalid("/message", "empty");
    turn(json!({"message": "a\0b"})).await.invalid("/message", "NUL");
    turn(json!({"message": "x".repeat(65_537)})).await.refused(413, "too-large");
    turn(json!({"message": "\u{1F600}".repeat(16_385)})).await.refused(413, "too-large");
    for key in ["", "a\0b", "a\u{1b}b", &"k".repeat(256)] {
        turn(json!({"message": "x", "turn_key": key})).await.invalid("/turn_key", "255");
    }
    for deadline in [0, 60_001] {
        turn(json!({"message": "x", "deadline_ms": deadline})).await.invalid("/deadline_ms", "60000");
    }
    turn(json!({"message": "x", "tool_calls": 2_147_483_648_u32})).await.invalid("/tool_calls", "");
    turn(json!({"message": "x", "tainted_by": vec!["s"; 17]})).await.invalid("/tainted_by", "16");
    for source in ["", "a\0b", &"s".repeat(256)] {
        turn(json!({"message": "x", "tainted_by": ["fine", source]})).await.invalid("/tainted_by/1", "255");
    }
    for wrong in [
        json!({}),
        json!({"message": null}),
        json!({"message": ["x"]}),
        json!({"message": "x", "turn_key": 7}),
        json!({"message": "x", "tool_calls": -1}),
        json!({"message": "x", "deadline_ms": "1"}),
        json!({"message": "x", "deadline_ms": 4_294_967_296_u64}),
        json!({"message": "x", "context_reset": "yes"}),
        json!({"message": "x", "tainted_by": "mail"}),
        json!({"message": "x", "turn": 3}),
    ] {
        turn(wrong).await.refused(422, "invalid");
    }
    for body in [br#"{"message": "\ud800"}"#.as_slice(), br#"{"message": "\udc00\ud800"}"#, b"{\"message\": \"\xff\"}"]
    {
        let answer: Answer =
            alice.send(Method::POST, &talk.path("/turns")).body("application/json", body.to_vec()).await;
        answer.refused(400, "malformed");
    }
    for key in ["a b", "\u{e9}", ""] {
        turn(json!({"message": "x"})).header("Idempotency-Key", key).await.refused(400, "malformed");
    }
    for number in ["0", "-1", "1", "2147483647"] {
        alice.get(&talk.path(&format!("/turns/{number}"))).await.refused(404, "not-found");
    }
    for number in ["2147483648", "x", "%00", "1.0"] {
        alice.get(&talk.path(&format!("/turns/{number}"))).await.refused(400, "malformed");
    }
    for id in ["x", "%00", "%2e%2e", "00000000-0000-0000-0000-000000000000", "%F0%9F%98%80", &"a".repeat(3000)] {
        let answer = alice.post(&format!("/v1/sessions/{id}/turns"), json!({"message": "x"})).await;
        answer.refused(404, "not-found");
    }
    let session = talk.read().await;
    assert_eq!(
        (&session["turns"], &session["tainted"], &session["last_message_at"]),
        (&json!(0), &json!(false), &Value::Null)
    );
}

/// Any message within the size limit is accepted.
#[tokio::test]
async fn any_message_is_accepted_as_a_turn() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("zither", "Plays \u{1F600} music"), ("mcp/use", "Uses skills"), ("a", "Is one")]).await;
    let talk = Talk::long(alice).await;
    let long = |piece: &str| piece.repeat(65_536 / piece.len());
    let distinct: String = (0..9_000).map(|n| format!("w{n:05} ")).collect();
    let messages = [
        long("x"),
        long("a "),
        long("/"),
        long("use "),
        long("use mcp/use "),
        long("`zither` "),
        long("-"),
        long("\u{1F600}"),
        long("用"),
        long("e\u{301}"),
        long("\u{200d}\u{fe0f}"),
        long("\u{202e}zither "),
        long("\n"),
        long("\\\""),
        distinct,
        "\u{feff}zither\u{feff}".into(),
        "\u{1}\u{1b}[31mzither\u{7f}\u{85}\u{2028}".into(),
        "'; drop table skills; -- zither $1 %s {} ${x} <script>".into(),
        "\u{10ffff}\u{e000}\u{fffd}\u{1d173}".into(),
        "ZITHER\u{130}\u{df}\u{fb03}".into(),
    ];
    for (number, message) in messages.iter().enumerate() {
        let body = json!({"message": message, "context_reset": true, "turn_key": format!("\u{1F600} k\t{number}")});
        let answer = talk.turn(body).await;
        if message.trim().is_empty() {
            answer.invalid("/message", "empty");
        } else {
            answer.ok(200);
        }
    }
    let log = alice.get(&talk.path("/messages?limit=200")).await.ok(200);
    let said: Vec<&String> = messages.iter().filter(|message| !message.trim().is_empty()).collect();
    assert_eq!(pluck(&log["items"], "text").iter().collect::<Vec<_>>(), said);
}
