//! Names of skills in messages: which names are found, at which position, and which the user means.

use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};
use crate::talk::{Talk, create_described, names};

async fn matches(who: &Caller, message: &str) -> Value {
    who.post("/v1/skills/match", json!({"message": message})).await.ok(200)["items"].clone()
}

/// Returns the names that a turn would make active.
async fn meant(who: &Caller, message: &str) -> Vec<String> {
    let items = matches(who, message).await;
    let meant = items.as_array().unwrap().iter().filter(|item| item["meant"] == true);
    meant.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

async fn world() -> World {
    let world = World::new().await;
    create_described(
        &world.alice,
        &[
            ("git", "Keeps versions of source code in branches"),
            ("weather", "Tells how warm it gets tomorrow"),
            ("news-summary", "Condenses headlines"),
        ],
    )
    .await;
    world
}

/// Acceptance case 14: a name is found only as a whole word.
#[tokio::test]
async fn names_are_whole_words() {
    let World { alice, .. } = &world().await;
    let talk = Talk::long(alice).await;
    for (message, expected) in [
        ("use the News-Summary skill please", vec!["news-summary"]),
        ("run git, then push", vec!["git"]),
        ("(git)", vec!["git"]),
        ("GIT!", vec!["git"]),
        ("git's log", vec!["git"]),
        ("用git提交", vec!["git"]),
        ("git and git again", vec!["git"]),
        ("git news summary", vec!["news-summary", "git"]),
        ("check github", vec![]),
        ("digit", vec![]),
        ("use git-flow", vec![]),
        ("pre-git hook", vec![]),
        ("my_git git_", vec![]),
        ("gité égit", vec![]),
        ("nice weather today", vec![]),
        ("use weather", vec!["weather"]),
        ("/weather", vec!["weather"]),
    ] {
        assert_eq!(meant(alice, message).await, expected, "{message}");
        let turn = talk.turn(json!({"message": message, "context_reset": true})).await.ok(200);
        assert_eq!(names(&turn, "active"), expected, "{message}");
    }
}

/// An ordinary word counts as a name if the message calls it explicitly.
#[tokio::test]
async fn explicit_forms_make_any_word_a_name() {
    let World { alice, .. } = &world().await;
    for message in [
        "/weather",
        "/weather for Rome",
        "please /weather",
        "(/weather)",
        "/use weather",
        "use weather",
        "Use WEATHER now",
        "use the weather skill",
        "the `weather` please",
        "the weather skill",
        "weather skills",
        "use \"weather\"",
        "ｕｓｅ ｗｅａｔｈｅｒ",
    ] {
        let items = matches(alice, message).await;
        assert_eq!(pluck(&items, "name"), ["weather"], "{message}");
        assert_eq!((&items[0]["explicit"], &items[0]["meant"]), (&json!(true), &json!(true)), "{message}");
    }
    for message in ["nice weather today", "weather", "what weather", "weather/news", "and/weather", "user weather"] {
        let items = matches(alice, message).await;
        assert!(items.as_array().unwrap().iter().all(|item| item["explicit"] == false), "{message}: {items}");
        assert_eq!(meant(alice, message).await, Vec::<String>::new(), "{message}");
    }
}

#[tokio::test]
async fn positions_are_counted_in_characters() {
    let World { alice, .. } = &world().await;
    for (message, name, text, start, end) in [
        ("git", "git", "git", 0, 3),
        ("\u{1F600} 用git提交", "git", "git", 3, 6),
        ("nåïve GIT", "git", "GIT", 6, 9),
        ("e\u{301} git", "git", "git", 3, 6),
        ("the News-Summary skill", "news-summary", "News-Summary", 4, 16),
        ("the news  summary", "news-summary", "news  summary", 4, 17),
        ("\r\n\tgit\r\n", "git", "git", 3, 6),
    ] {
        let items = matches(alice, message).await;
        let called = message.contains("skill") || message.contains('用');
        let mut expected = json!([{
            "name": name, "text": text, "start": start, "end": end, "explicit": called, "meant": true,
            "stance": if called { "called" } else { "named" },
        }]);
        if message.contains('用') {
            expected[0]["cue"] = json!("用");
        }
        assert_eq!(items, expected, "{message:?}");
    }
    assert_eq!(
        members(&matches(alice, "git").await[0]),
        ["end", "explicit", "meant", "name", "stance", "start", "text"]
    );
}

#[tokio::test]
async fn a_last_segment_is_a_name_if_only_one_skill_has_it() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/webhook", "mcp/jira", "ops/kubectl", "dev/kubectl", "jira-cloud/import-csv"]).await;
    for (message, expected) in [
        ("mcp/webhook", vec!["mcp/webhook"]),
        ("mcp webhook", vec!["mcp/webhook"]),
        ("Mcp-Webhook", vec!["mcp/webhook"]),
        ("the webhook", vec!["mcp/webhook"]),
        ("kubectl", vec![]),
        ("use kubectl", vec![]),
        ("use ops/kubectl", vec!["ops/kubectl"]),
        ("dev kubectl and ops kubectl", vec!["dev/kubectl", "ops/kubectl"]),
        ("other/webhook", vec![]),
        ("import csv", vec!["jira-cloud/import-csv"]),
        ("jira cloud import csv with mcp jira", vec!["jira-cloud/import-csv", "mcp/jira"]),
    ] {
        assert_eq!(meant(alice, message).await, expected, "{message}");
    }
    alice.create(skill("webhook")).await;
    assert_eq!(meant(alice, "the webhook").await, ["webhook"]);
    assert_eq!(meant(alice, "the mcp/webhook").await, ["mcp/webhook"]);
}

#[tokio::test]
async fn malformed_messages_are_rejected() {
    let World { alice, bob, .. } = &world().await;
    let ask = |body: Value| alice.post("/v1/skills/match", body);
    ask(json!({"message": ""})).await.invalid("/message", "empty");
    ask(json!({"message": " \n\t\u{3000}"})).await.invalid("/message", "empty");
    ask(json!({"message": "a\0b"})).await.invalid("/message", "NUL");
    ask(json!({"message": "x".repeat(65_537)})).await.refused(413, "too-large");
    ask(json!({"message": "git ".repeat(16_384)})).await.ok(200);
    for wrong in [json!({}), json!({"message": 7}), json!({"message": "x", "more": 1})] {
        ask(wrong).await.refused(422, "invalid");
    }
    assert_eq!(matches(bob, "git").await, json!([]));
    assert_eq!(alice.peek("git").await["times_used"], 0);
}
