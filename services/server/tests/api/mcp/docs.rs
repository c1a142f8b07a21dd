//! Executes the calls in docs/users/mcp.md in order and compares the answers with the page.

use serde_json::{Value, json};

use super::schema;
use crate::answers::pluck;
use crate::callers::World;

const DOCS: &str = include_str!("../../../../../docs/users/mcp.md");

/// Returns the code blocks of one language and their offsets, without the client configurations at the end of the
/// page.
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

/// Returns the tool named by the last heading before the offset.
fn tool_before(at: usize) -> &'static str {
    let (_, name) = DOCS[..at].rsplit_once("\n### `").unwrap();
    name.split_once('`').unwrap().0
}

/// A text without the ids and days of memories, which differ with each run.
fn masked(text: &str) -> String {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == ':' || c == ')');
    let words = text.split(' ').map(|word| if word.len() >= 10 && is_number(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The call of the section on sessions opens one, as it is written there, and what it keeps is in prompts from then on.
#[tokio::test]
async fn the_documented_session_is_opened_and_its_memory_is_in_prompts() {
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
async fn the_documented_calls_are_answered_as_documented() {
    let world = World::new().await;
    let calls = blocks("json");
    let answers = blocks("text");
    assert_eq!(calls.len(), answers.len());
    let (mut tools, mut recalled) = (Vec::new(), Value::Null);
    for ((at, call), (_, expected)) in calls.into_iter().zip(answers) {
        // Some sections show two calls of their tool, the second of which fails.
        let tool = tool_before(at);
        let mut arguments: Value = serde_json::from_str(call).unwrap();
        if tool == "memory_forget" {
            arguments["id"] = recalled.clone();
        }
        let result = world.alice.tool(tool, arguments).await.result();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(masked(text.trim_end()), masked(expected.trim_end()), "{tool}");
        if tool == "memory_recall" {
            recalled = result["structuredContent"]["items"][0]["id"].clone();
        }
        tools.push(tool);
    }
    tools.sort_unstable();
    tools.dedup();
    let mut all = pluck(&schema::document()["tools"], "name");
    all.sort_unstable();
    assert_eq!(tools, all);
}
