//! Sessions: opened, resumed and ended by silence; the lists of sessions.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};
use crate::service::keeper;
use crate::talk::{Talk, names};

const SESSION: [&str; 17] = [
    "budgets_spent",
    "channel",
    "ended_at",
    "id",
    "inline_top",
    "key",
    "last_message_at",
    "max_turns",
    "previous_session",
    "quality",
    "resumed",
    "snapshot",
    "started_at",
    "tainted",
    "tainted_by",
    "tools",
    "turns",
];

#[tokio::test]
async fn a_new_session_returns_its_terms_and_snapshot() {
    let World { alice, .. } = &World::new().await;
    let opened = alice.send(Method::POST, "/v1/sessions").await.ok(201);
    assert_eq!(members(&opened), SESSION);
    assert_eq!((&opened["channel"], &opened["key"], &opened["resumed"]), (&json!("sms"), &opened["id"], &json!(false)));
    assert_eq!((&opened["turns"], &opened["tainted"], &opened["tainted_by"]), (&json!(0), &json!(false), &json!([])));
    for absent in ["ended_at", "last_message_at", "previous_session", "quality"] {
        assert_eq!(opened[absent], Value::Null, "{absent}");
    }
    assert_eq!(
        members(&opened["snapshot"]),
        ["created_at", "expires_at", "id", "omitted", "sha256", "shortened", "text", "tokens"]
    );
    // Without a key each call opens a new session.
    assert_ne!(alice.post("/v1/sessions", json!({})).await.ok(201)["id"], opened["id"]);
    let path = format!("/v1/sessions/{}", opened["id"].as_str().unwrap());
    let mut read = alice.get(&path).await.ok(200);
    read["resumed"] = json!(false);
    assert_eq!(read, opened);
}

async fn open(who: &Caller, terms: &Value, status: u16) -> Value {
    let opened = who.post("/v1/sessions", terms.clone()).await.ok(status);
    assert_eq!(opened["resumed"], status == 200);
    opened
}

/// Acceptance case 22: on SMS, voice and chat a session opened after six hours of silence is a new one.
#[tokio::test]
async fn six_hours_of_silence_end_a_conversation() {
    let World { alice, .. } = &World::new().await;
    for channel in ["sms", "voice", "chat"] {
        let terms = json!({"key": format!("key-{channel}"), "channel": channel});
        let talk = Talk::open(alice, terms.clone()).await;
        talk.say("I always take the night train to Venice. Remind me to book it.").await;
        talk.silent_for("5 hours 59 minutes 50 seconds");
        let resumed = open(alice, &terms, 200).await;
        assert_eq!((&resumed["id"], &resumed["turns"]), (&talk.opened["id"], &json!(1)));
        assert_eq!(
            (&resumed["snapshot"]["text"], &resumed["previous_summary"]),
            (&talk.opened["snapshot"]["text"], &Value::Null)
        );
        talk.silent_for("6 hours 1 second");
        let next = open(alice, &terms, 201).await;
        assert_ne!(next["id"], talk.opened["id"]);
        assert_eq!((&next["previous_session"], &next["turns"]), (&talk.opened["id"], &json!(0)));
        let summary = &next["previous_summary"];
        assert_eq!(
            members(summary),
            [
                "decisions",
                "facts",
                "last_messages",
                "made_by",
                "pending",
                "preferences",
                "tainted",
                "text",
                "title",
                "topics"
            ]
        );
        let said = "- User: I always take the night train to Venice. Remind me to book it.\n</knowhow>";
        assert!(summary["text"].as_str().unwrap().ends_with(said), "{summary}");
        assert_eq!(
            (&summary["made_by"], &summary["title"]),
            (&json!("extract"), &json!("I always take the night train to Venice"))
        );
        assert_eq!(summary["preferences"], json!(["I always take the night train to Venice."]));
        assert_eq!(summary["pending"], json!(["Remind me to book it."]));
        assert!(summary["topics"].as_array().unwrap().contains(&json!("Venice")));
        assert!(talk.read().await["ended_at"].is_string());
        // The new session is resumed and still has the summary of the old one.
        let resumed = open(alice, &terms, 200).await;
        assert_eq!((&resumed["id"], &resumed["previous_summary"]), (&next["id"], summary));
    }
}

/// A session without a message has not begun. Opening it again applies the new terms and the current snapshot.
#[tokio::test]
async fn a_session_without_a_message_is_reused() {
    let World { alice, .. } = &World::new().await;
    let first = open(alice, &json!({"key": "k", "channel": "voice", "max_turns": 3}), 201).await;
    crate::sql::execute(&format!(
        "update sessions set started_at = now() - interval '3 days' where session_id = '{}'",
        first["id"].as_str().unwrap()
    ));
    alice.create(skill("zither")).await;
    alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    let again = open(alice, &json!({"key": "k", "channel": "sms", "inline_top": true}), 200).await;
    assert_eq!((&again["id"], &again["channel"], &again["max_turns"]), (&first["id"], &json!("sms"), &json!(10)));
    assert_eq!(again["inline_top"], true);
    assert!(again["started_at"].as_str() >= first["started_at"].as_str());
    assert!(again["snapshot"]["text"].as_str().unwrap().contains("- zither: "));
    // A session with a message keeps its terms.
    let talk = Talk { who: alice.clone(), id: again["id"].as_str().unwrap().to_owned(), opened: again.clone() };
    talk.say("hello").await;
    let kept = open(alice, &json!({"key": "k", "channel": "voice", "max_turns": 7}), 200).await;
    assert_eq!((&kept["channel"], &kept["max_turns"], &kept["turns"]), (&json!("sms"), &json!(10), &json!(1)));
    assert!(
        again["notice"].is_null() && kept["notice"].as_str().unwrap().contains("channel sms, max_turns 10;"),
        "{kept}"
    );
}

/// Resuming a session with other terms returns a notice with the terms in force and how to change them.
#[tokio::test]
async fn a_resumed_session_reports_the_terms_it_keeps() {
    let World { alice, .. } = &World::new().await;
    let terms = json!({"key": "k", "channel": "voice", "max_turns": 1});
    let talk = Talk::open(alice, terms.clone()).await;
    talk.say("hello").await;
    for same in [json!({"key": "k"}), terms] {
        assert_eq!(open(alice, &same, 200).await["notice"], Value::Null);
    }
    let more = json!({"key": "k", "max_turns": 20, "index_budget": 300, "inline_top": true});
    let resumed = open(alice, &more, 200).await;
    assert_eq!((&resumed["max_turns"], &resumed["turns"]), (&json!(1), &json!(1)));
    let notice = resumed["notice"].as_str().unwrap();
    assert!(
        notice.contains("max_turns 1, index_budget 16000, inline_top false;") && notice.contains("end it"),
        "{notice}"
    );
    // Following the advice of the notice works.
    talk.tell("/end", json!({})).await;
    let next = open(alice, &more, 201).await;
    assert_eq!((&next["max_turns"], &next["notice"]), (&json!(20), &Value::Null));
}

/// A shorter gap lets a tenant try out its workers without waiting six hours.
#[tokio::test]
async fn a_tenant_sets_how_long_a_conversation_may_be_silent() {
    let channels = json!({"voice": {"session_gap_minutes": 1}, "chat": {"session_gap_minutes": 2000}});
    let settings = json!({"starter_skills": false, "session_gap_minutes": 30, "channels": channels});
    let World { alice, .. } = &World::with(settings).await;
    for (channel, within, beyond, by_id) in [
        ("voice", "55 seconds", "61 seconds", true),
        ("sms", "29 minutes 50 seconds", "30 minutes 1 second", true),
        ("nudge", "29 minutes 50 seconds", "30 minutes 1 second", false),
        ("chat", "33 hours", "33 hours 21 minutes", true),
    ] {
        let terms = json!({"key": format!("key-{channel}"), "channel": channel});
        let talk = Talk::open(alice, terms.clone()).await;
        talk.say("hello").await;
        talk.silent_for(within);
        assert_eq!(open(alice, &terms, 200).await["id"], talk.opened["id"], "{channel}");
        talk.say("still here").await;
        talk.silent_for(within);
        talk.tell("/reply", json!({"message": "fine"})).await;
        talk.silent_for(beyond);
        if by_id {
            talk.turn(json!({"message": "and now?"})).await.refused(409, "session-ended");
            alice.post(&talk.path("/reply"), json!({"message": "late"})).await.refused(409, "session-ended");
        } else {
            // On the other channels conversations have ids: a turn within a day continues the session.
            talk.say("and now?").await;
            talk.silent_for(beyond);
        }
        // The gap of the session's own channel applies, even if the request names another channel.
        let other =
            json!({"key": format!("key-{channel}"), "channel": if channel == "voice" { "chat" } else { "voice" }});
        let next = open(alice, &other, 201).await;
        assert_eq!(next["previous_session"], talk.opened["id"], "{channel}");
    }
}

#[tokio::test]
async fn an_ended_session_is_followed_by_a_new_one() {
    let World { alice, .. } = &World::new().await;
    let terms = json!({"key": "k"});
    let talk = Talk::open(alice, terms.clone()).await;
    talk.say("We decided to paint the fence.").await;
    let ended = talk.tell("/end", json!({})).await;
    assert!(ended["ended_at"].is_string());
    assert_eq!(talk.tell("/end", json!({})).await, ended);
    let next = open(alice, &terms, 201).await;
    assert_eq!(
        (&next["previous_session"], &next["previous_summary"]["title"]),
        (&talk.opened["id"], &json!("We decided to paint the fence"))
    );
    // A session that ended without a message has no summary.
    alice.send(Method::POST, &format!("/v1/sessions/{}/end", next["id"].as_str().unwrap())).await.ok(200);
    let third = open(alice, &terms, 201).await;
    assert_eq!((&third["previous_session"], &third["previous_summary"]), (&next["id"], &Value::Null));
    let other = open(alice, &json!({"key": "other"}), 201).await;
    assert_eq!(other["previous_session"], Value::Null);
}

#[tokio::test]
async fn session_keys_are_separate_for_each_user() {
    let world = World::new().await;
    let mut ids = BTreeSet::new();
    for who in [&world.alice, &world.bob, &world.other_tenant().await] {
        ids.insert(open(who, &json!({"key": "+49301234567"}), 201).await["id"].to_string());
    }
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn twenty_concurrent_opens_make_one_session() {
    let World { alice, .. } = &World::new().await;
    let elsewhere = alice.at(keeper());
    let open = |n: usize| {
        let who = if n.is_multiple_of(3) { &elsewhere } else { alice };
        who.post("/v1/sessions", json!({"key": "k"})).into_future()
    };
    let answers = join_all((0..20).map(open)).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    let ids: BTreeSet<String> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
    assert_eq!((created, ids.len()), (1, 1));
    let talk =
        Talk { who: alice.clone(), id: answers[0].json()["id"].as_str().unwrap().to_owned(), opened: Value::Null };
    talk.say("hello").await;
    talk.silent_for("7 hours");
    let answers = join_all((0..20).map(open)).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    let ids: BTreeSet<String> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
    assert_eq!((created, ids.len(), ids.contains(&format!("\"{}\"", talk.id))), (1, 1, false));
    assert_eq!(alice.get("/v1/sessions").await.ok(200)["items"].as_array().unwrap().len(), 2);
}

/// A request repeated with its `Idempotency-Key`, but without a session key, returns the same session.
#[tokio::test]
async fn a_retry_opens_no_second_session() {
    let World { alice, .. } = &World::new().await;
    let send = || alice.post("/v1/sessions", json!({"channel": "chat"})).header("Idempotency-Key", "req-1");
    let first = send().await.ok(201);
    assert_eq!(send().await.ok(200)["id"], first["id"]);
    assert_eq!(alice.get("/v1/sessions").await.ok(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn malformed_sessions_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let refuse = |body: Value| alice.post("/v1/sessions", body);
    for key in ["", " ", " k", "k ", "a\0b", "a\nb", "a\u{85}b", &"k".repeat(256)] {
        refuse(json!({"key": key})).await.invalid("/key", "255");
    }
    for (turns, detail) in [(0, "1 to 1000"), (1001, "1 to 1000")] {
        refuse(json!({"max_turns": turns})).await.invalid("/max_turns", detail);
    }
    for budget in [0, 199, 200_001] {
        refuse(json!({"index_budget": budget})).await.invalid("/index_budget", "200 to 200000");
    }
    for wrong in [
        json!({"key": 7}),
        json!({"channel": "fax"}),
        json!({"channel": "SMS"}),
        json!({"max_turns": -1}),
        json!({"max_turns": 4_294_967_296_u64}),
        json!({"inline_top": 1}),
        json!({"maxTurns": 3}),
    ] {
        refuse(wrong).await.refused(422, "invalid");
    }
    assert_eq!(alice.get("/v1/sessions").await.ok(200)["items"], json!([]));
    for key in ["k".repeat(255), "\u{1F600}".repeat(255), "+49 30 / 'x'; --".into(), "\u{202e}k".into()] {
        assert_eq!(open(alice, &json!({"key": key}), 201).await["key"], key);
    }
    for (terms, member) in [(json!({"max_turns": 1000}), "max_turns"), (json!({"max_turns": 1}), "max_turns")] {
        assert_eq!(open(alice, &terms, 201).await[member], terms[member]);
    }
}

#[tokio::test]
async fn sessions_are_listed_newest_first() {
    let World { alice, .. } = &World::new().await;
    let mut opened = Vec::new();
    for n in 0..7 {
        let channel = if n % 2 == 0 { "voice" } else { "sms" };
        opened.push(Talk::open(alice, json!({"key": format!("key-{}", n % 3), "channel": channel})).await);
        opened[n].say("hello").await;
        opened[n].tell("/end", json!({})).await;
    }
    let last = Talk::open(alice, json!({"key": "key-0", "channel": "chat"})).await;
    let ids = async |query: &str| pluck(&alice.get(&format!("/v1/sessions?{query}")).await.ok(200)["items"], "id");
    let all = ids("").await;
    let expected: Vec<String> = opened.iter().chain([&last]).rev().map(|talk| talk.id.clone()).collect();
    assert_eq!(all, expected);
    let listed = alice.get("/v1/sessions").await.ok(200)["items"][0].clone();
    let brief: Vec<&str> = SESSION.into_iter().filter(|m| !["resumed", "snapshot"].contains(m)).collect();
    assert_eq!(members(&listed), brief);
    assert_eq!(ids("open=true").await, [last.id.as_str()]);
    assert_eq!(ids("open=false").await, expected[1..]);
    assert_eq!(ids("key=key-0").await, [&last, &opened[6], &opened[3], &opened[0]].map(|talk| talk.id.clone()));
    assert_eq!(ids("channel=voice&key=key-1").await, [opened[4].id.clone()]);
    assert_eq!(ids("channel=nudge").await, Vec::<String>::new());
    assert_eq!(ids("key=none").await, Vec::<String>::new());
    let (mut paged, mut query) = (Vec::new(), "limit=3".to_owned());
    loop {
        let page = alice.get(&format!("/v1/sessions?{query}")).await.ok(200);
        assert!(page["items"].as_array().unwrap().len() <= 3);
        paged.extend(pluck(&page["items"], "id"));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("limit=3&cursor={cursor}");
    }
    assert_eq!(paged, expected);
    for bad in ["limit=0", "limit=201", "cursor=x", "cursor=bnVsbA", "channel=fax", "open=maybe", "more=1"] {
        alice.get(&format!("/v1/sessions?{bad}")).await.refused(400, "malformed");
    }
    for key in ["%00", "a%00b", &"k".repeat(3000)] {
        let answer = alice.get(&format!("/v1/sessions?key={key}")).await;
        assert!(answer.status == 400 || answer.json()["items"] == json!([]), "{answer}");
    }
}

#[tokio::test]
async fn the_sessions_scope_is_required() {
    let world = World::new().await;
    for (method, path) in [(Method::POST, "/v1/sessions"), (Method::GET, "/v1/sessions"), (Method::GET, "/v1/snapshot")]
    {
        world.read_only.send(method.clone(), path).await.refused(403, "forbidden");
        world.anonymous.send(method.clone(), path).await.refused(401, "unauthenticated");
        world.backend().await.acting_for("dora").send(method, path).await.refused(403, "forbidden");
    }
    let key = json!({"name": "voice", "scopes": ["sessions"]});
    let key = world.admin.post("/v1/admin/keys", key).await.ok(201);
    let worker = world.anonymous.with_token(key["secret"].as_str().unwrap());
    worker.post("/v1/sessions", json!({})).await.refused(400, "malformed");
    world.alice.create(skill("zither")).await;
    let talk = Talk::open(&worker.acting_for("alice"), json!({"channel": "voice"})).await;
    assert_eq!(names(&talk.say("use zither").await, "active"), ["zither"]);
    let other = Talk::open(&worker.acting_for("dora"), json!({"channel": "voice"})).await;
    assert_eq!(other.say("use zither").await["text"], "");
    other.who.get(&talk.path("")).await.refused(404, "not-found");
}

/// The first session's snapshot contains the starter skills.
#[tokio::test]
async fn starters_are_in_the_first_snapshot() {
    let World { alice, .. } = &World::with(json!({"starter_skills": true})).await;
    let opened = alice.post("/v1/sessions", json!({})).await.ok(201);
    assert!(opened["snapshot"]["text"].as_str().unwrap().contains("\n- iterative-planning: "));
}

/// A turn sent while its session ends either takes effect completely or is rejected.
#[tokio::test]
async fn a_concurrent_end_and_turn_are_serialized() {
    let World { alice, .. } = &World::new().await;
    for _ in 0..10 {
        let talk = Talk::open(alice, json!({"key": "k"})).await;
        let (turn, ended) = tokio::join!(talk.turn(json!({"message": "hello"})), talk.tell("/end", json!({})));
        if turn.status != 200 {
            turn.refused(409, "session-ended");
        }
        let turns = usize::from(turn.status == 200);
        let session = talk.read().await;
        assert_eq!((&session["turns"], &session["ended_at"]), (&json!(turns), &ended["ended_at"]));
        assert_eq!(alice.get(&talk.path("/messages")).await.ok(200)["items"].as_array().unwrap().len(), turns);
    }
}
