//! Messages that people type or speak on a phone: a few words in their own language, with the real model.

use serde_json::{Value, json};

use super::everyday::{ready, vectors_made, with_model, world};
use crate::callers::{Caller, World};
use crate::examples::{load, messages};
use crate::talk::{Talk, brought, create_described};

const SKILLS: [(&str, &str); 8] = [
    ("mcp/email", "Sends and reads email."),
    ("plan-meeting", "Finds a time for a meeting and invites people."),
    ("book-table", "Reserves a table at a restaurant."),
    ("refund-order", "Gives customers their money back for an order."),
    ("reset-password", "Helps people who cannot sign in set a new password."),
    ("hue-lights", "Switches lamps on and off and dims them."),
    ("weather", "Tells whether it will rain, and the temperature."),
    ("translate-text", "Translates a text into another language."),
];

/// Returns the skills for an SMS of a new conversation: called skills, then recalled ones.
async fn brought_by_sms(who: &Caller, message: &str) -> Vec<String> {
    let talk = Talk::open(who, json!({"channel": "sms"})).await;
    let turn = talk.turn(json!({"message": message, "deadline_ms": 30_000})).await.ok(200);
    assert_eq!(turn["degraded"], Value::Null, "{message}");
    brought(&turn)
}

#[tokio::test]
async fn a_few_words_are_a_whole_request() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    create_described(alice, &SKILLS).await;
    vectors_made(slug).await;
    ready(alice, "please send an email to Bob", "mcp/email").await;
    for (message, skill) in [
        ("book a table", "book-table"),
        ("reset pw", "reset-password"),
        ("email bob", "mcp/email"),
        ("lights off", "hue-lights"),
        ("is it raining?", "weather"),
        ("can't log in", "reset-password"),
        ("I want my money back", "refund-order"),
        ("Kannst du bitte einen Tisch für heute Abend reservieren?", "book-table"),
        ("¿va a llover mañana?", "weather"),
        ("выключи свет", "hue-lights"),
    ] {
        let found = brought_by_sms(alice, message).await;
        assert_eq!(found.first().map(String::as_str), Some(skill), "{message}: {found:?}");
        assert!(found.len() <= 3, "{message}: {found:?}");
    }
    for message in ["ok", "thanks!", "yes", "lol", "👍", "danke dir", "xyzzy plugh quux frobnicate", "good night"] {
        assert_eq!(brought_by_sms(alice, message).await, Vec::<String>::new(), "{message}");
    }
}

/// A message of twelve Chinese characters is a complete request.
#[tokio::test]
async fn a_trigger_counts_in_a_short_message() {
    let World { alice, .. } = &World::with(json!({"starter_skills": false})).await;
    let invoice = json!({"name": "make-invoice", "description": "Writes an invoice.", "triggers": ["发票"], "content": "# Invoice"});
    alice.create(invoice).await;
    let found =
        alice.post("/v1/skills/match", json!({"message": "帮我给王先生开一张发票吧", "explain": true})).await.ok(200);
    assert_eq!(found["explanation"]["candidates"][0]["name"], "make-invoice");
    assert_eq!(found["explanation"]["candidates"][0]["comes"], true, "{found}");
}

/// A use after small talk adds no example to the skill.
#[tokio::test]
async fn small_talk_adds_no_example() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    create_described(alice, &SKILLS).await;
    vectors_made(slug).await;
    ready(alice, "please send an email to Bob", "mcp/email").await;
    let talk = Talk::long(alice).await;
    for message in ["ok", "thank you so much", "kill the lamps"] {
        talk.say(message).await;
        load(alice, &talk.id, "hue-lights").await;
    }
    crate::examples::learned(alice, "hue-lights", &["kill the lamps"]).await;
    assert_eq!(messages(alice, "hue-lights").await, ["kill the lamps"]);
}
