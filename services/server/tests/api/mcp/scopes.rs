//! Scopes: the tools and prompts that a caller sees and may call, and the challenge that names a missing scope.

use serde_json::{Value, json};

use super::schema;
use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World, skill};
use crate::signing;

/// The tools of the scope `skills:read`, in the order of the list.
const READING: [&str; 5] = ["skill_suggest", "skill_list", "skill_view", "skill_used", "skill_history"];

/// Returns Alice with only these scopes.
fn with_scopes(world: &World, scopes: &str) -> Caller {
    let mut claims = signing::claims(&world.slug, "alice");
    claims.as_object_mut().unwrap().remove("roles");
    claims["scope"] = json!(scopes);
    world.anonymous.with_token(signing::hs256(&world.secret, &claims))
}

async fn listed(caller: &Caller, method: &str, member: &str) -> Value {
    let now = caller.rpc(method, json!({})).await.result()[member].take();
    assert_eq!(caller.legacy(method, json!({})).await.result()[member].take(), now);
    now
}

/// Asserts a refusal that names the missing scope and the metadata.
async fn forbidden(caller: &Caller, answer: Answer, scope: &str) {
    let error = answer.error(403, -32000);
    assert_eq!(error["data"]["type"], "/problems/forbidden", "{answer}");
    assert_eq!(answer.json()["id"], 7, "{answer}");
    let metadata = caller.get("/.well-known/oauth-protected-resource/mcp").await.ok(200)["resource"].take();
    let place = metadata.as_str().unwrap().replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(
        answer.header("www-authenticate"),
        format!(
            "Bearer realm=\"knowhow\", error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{place}\""
        )
    );
}

#[tokio::test]
async fn tools_and_prompts_equal_the_committed_document() {
    let World { alice, .. } = &World::new().await;
    let document = schema::document();
    assert_eq!(listed(alice, "tools/list", "tools").await, document["tools"]);
    assert_eq!(listed(alice, "prompts/list", "prompts").await, document["prompts"]);
}

#[tokio::test]
async fn tools_have_descriptions_annotations_and_schemas() {
    for tool in schema::document()["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(
            tool["title"].is_string() && tool["description"].as_str().is_some_and(|text| text.len() > 100),
            "{name}"
        );
        let reads = READING.contains(&name) && name != "skill_used" || name == "memory_recall";
        // Defaults of missing annotations: not read-only, destructive, not idempotent.
        let hint = |hint: &str, default: bool| tool["annotations"].get(hint).map_or(default, |h| h.as_bool().unwrap());
        assert_eq!(hint("readOnlyHint", false), reads, "{name}");
        assert!(!hint("openWorldHint", true), "{name}");
        if !reads {
            assert_eq!(hint("destructiveHint", true), ["skill_delete", "memory_forget"].contains(&name), "{name}");
            assert_eq!(hint("idempotentHint", false), name != "memory_save", "{name}");
        }
        assert!(!tool.to_string().contains("$ref"), "{name}");
        for root in [Some(&tool["inputSchema"]), tool.get("outputSchema")].into_iter().flatten() {
            assert_eq!(root["type"], "object", "{name}");
            let mut parts = Vec::new();
            schema::parts(root, &mut parts);
            assert!(parts.iter().all(|part| part.contains_key("type")), "{name}: {root}");
        }
        assert_eq!(
            tool.get("outputSchema").is_none(),
            ["skill_view", "skill_history", "memory_forget"].contains(&name),
            "{name}"
        );
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
    }
}

#[tokio::test]
async fn the_scope_skills_read_allows_only_reading() {
    let world = World::new().await;
    let World { alice, read_only, .. } = &world;
    alice.create_all(&["p"]).await;
    let tools = listed(read_only, "tools/list", "tools").await;
    assert_eq!(pluck(&tools, "name"), READING);
    assert_eq!(
        pluck(&listed(read_only, "prompts/list", "prompts").await, "name"),
        ["skills-guidance", "skills-index", "learning-status"]
    );
    read_only.does("skill_suggest", json!({"context": "p"})).await;
    read_only.does("skill_list", json!({})).await;
    read_only.does("skill_view", json!({"name": "p"})).await;
    read_only.does("skill_used", json!({"name": "p", "outcome": "success"})).await;
    read_only.does("skill_history", json!({"name": "p"})).await;
    let edits = json!([{"old_string": "First", "new_string": "Last"}]);
    for (tool, arguments) in [
        ("skill_save", skill("x")),
        ("skill_patch", json!({"name": "p", "edits": edits})),
        ("skill_delete", json!({"name": "p"})),
        ("skill_delete", json!({"nonsense": true})),
    ] {
        forbidden(read_only, read_only.tool(tool, arguments.clone()).await, "skills:write").await;
        let older = read_only.legacy("tools/call", json!({"name": tool, "arguments": arguments})).await;
        forbidden(read_only, older, "skills:write").await;
    }
    refuse_remembering(read_only).await;
    forbidden(read_only, read_only.rpc("prompts/get", json!({"name": "frozen-context"})).await, "sessions").await;
    assert_eq!((alice.names().await, &alice.peek("p").await["version"]), (vec!["p".to_owned()], &json!(1)));
}

#[tokio::test]
async fn the_scope_skills_write_allows_only_writing() {
    let world = World::new().await;
    let writer = with_scopes(&world, "skills:write");
    let tools = listed(&writer, "tools/list", "tools").await;
    assert_eq!(pluck(&tools, "name"), ["skill_save", "skill_patch", "skill_delete", "skill_submit"]);
    assert_eq!(pluck(&listed(&writer, "prompts/list", "prompts").await, "name"), ["skills-guidance"]);
    writer.does("skill_save", skill("p")).await;
    let edits = json!([{"old_string": "First", "new_string": "Last"}]);
    writer.does("skill_patch", json!({"name": "p", "edits": edits})).await;
    writer.rpc("prompts/get", json!({"name": "skills-guidance"})).await.result();
    refuse_reading(&writer).await;
    writer.does("skill_delete", json!({"name": "p"})).await;
}

/// Asserts that every request that reads skills is refused.
async fn refuse_reading(caller: &Caller) {
    let uri = json!({"uri": "skill://p/SKILL.md"});
    for (method, params) in [
        ("tools/call", json!({"name": "skill_suggest", "arguments": {"context": "p"}})),
        ("tools/call", json!({"name": "skill_list"})),
        ("tools/call", json!({"name": "skill_view", "arguments": {"name": "p"}})),
        ("tools/call", json!({"name": "skill_history", "arguments": {"name": "p"}})),
        ("resources/list", json!({})),
        ("resources/read", uri.clone()),
        ("resources/directory/read", json!({"uri": "skill://"})),
        ("resources/templates/list", json!({})),
        ("skills/list", json!({})),
        ("skills/get", uri),
        ("prompts/get", json!({"name": "skills-index"})),
    ] {
        forbidden(caller, caller.rpc(method, params.clone()).await, "skills:read").await;
        forbidden(caller, caller.legacy(method, params).await, "skills:read").await;
    }
}

/// Asserts that every request about memories and the soul is refused.
async fn refuse_remembering(caller: &Caller) {
    for (tool, arguments) in [
        ("memory_recall", json!({"q": "x"})),
        ("memory_save", json!({"content": "x"})),
        ("memory_save", json!({"nonsense": true})),
        ("memory_forget", json!({"id": "x"})),
        ("soul_update", json!({"text": "x"})),
    ] {
        forbidden(caller, caller.tool(tool, arguments.clone()).await, "memories").await;
        let older = caller.legacy("tools/call", json!({"name": tool, "arguments": arguments})).await;
        forbidden(caller, older, "memories").await;
    }
}

#[tokio::test]
async fn the_scope_memories_allows_only_memories_and_the_soul() {
    let world = World::new().await;
    world.alice.create_all(&["plan"]).await;
    let other = with_scopes(&world, "memories");
    let tools = listed(&other, "tools/list", "tools").await;
    assert_eq!(pluck(&tools, "name"), ["memory_recall", "memory_save", "memory_forget", "soul_update"]);
    assert_eq!(pluck(&listed(&other, "prompts/list", "prompts").await, "name"), ["skills-guidance"]);
    other.does("memory_save", json!({"content": "The plan is in the attic."})).await;
    other.does("soul_update", json!({"text": "Be brief."})).await;
    // Recall includes skills only with the scope `skills:read`.
    let recalled = other.does("memory_recall", json!({"q": "plan"})).await;
    assert_eq!(pluck(&recalled["items"], "kind"), ["semantic"]);
    let recalled = world.alice.does("memory_recall", json!({"q": "plan"})).await;
    assert_eq!(recalled["items"].as_array().unwrap().len(), 2);
    refuse_reading(&other).await;
    forbidden(&other, other.tool("skill_save", skill("x")).await, "skills:write").await;
}

#[tokio::test]
async fn the_scope_sessions_shows_no_skills() {
    let world = World::new().await;
    world.alice.create_all(&["p"]).await;
    let other = with_scopes(&world, "sessions");
    other.rpc("server/discover", json!({})).await.result();
    other.legacy("ping", json!({})).await.result();
    assert_eq!(listed(&other, "tools/list", "tools").await, json!([]));
    let prompts = pluck(&listed(&other, "prompts/list", "prompts").await, "name");
    assert_eq!(prompts, ["skills-guidance", "frozen-context"]);
    other.rpc("prompts/get", json!({"name": "frozen-context"})).await.result();
    refuse_reading(&other).await;
    refuse_remembering(&other).await;
    forbidden(&other, other.tool("skill_save", skill("x")).await, "skills:write").await;
    assert_eq!(world.alice.names().await, ["p"]);
}

/// An operator may not use skills, so its requests create no starter skills.
#[tokio::test]
async fn operators_are_refused() {
    let World { operator, .. } = &World::new().await;
    for (method, params) in
        [("tools/list", json!({})), ("tools/call", json!({"name": "skill_list"})), ("skills/list", json!({}))]
    {
        let answer = operator.rpc(method, params).await;
        assert!((400..500).contains(&answer.status), "{answer}");
        answer.any_error();
    }
}

/// The tools come with each call of a model: all of them within 13 KiB, as they are sent.
#[tokio::test]
async fn the_list_of_tools_is_short() {
    let World { alice, read_only, .. } = &World::new().await;
    let listed = async |caller: &Caller| caller.rpc("tools/list", json!({})).await;
    let (all, reading) = (listed(alice).await, listed(read_only).await);
    assert_eq!(all.result()["tools"].as_array().unwrap().len(), 13);
    assert!(all.body.len() <= 13_312, "{} bytes", all.body.len());
    assert_eq!(reading.result()["tools"].as_array().unwrap().len(), 5);
    assert!(reading.body.len() <= 4_300, "{} bytes", reading.body.len());
}

/// Strict clients reject the whole list for an object without properties.
#[tokio::test]
async fn no_input_has_an_object_without_properties() {
    for tool in schema::document()["tools"].as_array().unwrap() {
        let mut parts = Vec::new();
        schema::parts(&tool["inputSchema"], &mut parts);
        let is_empty =
            |part: &&serde_json::Map<String, Value>| part["type"] == "object" && !part.contains_key("properties");
        assert!(!parts.iter().any(is_empty), "{}", tool["name"]);
    }
    let World { alice, .. } = &World::new().await;
    let metadata = json!({"title": "P", "of": {"a": [1]}, "n": 2});
    alice.does("skill_save", json!({"name": "p", "description": "d", "content": "c", "metadata": metadata})).await;
    assert_eq!(alice.peek("p").await["metadata"]["of"], json!({"a": [1]}));
}

/// Asserts that each tool accepts the arguments that its schema allows and rejects all others. Errors state the
/// bounds of texts and lists only if an argument exceeds them.
#[tokio::test]
async fn accepted_arguments_conform_to_the_schema() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let tools = schema::document()["tools"].as_array().unwrap();
    let input = |name: &str| &tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"];
    for (tool, arguments, is_fit) in [
        ("skill_list", json!({"limit": 200}), true),
        ("skill_list", json!({"limit": 201}), false),
        ("skill_list", json!({"limit": 0}), false),
        ("skill_list", json!({"limit": 1.5}), false),
        ("skill_list", json!({"x": 1}), false),
        ("skill_list", json!({"prefix": "p".repeat(201)}), false),
        ("skill_list", json!({"q": "p"}), true),
        ("skill_list", json!({"q": "p".repeat(4097)}), false),
        ("skill_suggest", json!({"context": "p", "limit": 50}), true),
        ("skill_suggest", json!({"context": "p", "limit": 51}), false),
        ("skill_suggest", json!({"context": "p", "limit": 0}), false),
        ("skill_suggest", json!({"context": ""}), false),
        ("skill_suggest", json!({"context": "p".repeat(4097)}), false),
        ("skill_suggest", json!({}), false),
        ("memory_recall", json!({"q": "p", "kind": "episodic", "limit": 50}), true),
        ("memory_recall", json!({"q": "p", "limit": 51}), false),
        ("memory_recall", json!({"q": ""}), false),
        ("memory_recall", json!({"q": "p".repeat(4097)}), false),
        ("memory_recall", json!({"q": "p", "kind": "skill"}), false),
        ("memory_save", json!({"content": "c", "importance": 1, "tags": ["a"], "core": true}), true),
        ("memory_save", json!({"content": "c".repeat(8000)}), true),
        ("memory_save", json!({"content": "c".repeat(8001)}), false),
        ("memory_save", json!({"content": ""}), false),
        ("memory_save", json!({"content": "c", "importance": 1.5}), false),
        ("memory_save", json!({"content": "c", "tags": vec!["a"; 33]}), false),
        ("memory_save", json!({"content": "c", "session": "chat"}), false),
        ("soul_update", json!({"text": "t".repeat(8000), "expected_version": 0}), true),
        ("soul_update", json!({"text": "t".repeat(8001)}), false),
        ("soul_update", json!({"text": "t", "expected_version": -1}), false),
        ("soul_update", json!({}), false),
        ("skill_view", json!({"name": "p"}), true),
        ("skill_view", json!({"name": ""}), false),
        ("skill_view", json!({}), false),
        ("skill_used", json!({"name": "p", "outcome": "inapplicable"}), true),
        ("skill_used", json!({"name": "p", "outcome": "perfect"}), false),
        ("skill_used", json!({"name": "p"}), false),
        ("skill_history", json!({"name": "p", "from": 1, "to": 1}), true),
        ("skill_history", json!({"name": "p", "version": 0}), false),
        ("skill_history", json!({"name": "p", "limit": 300}), false),
        ("skill_patch", json!({"name": "p", "edits": []}), false),
        ("skill_patch", json!({"name": "p", "edits": [{"old_string": "First", "new_string": "Last"}]}), true),
        ("skill_save", json!({"name": "q", "description": "d", "content": "c", "tags": ["a"]}), true),
        ("skill_save", json!({"name": "q", "description": "", "content": "c"}), false),
        ("skill_save", json!({"name": "q", "description": "d", "content": "c", "expected_version": -1}), false),
        ("skill_save", json!({"name": "q", "description": "d", "content": "c", "category": "x".repeat(65)}), false),
        ("skill_delete", json!({"name": "q", "expected_version": 1}), true),
    ] {
        let takes = schema::violations(input(tool), &arguments).is_empty();
        assert!(takes || !is_fit, "{tool} {arguments}");
        let answer = alice.tool(tool, arguments.clone()).await;
        assert_eq!(answer.result()["isError"] != true, is_fit, "{answer}");
    }
}
