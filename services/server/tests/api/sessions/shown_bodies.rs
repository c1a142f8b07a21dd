//! Bodies in a turn, and the channel's budget for them.

use reqwest::Method;
use serde_json::{Value, json};

use super::shown::{mark, sized};
use crate::callers::World;
use crate::talk::{Talk, create_described, described, names};

/// An agent without tools gets bodies with the turn, and no mention of tools.
#[tokio::test]
async fn agents_without_tools_get_the_bodies() {
    let World { alice, .. } = &World::new().await;
    let mut zebra = described("zebra-care", "Feeds and brushes striped horses");
    zebra["see_also"] = json!(["zoo"]);
    alice.create(zebra).await;
    create_described(alice, &[("horse-care", "Feeds and brushes plain horses"), ("zoo", "Opens gates")]).await;
    let path = "/v1/skills/zebra-care/resources/references/food.md";
    alice.send(Method::PUT, path).body("application/octet-stream", "Hay.").await.ok(200);
    let talk = Talk::open(alice, json!({})).await;
    assert_eq!(talk.opened["tools"], "none");
    let block = talk.opened["snapshot"]["text"].as_str().unwrap();
    assert!(block.contains("- zebra-care: Feeds and brushes striped horses") && !block.contains("skill_"), "{block}");
    let turn = talk.say("how do I brush my striped horses?").await;
    let body = "## Procedure\n\n1. Begin.\n2. End.";
    let mark = mark(body);
    let reference = |name: &str, version: u32| {
        format!(
            "<reference name=\"{name}\" version=\"{version}\" mark=\"{mark}\">\n{body}\n</reference mark=\"{mark}\">"
        )
    };
    assert_eq!(
        turn["text"],
        format!(
            "<knowhow>\nRelevant skills for this message: zebra-care, horse-care\n\n## Reference Material\n\n\
             Found by similarity, not requested by name. If one fits the user's request, follow it.\n\n\
             {}\nOther files of zebra-care are not available here.\n\n{}\n</knowhow>",
            reference("zebra-care", 2),
            reference("horse-care", 1)
        )
    );
    assert_eq!(turn["relevant"][0]["files"], json!(["references/food.md"]));
    let nudges = Talk::open(alice, json!({})).await;
    for _ in 0..9 {
        nudges.say("Hello there, how do you do?").await;
    }
    let last = nudges.say("Hello there, how do you do?").await;
    assert!(last["nudge"].is_string() && last["text"] == "", "{last}");
}

/// Bodies of recalled skills use a part of the budget, best match first. An agent without tools is not given the
/// names of the rest.
#[tokio::test]
async fn without_tools_the_best_bodies_within_the_budget_are_given() {
    let channels = json!({"chat": {"body_budget": 3000, "tools": "none"}, "voice": {"tools": "read"}});
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "channels": channels})).await;
    for (name, characters) in [("s1", 500), ("s2", 500), ("s3", 200)] {
        let description = "Feeds and brushes striped horses";
        alice.create(json!({"name": name, "description": description, "content": "\u{e9}".repeat(characters)})).await;
    }
    let talk = Talk::open(alice, json!({"channel": "chat"})).await;
    let turn = talk.say("how do I brush my striped horses?").await;
    assert_eq!(names(&turn, "relevant"), ["s1", "s2", "s3"]);
    let came = |turn: &Value| {
        let relevant = turn["relevant"].as_array().unwrap();
        relevant
            .iter()
            .filter(|skill| skill["content"].is_string())
            .map(|skill| skill["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(came(&turn), ["s1", "s3"]);
    assert!(
        turn["text"].as_str().unwrap().contains("Relevant skills for this message: s1, s3\n\n## Reference Material")
    );
    // The skill was not mentioned, so the next matching turn includes it.
    assert_eq!(came(&talk.say("how do I brush my striped horses?").await), ["s2"]);
    assert_eq!(Talk::open(alice, json!({"channel": "voice"})).await.opened["tools"], "read");
    let refused = alice.post("/v1/sessions", json!({"tools": "some"})).await;
    assert_eq!(refused.status, 422);
}

#[tokio::test]
async fn bodies_stay_within_the_channels_budget() {
    let channels = json!({"voice": {"body_budget": 100}, "sms": {"body_budget": 0}});
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "channels": channels})).await;
    for (name, size) in [("xylophone-tuning", 60), ("kazoo-repair", 50), ("zither", 40), ("gigantic-lute", 100)] {
        alice.create(sized(name, size)).await;
    }
    let voice = async || Talk::open(alice, json!({"channel": "voice", "tools": "full"})).await;
    // Longer names are more specific, so their bodies are added first. A body that does not fit is listed, and a
    // shorter one may still fit.
    let talk = voice().await;
    let turn = talk.say("zither, kazoo repair, xylophone tuning").await;
    assert_eq!(names(&turn, "active"), ["xylophone-tuning", "zither"]);
    assert_eq!(turn["too_long"], json!([{"name": "kazoo-repair", "characters": 50}]));
    assert!(
        turn["text"].as_str().unwrap().contains(
            "\n\nMentioned, but too long to include here; load with skill_view: kazoo-repair (50 characters)"
        )
    );
    // The skill was not shown, so a message that names it again includes it.
    assert_eq!(names(&talk.say("kazoo repair").await, "active"), ["kazoo-repair"]);
    assert_eq!(names(&voice().await.say("gigantic lute").await, "active"), ["gigantic-lute"]);
}

#[tokio::test]
async fn a_body_one_character_over_the_budget_is_left_out() {
    let channels = json!({"voice": {"body_budget": 100}, "sms": {"body_budget": 0}});
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "channels": channels})).await;
    alice.create(sized("zither", 101)).await;
    alice.create(sized("kazoo", 1)).await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    let turn = talk.say("use zither").await;
    assert_eq!((&turn["active"], names(&turn, "too_long")), (&json!([]), vec!["zither".to_owned()]));
    let talk = Talk::open(alice, json!({"channel": "sms"})).await;
    assert_eq!(names(&talk.say("use kazoo").await, "too_long"), ["kazoo"]);
    let talk = Talk::open(alice, json!({"channel": "chat"})).await;
    assert_eq!(names(&talk.say("use zither and use kazoo").await, "active"), ["zither", "kazoo"]);
    assert_eq!(
        (&alice.peek("zither").await["times_used"], &alice.peek("kazoo").await["times_used"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test]
async fn inline_top_adds_the_best_body() {
    let World { alice, .. } = &World::new().await;
    create_described(
        alice,
        &[("zebra-care", "Feeds and brushes striped horses"), ("horse-care", "Feeds and brushes plain horses")],
    )
    .await;
    let talk = Talk::open(alice, json!({"inline_top": true, "channel": "voice", "tools": "full"})).await;
    let turn = talk.say("how do I brush my striped horses?").await;
    assert_eq!(names(&turn, "relevant"), ["zebra-care", "horse-care"]);
    let body = "## Procedure\n\n1. Begin.\n2. End.\n";
    assert_eq!((&turn["relevant"][0]["content"], &turn["relevant"][0]["version"]), (&json!(body), &json!(1)));
    assert_eq!((&turn["relevant"][1]["content"], &turn["active"]), (&Value::Null, &json!([])));
    let mark = mark(body.trim_end());
    let reference = format!(
        "\n\n## Reference Material\n\nFound by similarity, not requested by name. \
         If one fits the user's request, follow it.\n\n\
         <reference name=\"zebra-care\" version=\"1\" mark=\"{mark}\">\n{}\n</reference mark=\"{mark}\">\n</knowhow>",
        body.trim_end()
    );
    assert!(turn["text"].as_str().unwrap().ends_with(&reference), "{turn}");
    let used = async |name: &str| alice.peek(name).await["times_used"].as_i64().unwrap();
    assert_eq!((used("zebra-care").await, used("horse-care").await), (1, 0));
    // The skill was included as reference and not as an instruction, so a message that names it still includes it.
    assert_eq!(names(&talk.say("use zebra-care").await, "active"), ["zebra-care"]);
    assert_eq!(talk.say("use zebra-care").await["text"], "");
    assert_eq!(names(&talk.say("use horse-care").await, "active"), ["horse-care"]);
    assert_eq!((used("zebra-care").await, used("horse-care").await), (2, 1));
}
