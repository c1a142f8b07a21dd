//! What a conversation worked out without a skill, and the next one's reminder of it.

use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::sql::execute;
use crate::talk::Talk;

const PLAIN: &str = "Did you solve something complex? Save it with skill_save.";

/// A conversation with so many tool calls that is over.
async fn solved(who: &Caller, message: &str, tool_calls: u32) -> Talk {
    let talk = Talk::long(who).await;
    talk.turn(json!({"message": message})).await.ok(200);
    talk.turn(json!({"message": "and now?", "tool_calls": tool_calls})).await.ok(200);
    talk
}

/// The first reminder of a conversation that begins now.
async fn first_nudge(who: &Caller) -> Value {
    let talk = Talk::open(who, json!({"tools": "full"})).await;
    let tenth = say_ten(&talk).await;
    let text = format!("<knowhow>\n{}\n</knowhow>", tenth["nudge"].as_str().unwrap());
    assert_eq!(tenth["text"], json!(text));
    tenth["nudge"].clone()
}

/// Nine messages that bring no reminder, and the answer to the tenth.
async fn say_ten(talk: &Talk) -> Value {
    for _ in 1..10 {
        let turn = talk.say("hello").await;
        assert!(turn["nudge"].is_null(), "{turn}");
    }
    talk.say("hello again").await
}

fn named(title: &str) -> Value {
    json!(format!("{PLAIN} Last time ('{title}') something was worked out without a skill: save it with skill_save?"))
}

#[tokio::test]
async fn the_next_conversation_names_what_was_worked_out_once() {
    let World { alice, bob, .. } = &World::new().await;
    solved(alice, "Book the <b>night</b> train\nto 'Oslo'", 5).await.tell("/end", json!({})).await;
    assert_eq!(first_nudge(bob).await, PLAIN);
    assert_eq!(first_nudge(alice).await, named("Book the ‹b›night‹/b› train to ’Oslo’"));
    // The conversation before this one is now the one that named it.
    assert_eq!(first_nudge(alice).await, PLAIN);
}

#[tokio::test]
async fn a_later_reminder_names_nothing_and_the_answer_stays_the_same() {
    let World { alice, .. } = &World::new().await;
    solved(alice, "move the meeting", 7).await.tell("/end", json!({})).await;
    let talk = Talk::long(alice).await;
    for turn in 1..=20 {
        let body = json!({"message": "hello", "turn_key": format!("k{turn}")});
        let answer = talk.turn(body.clone()).await.text();
        assert_eq!(talk.turn(body).await.text(), answer);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        match turn {
            10 => assert_eq!(answer["nudge"], named("move the meeting")),
            20 => assert_eq!(answer["nudge"], PLAIN),
            _ => assert!(answer["nudge"].is_null(), "{answer}"),
        }
    }
}

#[tokio::test]
async fn a_correction_that_was_overcome_counts_and_few_calls_do_not() {
    let World { alice, .. } = &World::new().await;
    solved(alice, "few calls", 4).await.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    let talk = solved(alice, "fix the printer", 0).await;
    talk.tell("/feedback", json!({"kind": "correction", "note": "the other tray"})).await;
    talk.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    for praise in [json!({"kind": "thumbs_up"}), json!({"kind": "quality", "value": "good"})] {
        let talk = solved(alice, "fix the printer", 0).await;
        talk.tell("/feedback", json!({"kind": "correction", "note": "the other tray"})).await;
        talk.tell("/feedback", praise).await;
        talk.tell("/end", json!({})).await;
        assert_eq!(first_nudge(alice).await, named("fix the printer"));
    }
    let talk = solved(alice, "went badly", 9).await;
    talk.tell("/feedback", json!({"kind": "quality", "value": "poor"})).await;
    talk.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
}

#[tokio::test]
async fn nothing_is_named_that_had_a_skill_or_is_not_to_be_trusted() {
    let World { alice, .. } = &World::new().await;
    let tainted = solved(alice, "read the mail", 9).await;
    tainted.tell("/taint", json!({"source": "a mail"})).await;
    tainted.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    let saved = solved(alice, "make a skill", 9).await;
    let sent = alice.send(reqwest::Method::POST, "/v1/skills").header("Knowhow-Session", &saved.id);
    sent.json(&skill("made")).await.ok(201);
    saved.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    let loaded = solved(alice, "load it", 9).await;
    alice.get("/v1/skills/made").header("Knowhow-Session", &loaded.id).await.ok(200);
    loaded.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    let called = solved(alice, "use made", 9).await;
    called.tell("/end", json!({})).await;
    assert_eq!(first_nudge(alice).await, PLAIN);
    // A conversation that goes on beside this one is not over.
    let beside = solved(alice, "still at it", 9).await;
    let next = Talk::open(alice, json!({"tools": "full"})).await;
    beside.say("and more").await;
    assert_eq!(say_ten(&next).await["nudge"], PLAIN);
    // One that has been silent since is, whether or not somebody ended it.
    let quiet = solved(alice, "nobody ends it", 9).await;
    quiet.silent_for("1 hour");
    assert_eq!(first_nudge(alice).await, named("nobody ends it"));
}

#[tokio::test]
async fn the_summary_gives_the_title_and_the_text_is_for_who_can_save() {
    let World { alice, .. } = &World::new().await;
    let talk = solved(alice, "a long beginning", 9).await;
    talk.tell("/end", json!({})).await;
    let made = format!(
        "insert into conversation_summaries (tenant_id, user_id, session_id, title, summary, made_by, terms, channel, tainted, \
         started_at, ended_at) select tenant_id, user_id, session_id, 'The night train', '{{}}', 'extract', '{{}}', channel, false, \
         started_at, ended_at from sessions where session_id = '{}'",
        talk.id
    );
    assert_eq!(execute(&made), 1);
    assert_eq!(first_nudge(alice).await, named("The night train"));
    solved(alice, "again", 9).await.tell("/end", json!({})).await;
    let tenth = say_ten(&Talk::open(alice, json!({"tools": "read"})).await).await;
    assert_eq!((&tenth["nudge"], &tenth["text"]), (&named("again"), &json!("")));
}
