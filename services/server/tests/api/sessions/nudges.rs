//! The reminder to save a solution that the previous conversation found without a skill.

use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::sql::execute;
use crate::talk::Talk;

const PLAIN: &str = "Did you solve something complex? Save it with skill_save.";

/// Holds a conversation with `tool_calls` tool calls in its second turn.
async fn solved(who: &Caller, message: &str, tool_calls: u32) -> Talk {
    let talk = Talk::long(who).await;
    talk.turn(json!({"message": message})).await.ok(200);
    talk.turn(json!({"message": "and now?", "tool_calls": tool_calls})).await.ok(200);
    talk
}

/// Returns the first reminder of a new conversation.
async fn first_nudge(who: &Caller) -> Value {
    let talk = Talk::open(who, json!({"tools": "full"})).await;
    let tenth = say_ten(&talk).await;
    let text = format!("<knowhow>\n{}\n</knowhow>", tenth["nudge"].as_str().unwrap());
    assert_eq!(tenth["text"], json!(text));
    tenth["nudge"].clone()
}

/// Sends nine messages that get no reminder, and returns the answer to the tenth.
async fn say_ten(talk: &Talk) -> Value {
    for _ in 1..10 {
        let turn = talk.say("hello").await;
        assert!(turn["nudge"].is_null(), "{turn}");
    }
    talk.say("hello again").await
}

fn named(title: &str) -> Value {
    json!(format!(
        "{PLAIN} Last time ('{title}') a problem was solved without a skill: save the solution with skill_save?"
    ))
}

#[tokio::test]
async fn the_next_conversation_names_an_unsaved_solution_once() {
    let World { alice, bob, .. } = &World::new().await;
    solved(alice, "Book the <b>night</b> train\nto 'Oslo'", 5).await.tell("/end", json!({})).await;
    assert_eq!(first_nudge(bob).await, PLAIN);
    assert_eq!(first_nudge(alice).await, named("Book the ‹b›night‹/b› train to ’Oslo’"));
    // The previous conversation is now the one that was just reminded.
    assert_eq!(first_nudge(alice).await, PLAIN);
}

#[tokio::test]
async fn later_reminders_name_no_solution_and_repeats_answer_the_same() {
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
async fn a_resolved_correction_counts_and_few_tool_calls_do_not() {
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
async fn solutions_with_a_skill_or_from_tainted_sessions_are_not_named() {
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
    // A conversation that continues after the new one began has not ended.
    let beside = solved(alice, "still at it", 9).await;
    let next = Talk::open(alice, json!({"tools": "full"})).await;
    beside.say("and more").await;
    assert_eq!(say_ten(&next).await["nudge"], PLAIN);
    // A conversation that was silent since then counts as ended, even without a call of `/end`.
    let quiet = solved(alice, "nobody ends it", 9).await;
    quiet.silent_for("1 hour");
    assert_eq!(first_nudge(alice).await, named("nobody ends it"));
}

#[tokio::test]
async fn the_summary_gives_the_title_and_only_agents_that_can_save_get_text() {
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
