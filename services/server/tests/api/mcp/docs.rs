//! The calls that docs/mcp.md shows, made one after another: each is answered as it says.

use serde_json::{Value, json};

use super::schema;
use crate::answers::pluck;
use crate::callers::World;

const DOCS: &str = include_str!("../../../../../docs/mcp.md");

/// The blocks of one language, with where they stand. Behind the calls come the configurations of clients.
fn blocks(language: &str) -> Vec<(usize, &'static str)> {
    let fence = format!("```{language}\n");
    let calls = &DOCS[..DOCS.find("## Connect an agent").unwrap()];
    calls
        .match_indices(&fence)
        .map(|(at, _)| {
            let block = &calls[at + fence.len()..];
            (at, &block[..block.find("```").unwrap()])
        })
        .collect()
}

/// The tool that the text last spoke of before a place.
fn tool_before(at: usize) -> &'static str {
    let (_, name) = DOCS[..at].rsplit_once("**`").unwrap();
    name.split_once('`').unwrap().0
}

/// The call of the section on sessions opens one, as it is written there, and what it keeps is in prompts from then on.
#[tokio::test]
async fn the_documented_session_is_opened() {
    let World { alice, .. } = &World::new().await;
    let [(_, call)] = blocks("jsonc").try_into().unwrap();
    let documented: Value = serde_json::from_str(call).unwrap();
    let params = &documented["params"];
    let answer = alice.legacy(documented["method"].as_str().unwrap(), params.clone()).await;
    assert_eq!(answer.done(params["name"].as_str().unwrap())["tainted"], false, "{answer}");
    let opened = alice.get("/v1/sessions").await.ok(200);
    assert_eq!(pluck(&opened["items"], "key"), [params["_meta"]["dev.knowhow/session"].as_str().unwrap()]);
    let snapshot = alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert!(snapshot["text"].as_str().unwrap().contains(params["arguments"]["content"].as_str().unwrap()));
}

#[tokio::test]
async fn the_documented_calls_are_answered_as_they_say() {
    let world = World::new().await;
    let calls = blocks("json");
    let answers = blocks("text");
    assert_eq!(calls.len(), answers.len());
    let mut tools = Vec::new();
    for ((at, call), (_, expected)) in calls.into_iter().zip(answers) {
        // The one that goes wrong stands in the text about failures.
        let tool = tool_before(at);
        let arguments: Value = serde_json::from_str(call).unwrap();
        let result = world.alice.tool(tool, arguments).await.result();
        assert_eq!(result["content"][0]["text"].as_str().unwrap().trim_end(), expected.trim_end(), "{tool}");
        tools.push(tool);
    }
    tools.sort_unstable();
    tools.dedup();
    let mut all = pluck(&schema::document()["tools"], "name");
    all.sort_unstable();
    assert_eq!(tools, all);
}
