//! Tool calls in the forms that models use: unambiguous ones are accepted, others are refused with the right form.

use serde_json::{Value, json};

use super::client::told;
use super::entries::put;
use super::schema;
use crate::callers::{World, skill};

fn edit(old: &str, new: &str) -> Value {
    json!({"old_string": old, "new_string": new})
}

/// One patch in each form that models send.
#[tokio::test]
async fn edits_are_accepted_in_every_form() {
    let World { alice, .. } = &World::new().await;
    let edits = json!([edit("First", "Last")]);
    let mut with_nulls = edit("First", "Last");
    with_nulls["replace_all"] = Value::Null;
    with_nulls["path"] = Value::Null;
    let forms = [
        json!({"edits": [with_nulls]}),
        json!({"edits": edits.to_string()}),
        json!({"edits": edit("First", "Last")}),
        json!({"edits": edit("First", "Last").to_string()}),
        edit("First", "Last"),
        json!({"edits": null, "old_string": "First", "new_string": "Last", "replace_all": null, "path": null}),
        json!({"old_string": "First", "new_string": "Last", "replace_all": "true", "expected_version": "1"}),
    ];
    for (n, form) in forms.into_iter().enumerate() {
        let name = format!("p{n}");
        alice.create_all(&[&name]).await;
        let mut arguments = json!({"name": name});
        arguments.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
        let patched = alice.does("skill_patch", arguments.clone()).await;
        assert_eq!((&patched["version"], &patched["replacements"]), (&json!(2), &json!(1)), "{arguments}");
        assert!(alice.peek(&name).await["content"].as_str().unwrap().contains("Last this"), "{arguments}");
    }
    put(alice, "p0", "references/a.md", b"alpha beta alpha").await;
    let flat = json!({"name": "p0", "old_string": "alpha", "new_string": "omega", "replace_all": true, "path": "references/a.md"});
    assert_eq!(alice.does("skill_patch", flat).await["replacements"], 2);
    let file = alice.tool("skill_view", json!({"name": "p0", "path": "references/a.md"})).await.result();
    assert_eq!(told(&file), "omega beta omega");
}

#[tokio::test]
async fn numbers_lists_and_objects_may_be_sent_as_text() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("p");
    body["tags"] = json!("mail");
    body["triggers"] = json!("[\"send a mail\", \"write to\"]");
    body["metadata"] = json!("{\"k\": {\"deep\": [1, null]}}");
    body["expected_version"] = json!("0");
    alice.does("skill_save", body).await;
    let kept = alice.peek("p").await;
    assert_eq!((&kept["tags"], &kept["triggers"]), (&json!(["mail"]), &json!(["send a mail", "write to"])));
    assert_eq!(kept["metadata"]["k"], json!({"deep": [1, null]}));
    assert_eq!(alice.does("skill_list", json!({"limit": "10", "ranked": "True"})).await["items"][0]["name"], "p");
    alice.does("skill_suggest", json!({"context": "mail", "limit": "3"})).await;
    let memory = json!({"content": "[1, 2]", "importance": "0.8", "core": "false", "tags": "[]"});
    alice.does("memory_save", memory).await;
    let kept = &alice.get("/v1/memories").await.ok(200)["items"][0];
    // Text arguments stay text, even if they look like JSON.
    assert_eq!((&kept["content"], &kept["importance"], &kept["tags"]), (&json!("[1, 2]"), &json!(0.8), &json!([])));
    alice.does("soul_update", json!({"text": "7", "expected_version": "0"})).await;
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "7");
}

#[tokio::test]
async fn ambiguous_arguments_are_refused_with_the_right_form() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let both = json!({"name": "p", "edits": [edit("First", "x")], "old_string": "then", "new_string": "y"});
    let list = "edits: must be a list such as [{\"old_string\": \"...\", \"new_string\": \"...\"}]";
    let named = |value: Value| json!({"name": "q", "description": "d", "content": "c", "tags": value});
    let mut misspelt = edit("First", "x");
    misspelt["newString"] = misspelt.as_object_mut().unwrap().remove("new_string").unwrap();
    for (tool, arguments, words) in [
        ("skill_patch", both, "edits: give either edits, or new_string, old_string for one of them, not both"),
        ("skill_patch", json!({"name": "p", "edits": "First -> x"}), list),
        ("skill_patch", json!({"name": "p", "edits": [misspelt.clone()]}), "Did you mean new_string?"),
        ("skill_patch", json!({"name": "p", "edits": [misspelt]}), "edits.0.new_string: is required: a text"),
        ("skill_patch", json!({"name": "p", "old_string": "First"}), "edits.0.new_string: is required"),
        ("skill_save", named(json!("a, b")), "tags: must be a list such as [\"...\", \"...\"], is \"a, b\""),
        ("skill_save", named(json!("")), "tags: must be a list"),
        ("skill_save", json!({"name": "q", "description": "d", "content": 7}), "content: must be a text, is 7"),
        ("skill_save", json!({"name": "q", "description": "d", "content": ["c"]}), "content: must be a text"),
        ("skill_list", json!({"limit": "ten"}), "limit: must be a whole number from 1 to 200, is \"ten\""),
        ("skill_list", json!({"limit": -1}), "limit: must be a whole number from 1 to 200, is -1"),
        ("skill_list", json!({"query": "mail"}), "query: is unknown; allowed are category, cursor, limit"),
        ("skill_list", json!({"query": "mail"}), "Did you mean q?"),
        ("skill_view", json!({"skill_name": "p"}), "Did you mean name?"),
        ("memory_save", json!({"content": "x", "kind": "fact"}), "kind: must be one of semantic, episodic, reflection"),
    ] {
        let (text, problem) = alice.fails(tool, arguments.clone()).await;
        assert!(text.contains(words), "{tool} {arguments}: {text}");
        assert_eq!(problem["type"], "/problems/invalid", "{text}");
    }
    assert_eq!(alice.names().await, ["p"]);
    assert_eq!(alice.peek("p").await["version"], 1);
}

/// Each tool accepts null for every optional argument, and names its arguments if one is unknown.
#[tokio::test]
async fn every_tool_accepts_null_for_optional_arguments() {
    let World { alice, .. } = &World::new().await;
    for tool in schema::document()["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let known = tool["inputSchema"]["properties"].as_object().unwrap();
        let required: Vec<&str> = tool["inputSchema"]["required"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap())
            .collect();
        let mut arguments: serde_json::Map<String, Value> = known
            .keys()
            .filter(|member| !required.contains(&member.as_str()))
            .map(|n| (n.clone(), Value::Null))
            .collect();
        for (member, value) in [
            ("name", json!("plan")),
            ("context", json!("c")),
            ("q", json!("c")),
            ("content", json!("c")),
            ("description", json!("d")),
            ("text", json!("t")),
            ("outcome", json!("partial")),
            ("edits", json!([edit("c", "d")])),
        ] {
            // A submission contains a whole skill or edits.
            let is_whole = name == "skill_submit" && ["content", "description"].contains(&member);
            if known.contains_key(member) && !is_whole {
                arguments.insert(member.into(), value);
            }
        }
        if name == "memory_forget" {
            let saved = alice.does("memory_save", json!({"content": "to be forgotten"})).await;
            arguments.insert("id".into(), saved["id"].clone());
        }
        if alice.names().await.is_empty() {
            alice.create(json!({"name": "plan", "description": "d", "content": "c"})).await;
        }
        alice.tool(name, Value::Object(arguments)).await.done(name);
        let (text, _) = alice.fails(name, json!({"colour": 1})).await;
        assert!(known.keys().all(|member| text.contains(member)), "{name}: {text}");
    }
}
