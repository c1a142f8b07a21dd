//! Skills that a message forbids or asks about: such a skill is not called, not counted as used, not recalled and
//! learns no example.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::skills::examples::{examples, learned, load, report, settle};
use crate::talk::{Talk, create_described, names};

const FORBIDDEN: &str = "please don't use drop-tables, we still need the tables of the database";

async fn world() -> World {
    let world = World::new().await;
    let mut backup =
        json!({"name": "backup-database", "description": "Copies all tables of a database", "content": "Copy.\n"});
    backup["see_also"] = json!(["drop-tables"]);
    world.alice.create(backup).await;
    create_described(
        &world.alice,
        &[
            ("drop-tables", "Drops all tables of a database"),
            ("mcp/send-invoice", "Writes an invoice and sends it"),
            ("weather", "Tells how warm it gets"),
        ],
    )
    .await;
    world
}

#[tokio::test]
async fn a_forbidden_skill_is_mentioned_but_not_recalled() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    let turn = talk.say(FORBIDDEN).await;
    assert_eq!(turn["excluded"], json!([{"name": "drop-tables", "reason": "the user excluded it"}]));
    for list in ["active", "too_long", "relevant", "related"] {
        assert!(!names(&turn, list).contains(&"drop-tables".to_owned()), "{list}: {turn}");
    }
    assert_eq!(turn["active"], json!([]));
    let text = turn["text"].as_str().unwrap();
    let line = "Excluded skills for this message: drop-tables. The user excluded it: do not use it.\n";
    assert!(text.contains(line) && !text.contains("Follow it."), "{text}");
    assert_eq!(alice.peek("drop-tables").await["times_used"], 0);
    // The forbidden skill is not recalled as a related skill of a skill that lists it in `see_also`.
    let turn = talk.say("use backup-database for the tables, but don't run drop-tables").await;
    assert_eq!((names(&turn, "active"), names(&turn, "related")), (vec!["backup-database".to_owned()], vec![]));
    assert_eq!(names(&turn, "excluded"), ["drop-tables"]);
    // The exclusion applies to its own message only.
    let turn = talk.say("use drop-tables now").await;
    assert_eq!((names(&turn, "active"), turn.get("excluded")), (vec!["drop-tables".to_owned()], None));
    assert_eq!(turn["active"][0]["reason"], "called in the message");
    assert_eq!(alice.peek("drop-tables").await["times_used"], 1);
}

#[tokio::test]
async fn one_of_two_skills_is_called_and_the_other_excluded() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    for message in [
        "don't use drop-tables, use send-invoice",
        "nimm send-invoice statt drop-tables",
        "не используй drop-tables, используй send-invoice",
        "别用drop-tables，用send-invoice",
        "drop-tables じゃなくて send-invoice を使って",
    ] {
        let turn = talk.turn(json!({"message": message, "context_reset": true})).await.ok(200);
        assert_eq!(names(&turn, "active"), ["mcp/send-invoice"], "{message}");
        assert_eq!(turn["active"][0]["reason"], "called in the message", "{message}");
        assert_eq!(names(&turn, "excluded"), ["drop-tables"], "{message}");
    }
}

#[tokio::test]
async fn a_skill_that_is_asked_about_is_given_as_reference() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    let turn = talk.say("what does drop-tables do?").await;
    assert_eq!((&turn["active"], turn.get("excluded")), (&json!([]), None));
    let relevant = json!({
        "name": "drop-tables", "summary": "Drops all tables of a database", "score": 1.0,
        "reason": "asked about in the message",
    });
    assert_eq!(turn["relevant"][0], relevant);
    let text = turn["text"].as_str().unwrap();
    assert!(text.contains("Skills the user asks about: drop-tables (Drops all tables of a database)\n"), "{text}");
    assert_eq!(alice.peek("drop-tables").await["times_used"], 0);
    let silent = Talk::open(alice, json!({"tools": "none"})).await;
    let text = silent.say("is drop-tables still there?").await["text"].clone();
    assert!(text.as_str().unwrap().contains("asks about: drop-tables (") && !text.to_string().contains("skill_view"));
}

/// Neither a load nor a report in the same turn adds an example to a skill that the user forbade or only asked about.
#[tokio::test]
async fn a_skill_forbidden_or_asked_about_learns_no_example_in_that_turn() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    talk.say(FORBIDDEN).await;
    only_forbidden(alice).await;
    load(alice, &talk.id, "drop-tables").await;
    load(alice, &talk.id, "backup-database").await;
    learned(alice, "backup-database", &[FORBIDDEN]).await;
    only_forbidden(alice).await;
    report(alice, &talk.id, "drop-tables", json!("success")).await;
    talk.say("what does drop-tables do to the database?").await;
    load(alice, &talk.id, "drop-tables").await;
    settle().await;
    only_forbidden(alice).await;
    // The next turn adds examples again.
    let message = "use drop-tables on the test database";
    talk.say(message).await;
    learned(alice, "drop-tables", &[message, FORBIDDEN]).await;
}

#[tokio::test]
async fn a_view_over_mcp_in_the_same_turn_adds_no_example() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    talk.say(FORBIDDEN).await;
    alice.tool("skill_view", json!({"name": "drop-tables"})).header("Knowhow-Session", &talk.id).await.result();
    settle().await;
    only_forbidden(alice).await;
}

/// Waits until the forbidding message is the only example of the skill, as a counter-example.
async fn only_forbidden(who: &Caller) {
    learned(who, "drop-tables", &[FORBIDDEN]).await;
    let learned = examples(who, "drop-tables").await;
    assert_eq!(learned[0]["counter_example"], true, "{learned:?}");
}

/// A repeated turn returns the same bytes and records nothing again.
#[tokio::test]
async fn a_repeated_turn_answers_the_same() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    let body = json!({"message": FORBIDDEN, "turn_key": "once", "deadline_ms": 30_000});
    let first = talk.turn(body.clone()).await;
    assert_eq!(first.text(), talk.turn(body).await.text());
    assert_eq!(names(&talk.who.get(&talk.path("/turns/1")).await.ok(200), "excluded"), ["drop-tables"]);
}

#[tokio::test]
async fn match_returns_the_stance_and_its_cue() {
    let World { alice, .. } = &world().await;
    let ask = async |message: &str| -> Value {
        let body = json!({"message": message, "explain": true});
        alice.post("/v1/skills/match", body).await.ok(200)["items"][0].clone()
    };
    for (message, stance, cue, meant) in [
        ("use drop-tables", "called", json!("use"), true),
        ("/drop-tables", "called", Value::Null, true),
        ("Never run drop-tables", "forbidden", json!("Never"), false),
        ("benutze drop-tables nicht", "forbidden", json!("nicht"), false),
        ("what does drop-tables do?", "asked_about", json!("what does"), false),
        ("drop-tables failed", "named", Value::Null, true),
        ("don't use weather", "forbidden", json!("don't"), false),
        ("no weather please", "forbidden", json!("no"), false),
    ] {
        let item = ask(message).await;
        assert_eq!((&item["stance"], &item["cue"], &item["meant"]), (&json!(stance), &cue, &json!(meant)), "{message}");
    }
    assert_eq!(ask("don't use drop-tables").await["reason"], "the user excluded it");
    let asked = "the message asks about it and does not call for it";
    assert_eq!(ask("what does drop-tables do?").await["reason"], asked);
    let all = alice.post("/v1/skills/match", json!({"message": FORBIDDEN, "explain": true})).await.ok(200);
    let candidates = pluck(&all["explanation"]["candidates"], "name");
    assert!(!candidates.contains(&"drop-tables".to_owned()), "{candidates:?}");
}

/// One user's exclusions do not affect other users.
#[tokio::test]
async fn other_users_are_not_affected() {
    let World { alice, bob, .. } = &world().await;
    create_described(bob, &[("drop-tables", "Drops all tables of a database")]).await;
    Talk::long(alice).await.say(FORBIDDEN).await;
    let talk = Talk::long(bob).await;
    let message = "use drop-tables on the test database";
    assert_eq!(names(&talk.say(message).await, "active"), ["drop-tables"]);
    learned(bob, "drop-tables", &[message]).await;
}
