//! Failing tools: the text says what to do next, and the problem equals that of REST.

use serde_json::{Value, json};

use super::client::request;
use super::entries::put;
use crate::answers::pluck;
use crate::callers::{Caller, World, skill};

fn edits(old: &str, new: &str) -> Value {
    json!([{"old_string": old, "new_string": new}])
}

/// HTTP status and problem type of a refusal.
struct Refusal<'a> {
    status: u16,
    kind: &'a str,
}

async fn fails(caller: &Caller, tool: &str, arguments: Value, refusal: Refusal<'_>) -> (String, Value) {
    let Refusal { status, kind } = refusal;
    let (text, problem) = caller.fails(tool, arguments).await;
    assert_eq!((&problem["status"], &problem["type"]), (&json!(status), &json!(format!("/problems/{kind}"))), "{text}");
    assert!(text.starts_with(char::is_uppercase) && !text.contains("/v1/"), "{text}");
    (text, problem)
}

#[tokio::test]
async fn an_unknown_name_is_refused_with_similar_names() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan-meeting", "mcp/email", "weather"]).await;
    for (tool, arguments) in [
        ("skill_view", json!({"name": "plan-meting"})),
        ("skill_view", json!({"name": "plan-meting", "path": "references/a.md"})),
        ("skill_patch", json!({"name": "plan-meting", "edits": edits("a", "b")})),
        ("skill_delete", json!({"name": "plan-meting"})),
        ("skill_history", json!({"name": "plan-meting"})),
        ("skill_history", json!({"name": "plan-meting", "version": 1})),
        ("skill_history", json!({"name": "plan-meting", "to": 1})),
    ] {
        let (text, problem) = fails(alice, tool, arguments, Refusal { status: 404, kind: "not-found" }).await;
        assert!(pluck_texts(&problem["candidates"]).contains(&"plan-meeting".to_owned()), "{tool}: {problem}");
        assert!(text.contains("plan-meeting") && text.contains("skill_list"), "{tool}: {text}");
    }
    let (text, problem) =
        fails(alice, "skill_view", json!({"name": "xyzzy"}), Refusal { status: 404, kind: "not-found" }).await;
    assert_eq!(problem["candidates"].as_array().map_or(0, Vec::len), 0, "{problem}");
    assert!(text.contains("skill_list") && text.contains("skill_save"), "{text}");
}

fn pluck_texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_ambiguous_last_segment_is_refused_with_the_full_names() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/email", "office/email", "other"]).await;
    for (tool, arguments) in [
        ("skill_view", json!({"name": "email"})),
        ("skill_patch", json!({"name": "email", "edits": edits("First", "Last")})),
        ("skill_history", json!({"name": "email"})),
    ] {
        let (text, problem) = fails(alice, tool, arguments, Refusal { status: 409, kind: "ambiguous-name" }).await;
        assert_eq!(problem["candidates"], json!(["mcp/email", "office/email"]));
        assert!(text.contains("mcp/email") && text.contains("office/email"), "{tool}: {text}");
    }
    // A deletion requires the full name.
    let (text, _) =
        fails(alice, "skill_delete", json!({"name": "email"}), Refusal { status: 404, kind: "not-found" }).await;
    assert!(text.contains("mcp/email") && text.contains("office/email"), "{text}");
}

#[tokio::test]
async fn a_patch_without_a_match_is_refused_with_similar_passages() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("p");
    body["content"] = json!("# Procedure\n\n1. Read the address book.\n2. Send the message.\n");
    alice.create(body).await;
    let wanted = json!({"name": "p", "edits": edits("Read the adress book", "x")});
    let (text, problem) = fails(alice, "skill_patch", wanted, Refusal { status: 422, kind: "patch-no-match" }).await;
    assert_eq!(problem["closest"][0]["text"], "1. Read the address book.");
    let line = problem["closest"][0]["line"].as_u64().unwrap();
    assert!(text.contains(&format!("--- line {line}\n1. Read the address book.")), "{text}");
    assert!(text.contains("Edit 0") && text.contains("no edit was applied"), "{text}");
    assert!(text.contains("has \"Read the adress book\"."), "{text}");
    let nowhere = json!({"name": "p", "edits": edits("\u{6587}\u{6587}\u{6587}\u{6587}", "x")});
    let (text, _) = fails(alice, "skill_patch", nowhere, Refusal { status: 422, kind: "patch-no-match" }).await;
    assert!(text.contains("skill_view") || text.contains("--- line"), "{text}");
    assert_eq!(alice.peek("p").await["version"], 1);
}

#[tokio::test]
async fn a_patch_with_several_matches_is_refused_with_their_places() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("p");
    body["content"] = json!("one word\n\ntwo word\n");
    alice.create(body).await;
    put(alice, "p", "references/a.md", b"word word\n").await;
    let wanted = json!({"name": "p", "edits": edits("word", "x")});
    let (text, problem) = fails(alice, "skill_patch", wanted, Refusal { status: 422, kind: "patch-ambiguous" }).await;
    assert_eq!(pluck(&problem["matches"], "text"), ["one word", "two word"]);
    for passage in problem["matches"].as_array().unwrap() {
        assert!(
            text.contains(&format!("--- line {}\n{}", passage["line"], passage["text"].as_str().unwrap())),
            "{text}"
        );
    }
    assert!(text.contains("replace_all") && text.contains("2 times"), "{text}");
    let mut second = edits("one word", "1");
    second.as_array_mut().unwrap().push(json!({"old_string": "word", "new_string": "x", "path": "references/a.md"}));
    let wanted = json!({"name": "p", "edits": second});
    let (text, _) = fails(alice, "skill_patch", wanted, Refusal { status: 422, kind: "patch-ambiguous" }).await;
    assert!(text.contains("Edit 1"), "{text}");
    assert_eq!(alice.peek("p").await["content"], "one word\n\ntwo word\n");
}

#[tokio::test]
async fn a_version_conflict_states_the_current_version() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    alice.replace("p", "First", "Last").await.ok(200);
    let mut body = skill("p");
    body["expected_version"] = json!(1);
    for (tool, arguments) in [
        ("skill_save", body.clone()),
        ("skill_patch", json!({"name": "p", "edits": edits("Last", "x"), "expected_version": 1})),
        ("skill_delete", json!({"name": "p", "expected_version": 1})),
    ] {
        let (text, problem) = fails(alice, tool, arguments, Refusal { status: 409, kind: "version-conflict" }).await;
        assert_eq!(problem["current_version"], 2, "{tool}");
        assert!(text.contains("version 2") && text.contains("skill_view"), "{tool}: {text}");
    }
    body["name"] = json!("new");
    fails(alice, "skill_save", body, Refusal { status: 409, kind: "version-conflict" }).await;
    assert_eq!(alice.names().await, ["p"]);
}

#[tokio::test]
async fn refusals_explain_their_cause() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["kept", "p"]).await;
    put(alice, "p", "references/a.md", b"alpha").await;
    alice.put("/v1/skills/kept/fields", json!({"pinned": true})).await.ok(200);
    let (text, _) =
        fails(alice, "skill_delete", json!({"name": "kept"}), Refusal { status: 409, kind: "pinned" }).await;
    assert!(text.contains("pinned") && text.contains("user"), "{text}");
    for (tool, arguments, status, kind, words) in [
        ("skill_view", json!({"name": "p", "path": "references/b.md"}), 404, "not-found", "references/a.md"),
        ("skill_view", json!({"name": "p", "path": "references/b.md"}), 404, "not-found", "without a path"),
        ("skill_history", json!({"name": "p", "version": 9}), 404, "not-found", "skill_history"),
        ("skill_history", json!({"name": "p", "from": 1, "to": 9}), 404, "not-found", "skill_history"),
        ("skill_history", json!({"name": "p", "version": 1, "to": 2}), 422, "invalid", "not both"),
        ("skill_delete", json!({"name": "p", "absorbed_into": "p"}), 422, "invalid", "absorbed_into"),
        ("skill_delete", json!({"name": "p", "absorbed_into": "none"}), 422, "invalid", "absorbed_into"),
        ("skill_patch", json!({"name": "p", "edits": []}), 422, "invalid", "edits"),
        ("skill_patch", json!({"name": "p", "edits": edits("", "x")}), 422, "invalid", "old_string"),
        ("skill_patch", json!({"name": "p", "edits": edits("description: Does", "x")}), 422, "invalid", ""),
        ("skill_list", json!({"cursor": "x"}), 400, "malformed", "cursor"),
        ("skill_list", json!({"limit": 0}), 400, "malformed", "1 to 200"),
        ("skill_history", json!({"name": "p", "cursor": "x"}), 400, "malformed", "cursor"),
    ] {
        let (text, _) = fails(alice, tool, arguments, Refusal { status, kind }).await;
        assert!(text.contains(words), "{tool}: {text}");
    }
    let mut long = skill("long");
    long["content"] = json!("x".repeat(256 * 1024 + 1));
    let (text, _) = fails(alice, "skill_save", long, Refusal { status: 413, kind: "too-large" }).await;
    assert!(text.contains("second skill"), "{text}");
    assert_eq!(alice.names().await, ["kept", "p"]);
    assert_eq!(alice.peek("p").await["version"], 2);
}

#[tokio::test]
async fn an_exhausted_quota_is_explained() {
    let world = World::with(json!({"starter_skills": false, "skills_per_user": 1})).await;
    world.alice.does("skill_save", skill("one")).await;
    let (text, problem) = world.alice.fails("skill_save", skill("two")).await;
    assert_eq!((&problem["status"], &problem["type"]), (&json!(429), &json!("/problems/quota-exceeded")), "{text}");
    assert_eq!(world.alice.names().await, ["one"]);
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    for (tool, arguments, words) in [
        ("skill_save", json!({"name": "x"}), vec!["content"]),
        ("skill_save", json!({}), vec!["name: is required"]),
        ("skill_save", json!({"name": "Not A Name", "description": "d", "content": "c"}), vec!["name"]),
        (
            "skill_save",
            json!({"name": "x", "description": "d", "content": "c", "tags": "mail, post"}),
            vec!["tags", "a list such as"],
        ),
        ("skill_save", json!({"name": "x", "description": 7, "content": "c"}), vec!["7"]),
        ("skill_save", json!({"name": "x", "description": "d", "content": "c", "colour": "red"}), vec!["colour"]),
        ("skill_save", json!({"skill_md": "no frontmatter"}), vec!["skill_md"]),
        ("skill_save", json!({"skill_md": "---\nname: x\ndescription: d\n---\nB", "content": "c"}), vec!["skill_md"]),
        ("skill_view", json!({}), vec!["name"]),
        ("skill_view", json!({"name": null}), vec!["name: is required"]),
        ("skill_view", json!({"name": ["p"]}), vec!["must be a text"]),
        ("skill_view", json!({"name": "p", "file": "a"}), vec!["file"]),
        ("skill_patch", json!({"name": "p"}), vec!["edits"]),
        ("skill_patch", json!({"edits": edits("a", "b")}), vec!["name"]),
        (
            "skill_patch",
            json!({"name": "p", "edits": "a -> b"}),
            vec!["[{\"old_string\": \"...\", \"new_string\": \"...\"}]"],
        ),
        ("skill_patch", json!({"name": "p", "edits": [{"old_string": "a"}]}), vec!["new_string"]),
        ("skill_patch", json!({"name": "p", "edits": [{"old_string": "a", "new_string": "b", "all": 1}]}), vec!["all"]),
        ("skill_delete", json!({"name": "p", "expected_version": "one"}), vec!["\"one\""]),
        ("skill_delete", json!({"name": "p", "force": true}), vec!["force"]),
        ("skill_history", json!({"name": "p", "version": 1.5}), vec!["1.5"]),
        ("skill_list", json!({"limit": "many"}), vec!["many"]),
        ("skill_list", json!({"ranked": "yes"}), vec!["yes"]),
        ("skill_list", json!({"query": "mail"}), vec!["query"]),
    ] {
        let (text, problem) = fails(alice, tool, arguments.clone(), Refusal { status: 422, kind: "invalid" }).await;
        assert!(words.iter().all(|word| text.contains(word)), "{tool} {arguments}: {text}");
        assert!(!problem["errors"].as_array().unwrap().is_empty(), "{tool}: {problem}");
    }
    assert_eq!(alice.names().await, ["p"]);
    assert_eq!(alice.peek("p").await["version"], 1);
}

/// Some models send null for arguments that they omit.
#[tokio::test]
async fn null_arguments_are_treated_as_omitted() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("p");
    for member in ["summary", "tags", "skill_md", "expected_version", "metadata"] {
        body[member] = Value::Null;
    }
    alice.does("skill_save", body).await;
    alice.does("skill_view", json!({"name": "p", "path": null})).await;
    alice.does("skill_list", json!({"prefix": null, "limit": null, "cursor": null, "ranked": null})).await;
    alice.does("skill_history", json!({"name": "p", "version": null, "from": null})).await;
    alice.does("skill_delete", json!({"name": "p", "absorbed_into": null})).await;
    alice.rpc("tools/call", json!({"name": "skill_list"})).await.done("skill_list");
    alice.rpc("tools/call", json!({"name": "skill_list", "arguments": null})).await.done("skill_list");
}

#[tokio::test]
async fn a_refused_call_has_no_effect() {
    let world = World::new().await;
    let mut message = request("tools/call", json!({"name": "skill_save", "arguments": skill("ghost")}));
    message["params"]["cursor"] = json!(7);
    let answer = world.alice.message(&message).await.json();
    let was_saved = world.alice.names().await.contains(&"ghost".to_owned());
    assert_eq!(answer["error"].is_null(), was_saved, "{answer}");
}
