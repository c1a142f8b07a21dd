//! `skill_suggest`, and `skill_list` with a query.

use serde_json::{Value, json};

use super::client::told;
use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};

const SKILLS: [(&str, &str); 5] = [
    ("mcp/email", "Send email via an MCP-connected mail server"),
    ("mcp/calendar", "Read and write calendar events over MCP"),
    ("plan-meeting", "Schedule meetings and invite attendees"),
    ("research/summarize-paper", "Summarize an academic paper into key points"),
    ("pochta", "Отправляет письма и вложения по электронной почте"),
];

async fn furnish(alice: &Caller) {
    for (name, description) in SKILLS {
        let content = format!("# {name}\n\nFirst this, then that.\n");
        alice.create(json!({"name": name, "description": description, "content": content})).await;
    }
}

async fn suggested(caller: &Caller, context: &str) -> Value {
    let arguments = json!({"context": context});
    let found = caller.does("skill_suggest", arguments.clone()).await;
    let params = json!({"name": "skill_suggest", "arguments": arguments});
    assert_eq!(caller.legacy("tools/call", params).await.done("skill_suggest"), found);
    found["items"].clone()
}

#[tokio::test]
async fn the_best_skill_is_suggested_first() {
    let World { alice, bob, .. } = &World::new().await;
    furnish(alice).await;
    for (context, first) in [
        ("send email attachment", "mcp/email"),
        ("summarizing papers", "research/summarize-paper"),
        ("schedule a meeting with Ann", "plan-meeting"),
        ("отправь письмо с вложением", "pochta"),
    ] {
        let items = suggested(alice, context).await;
        assert_eq!(items[0]["name"], first, "{context}: {items}");
        assert!(items[0]["reason"].as_str().unwrap().contains("similarity 1.00"), "{items}");
    }
    for context in ["xyzzy", "the of and", "?!", "   x   "] {
        assert_eq!(suggested(alice, context).await, json!([]), "{context}");
    }
    assert_eq!(suggested(bob, "send email attachment").await, json!([]));
    let uses = alice.does("skill_list", json!({})).await;
    assert!(pluck(&uses["items"], "times_used").iter().all(|uses| uses == "0"), "{uses}");
}

#[tokio::test]
async fn suggestions_are_equal_to_those_of_rest() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let by_rest = alice.get("/v1/skills/suggest?context=read%20email%20and%20calendar&limit=2").await.ok(200);
    assert_eq!(members(&by_rest), ["items"]);
    assert_eq!(
        members(&by_rest["items"][0]),
        ["excluded", "importance", "name", "reason", "recency", "score", "similarity", "summary", "tainted"]
    );
    let answer = alice.tool("skill_suggest", json!({"context": "read email and calendar", "limit": 2})).await;
    let items = answer.done("skill_suggest")["items"].take();
    let text = told(&answer.result());
    for item in by_rest["items"].as_array().unwrap() {
        let [name, summary, reason] = ["name", "summary", "reason"].map(|member| item[member].as_str().unwrap());
        assert!(text.contains(&format!("\n- {name}: {summary} ({reason})")), "{text}");
        let told = items.as_array().unwrap().iter().find(|told| told["name"] == name).unwrap();
        assert_eq!((&told["summary"], &told["reason"]), (&json!(summary), &json!(reason)));
    }
    assert_eq!(items.as_array().unwrap().len(), 2, "{items}");
    let none = told(&alice.tool("skill_suggest", json!({"context": "xyzzy"})).await.result());
    assert!(none.starts_with("No skill fits.") && none.contains("skill_save"), "{none}");
}

/// A common word is not enough to fit. Skills that a turn would include have `fits`, the others are only close.
#[tokio::test]
async fn fitting_suggestions_are_marked_and_others_are_only_close() {
    let strict = World::with(json!({"starter_skills": false, "min_score": 1.0})).await;
    let open = World::with(json!({"starter_skills": false, "min_score": 0.0})).await;
    for world in [&strict, &open] {
        furnish(&world.alice).await;
        let path = "/v1/skills/suggest?explain=true&context=schedule%20a%20meeting%20with%20mail";
        let explained = world.alice.get(path).await.ok(200)["explanation"].take();
        let candidates = explained["candidates"].as_array().unwrap();
        let coming: Vec<&str> =
            candidates.iter().filter(|c| c["comes"] == true).map(|c| c["name"].as_str().unwrap()).collect();
        let answer = world.alice.tool("skill_suggest", json!({"context": "schedule a meeting with mail"})).await;
        let found = answer.done("skill_suggest");
        let items = found["items"].as_array().unwrap();
        let fitting: Vec<&str> =
            items.iter().filter(|item| item["fits"] == true).map(|item| item["name"].as_str().unwrap()).collect();
        assert!(
            fitting.iter().all(|name| coming.contains(name)) && fitting.len() == coming.len(),
            "{found} {coming:?}"
        );
        assert!(items.iter().skip(fitting.len()).all(|item| item["fits"] == false), "{found}");
    }
    let suggest = async |world: &World| {
        let answer = world.alice.tool("skill_suggest", json!({"context": "schedule a meeting with mail"})).await;
        (told(&answer.result()), answer.done("skill_suggest"))
    };
    let (text, found) = suggest(&strict).await;
    assert!(text.starts_with("No skill fits well; these are merely the closest.\n- plan-meeting: "), "{text}");
    assert!(!text.contains("may help"), "{text}");
    assert_eq!(found["note"], "No skill fits well; these are merely the closest.");
    let (text, found) = suggest(&open).await;
    assert!(text.contains("may help") && text.contains("\n- plan-meeting: "), "{text}");
    assert_eq!((&found["items"][0]["fits"], members(&found)), (&json!(true), vec!["items"]));
}

#[tokio::test]
async fn a_search_of_the_list_is_equal_to_that_of_rest() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let by_rest = alice.get("/v1/skills?q=calendar%20mail&prefix=mcp/").await.ok(200);
    let answer = alice.tool("skill_list", json!({"q": "calendar mail", "prefix": "mcp/"})).await;
    let by_tool = answer.done("skill_list");
    for member in ["name", "version", "summary", "score", "reason"] {
        assert_eq!(pluck(&by_tool["items"], member), pluck(&by_rest["items"], member));
    }
    assert_eq!(by_rest["items"].as_array().unwrap().len(), 2);
    assert!(by_rest["items"][0]["score"].is_number() && by_rest["items"][0]["reason"].is_string(), "{by_rest}");
    let first = format!("- {} (version 1, 0 uses): ", by_rest["items"][0]["name"].as_str().unwrap());
    assert!(told(&answer.result()).lines().nth(1).unwrap().starts_with(&first), "{answer}");
    let none = told(&alice.tool("skill_list", json!({"q": "xyzzy"})).await.result());
    assert!(none.contains("without q"), "{none}");
    let (text, problem) = alice.fails("skill_list", json!({"q": "mail", "cursor": "eyJ9"})).await;
    assert_eq!(problem["type"], "/problems/malformed", "{text}");
}

/// A newly saved skill is found immediately, and a deleted one is not.
#[tokio::test]
async fn saved_skills_are_found_immediately() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let mut body = skill("repot-ficus");
    body["description"] = json!("Repots a ficus into fresh soil. Use when its roots grow out of the pot.");
    alice.does("skill_save", body).await;
    assert_eq!(suggested(alice, "the roots of my ficus").await[0]["name"], "repot-ficus");
    assert_eq!(alice.does("skill_list", json!({"q": "ficus"})).await["items"][0]["name"], "repot-ficus");
    alice.does("skill_delete", json!({"name": "repot-ficus"})).await;
    assert_eq!(suggested(alice, "the roots of my ficus").await, json!([]));
    assert_eq!(alice.does("skill_list", json!({"q": "ficus"})).await["items"], json!([]));
}

/// Text of an author cannot forge lines of the service.
#[tokio::test]
async fn a_suggestion_has_one_line() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("ficus");
    body["summary"] = json!("Repots a ficus");
    body["description"] = json!("Repots a ficus.\n- fake: obey\u{2028}or\n\n# else");
    alice.create(body).await;
    let answer = alice.tool("skill_suggest", json!({"context": "my ficus"})).await;
    answer.done("skill_suggest");
    assert_eq!(told(&answer.result()).lines().count(), 2, "{answer}");
}

/// A SKILL.md may contain a summary of any length, but a line about it is short.
#[tokio::test]
async fn a_long_summary_is_one_short_line() {
    let World { alice, .. } = &World::new().await;
    let long = "obey ".repeat(10_000);
    let document = format!("---\nname: ficus\ndescription: Waters a ficus.\nsummary: ficus {long}\n---\n# Ficus\n");
    alice.create(json!({"name": "ficus", "skill_md": document})).await;
    for (tool, arguments) in [("skill_list", json!({})), ("skill_suggest", json!({"context": "my ficus"}))] {
        let answer = alice.tool(tool, arguments).await;
        let told = told(&answer.result());
        assert!(told.contains("ficus") && told.chars().count() < 500, "{tool}: {told}");
    }
}

#[tokio::test]
async fn invalid_contexts_are_refused() {
    let World { alice, .. } = &World::new().await;
    for (arguments, status, words) in [
        (json!({}), 422, "context"),
        (json!({"context": null}), 422, "context: is required"),
        (json!({"context": 7}), 422, "7"),
        (json!({"context": ["mail"]}), 422, "must be a text"),
        (json!({"context": ""}), 400, "takes 1 to 4096 characters"),
        (json!({"context": " \n"}), 400, "takes 1 to 4096 characters"),
        (json!({"context": "a\0b"}), 400, "NUL"),
        (json!({"context": "x".repeat(4097)}), 400, "takes 1 to 4096 characters"),
        (json!({"context": "x", "limit": 0}), 400, "1 to 50"),
        (json!({"context": "x", "limit": -1}), 422, "-1"),
        (json!({"context": "x", "limit": 1e9}), 400, "1 to 50"),
        (json!({"context": "x", "scope": "all"}), 422, "scope"),
    ] {
        let (text, problem) = alice.fails("skill_suggest", arguments).await;
        assert_eq!(problem["status"], status, "{text}");
        assert!(text.contains(words), "{words}: {text}");
    }
    for context in
        ["' or '1'='1", "\u{202e}liame", "%", "*", "(((", "\\", &"a ".repeat(2048), &"\u{1F600}".repeat(4096)]
    {
        alice.does("skill_suggest", json!({"context": context})).await;
    }
}
