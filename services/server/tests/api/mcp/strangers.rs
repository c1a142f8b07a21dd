//! Sends requests for every tool, method and prompt with names and URIs of another user. The test fails if a tool,
//! method or prompt has no request.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::client::{CURRENT, OLDER, hello, older_request, request};
use super::schema;
use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World, skill};
use crate::http::stranger_walk::{HERS, furnish, inventory, settle};

/// Expected answers for each caller: anonymous, a bad token, another user, a user and an admin of another tenant, and
/// the owner with only the scope `skills:read`. Answers are statuses, codes of protocol errors, and statuses in tool
/// errors.
const GOLDEN: [(&str, [&str; 6]); 44] = [
    ("initialize", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("server/discover", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("ping", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("ping now", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("notifications/initialized", ["401", "401", "202", "202", "202", "202"]),
    ("notifications/cancelled", ["401", "401", "202", "202", "202", "202"]),
    ("tools/list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("tools/call", ["401", "401", "-32602", "-32602", "-32602", "-32602"]),
    ("skill_save", ["401", "401", "tool 409", "tool 409", "tool 409", "403"]),
    ("skill_suggest", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("skill_list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("skill_list searched", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("skill_view", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("skill_view of a file", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("skill_used", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("skill_patch", ["401", "401", "tool 404", "tool 404", "tool 404", "403"]),
    ("skill_delete", ["401", "401", "tool 404", "tool 404", "tool 404", "403"]),
    ("skill_submit", ["401", "401", "tool 404", "tool 404", "tool 404", "403"]),
    ("skill_history", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("skill_history of one", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("skill_history compared", ["401", "401", "tool 404", "tool 404", "tool 404", "ok"]),
    ("memory_recall", ["401", "401", "ok", "ok", "ok", "403"]),
    ("memory_save", ["401", "401", "ok", "ok", "ok", "403"]),
    ("memory_forget", ["401", "401", "tool 404", "tool 404", "tool 404", "403"]),
    ("soul_update", ["401", "401", "tool 409", "tool 409", "tool 409", "403"]),
    ("resources/list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("resources/templates/list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("resources/read", ["401", "401", "-32602", "-32602", "-32602", "ok"]),
    ("resources/read of a file", ["401", "401", "-32602", "-32602", "-32602", "ok"]),
    ("resources/directory/read", ["401", "401", "-32602", "-32602", "-32602", "ok"]),
    ("skills/list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("skills/get", ["401", "401", "-32602", "-32602", "-32602", "ok"]),
    ("prompts/list", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("prompts/get", ["401", "401", "-32602", "-32602", "-32602", "-32602"]),
    ("skills-guidance", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("skills-index", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("frozen-context", ["401", "401", "ok", "ok", "ok", "403"]),
    ("learning-status", ["401", "401", "ok", "ok", "ok", "ok"]),
    ("completion/complete", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("logging/setLevel", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("resources/subscribe", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("resources/unsubscribe", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("subscriptions/listen", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
    ("tasks/get", ["401", "401", "-32601", "-32601", "-32601", "-32601"]),
];

/// A request and the revisions in which it is sent.
struct Step {
    row: &'static str,
    method: &'static str,
    params: Value,
    revisions: &'static [&'static str],
}

fn step(row: &'static str, method: &'static str, params: Value) -> Step {
    Step { row, method, params, revisions: &[CURRENT, OLDER] }
}

fn only(revision: &'static [&'static str], row: &'static str, method: &'static str, params: Value) -> Step {
    Step { row, method, params, revisions: revision }
}

fn call(row: &'static str, tool: &str, arguments: Value) -> Step {
    step(row, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Returns a request for every tool, method and prompt.
fn walk(name: &str) -> Vec<Step> {
    let uri = |rest: &str| json!({"uri": format!("skill://{name}{rest}")});
    let edits = json!([{"old_string": "First", "new_string": "Stolen"}]);
    let mut stolen = skill(name);
    stolen["content"] = json!("# Stolen\n");
    stolen["expected_version"] = json!(3);
    let mut steps = vec![
        only(&[OLDER], "initialize", "initialize", hello(OLDER)),
        only(&[CURRENT], "server/discover", "server/discover", json!({})),
        only(&[OLDER], "ping", "ping", json!({})),
        only(&[CURRENT], "ping now", "ping", json!({})),
        step("notifications/initialized", "notifications/initialized", json!({})),
        step("notifications/cancelled", "notifications/cancelled", json!({"requestId": 1})),
        step("tools/list", "tools/list", json!({})),
        call("tools/call", "skill_steal", json!({"name": name})),
        call("skill_save", "skill_save", stolen),
        call("skill_suggest", "skill_suggest", json!({"context": "what does mcp/plan do"})),
        call("skill_list", "skill_list", json!({})),
        call("skill_list searched", "skill_list", json!({"q": "plan"})),
        call("skill_view", "skill_view", json!({"name": name})),
        call("skill_view of a file", "skill_view", json!({"name": name, "path": "references/a.md"})),
        call("skill_used", "skill_used", json!({"name": name, "outcome": "inapplicable"})),
        call("skill_patch", "skill_patch", json!({"name": name, "edits": edits})),
        call("skill_delete", "skill_delete", json!({"name": name})),
        call("skill_submit", "skill_submit", json!({"name": name, "edits": edits})),
        call("skill_history", "skill_history", json!({"name": name})),
        call("skill_history of one", "skill_history", json!({"name": name, "version": 1})),
        call("skill_history compared", "skill_history", json!({"name": name, "from": 1, "to": 2})),
    ];
    steps.extend([
        call("memory_recall", "memory_recall", json!({"q": "night trains from the attic"})),
        call("memory_save", "memory_save", json!({"content": "Was a stranger"})),
        call("memory_forget", "memory_forget", json!({"id": uuid::Uuid::nil()})),
        call("soul_update", "soul_update", json!({"text": "Be a stranger.", "expected_version": 1})),
        step("resources/list", "resources/list", json!({})),
        step("resources/templates/list", "resources/templates/list", json!({})),
        step("resources/read", "resources/read", uri("/SKILL.md")),
        step("resources/read of a file", "resources/read", uri("/references/a.md")),
        step("resources/directory/read", "resources/directory/read", uri("")),
        step("skills/list", "skills/list", json!({})),
        step("skills/get", "skills/get", uri("/SKILL.md")),
        step("prompts/list", "prompts/list", json!({})),
        step("prompts/get", "prompts/get", json!({"name": "skills-stolen"})),
        step("skills-guidance", "prompts/get", json!({"name": "skills-guidance"})),
        step("skills-index", "prompts/get", json!({"name": "skills-index"})),
        step("frozen-context", "prompts/get", json!({"name": "frozen-context"})),
        step("learning-status", "prompts/get", json!({"name": "learning-status"})),
        step("completion/complete", "completion/complete", completion()),
        step("logging/setLevel", "logging/setLevel", json!({"level": "debug"})),
        step("resources/subscribe", "resources/subscribe", uri("/SKILL.md")),
        step("resources/unsubscribe", "resources/unsubscribe", uri("/SKILL.md")),
        step("subscriptions/listen", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})),
        step("tasks/get", "tasks/get", json!({"taskId": "1"})),
    ]);
    steps
}

fn completion() -> Value {
    let reference = json!({"type": "ref/prompt", "name": "skills-index"});
    json!({"ref": reference, "argument": {"name": "x", "value": "y"}})
}

async fn take(caller: &Caller, step: &Step, revision: &str) -> Answer {
    let is_notification = step.method.starts_with("notifications/");
    let mut message = match revision {
        CURRENT => request(step.method, step.params.clone()),
        _ => older_request(step.method, step.params.clone()),
    };
    if is_notification {
        message.as_object_mut().unwrap().remove("id");
    }
    let sending = match revision {
        CURRENT => caller.message(&message),
        _ => caller.bare(&message).header("MCP-Protocol-Version", OLDER).json(&message),
    };
    // With the key, repeated requests save one memory.
    if step.row == "memory_save" { sending.header("Idempotency-Key", "walk").await } else { sending.await }
}

/// Sends all requests about a skill in each revision. Returns the answers.
pub async fn take_all(caller: &Caller, name: &str) -> Vec<(&'static str, Answer)> {
    let mut answers = Vec::new();
    for step in walk(name) {
        for revision in step.revisions {
            answers.push((step.row, take(caller, &step, revision).await));
        }
    }
    answers
}

fn outcome(answer: &Answer) -> String {
    match answer.status {
        202 => {
            assert!(answer.body.is_empty(), "{answer}");
            "202".into()
        }
        status @ (401 | 403) => {
            answer.any_error();
            status.to_string()
        }
        _ if answer.json()["result"]["isError"] == true => format!("tool {}", answer.failed().1["status"]),
        _ if answer.json()["result"].is_object() => {
            answer.result();
            "ok".into()
        }
        _ => answer.any_error()["code"].to_string(),
    }
}

/// Returns the parts of an answer that must not differ between a foreign and a missing skill.
fn telling(answer: &Answer, name: &str) -> (u16, Vec<(String, Vec<u8>)>, String) {
    let own = answer.header("x-request-id").to_owned();
    let mut headers: Vec<(String, Vec<u8>)> = answer
        .headers
        .iter()
        // A connection is closed if the answer is sent before the whole body is read.
        .filter(|(name, _)| !["x-request-id", "date", "connection", "content-length"].contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    headers.sort();
    (answer.status, headers, answer.text().replace(&own, "ID").replace(name, "NAME"))
}

/// Returns a stranger's outcomes in each row. Asserts that answers about Alice's skill, by name or id, equal those
/// about a missing one.
async fn walk_as_stranger(stranger: &Caller, theirs: &str, id: &str) -> Vec<(&'static str, BTreeSet<String>)> {
    let mut rows = Vec::new();
    for ((step, by_id), missing) in walk(theirs).into_iter().zip(walk(id)).zip(walk("mcp/none")) {
        let mut outcomes = BTreeSet::new();
        for revision in step.revisions {
            let answer = take(stranger, &step, revision).await;
            assert!(!HERS.iter().any(|passage| answer.text().contains(passage)), "{answer}");
            outcomes.insert(outcome(&answer));
            for (twin, name) in [(&missing, "mcp/none"), (&by_id, id)] {
                let told = take(stranger, twin, revision).await;
                assert_eq!(telling(&answer, theirs), telling(&told, name), "{} {revision}", step.row);
            }
        }
        rows.push((step.row, outcomes));
    }
    rows
}

#[tokio::test]
async fn other_users_get_no_data_and_change_nothing() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let (theirs, id) = furnish(&world).await;
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        settle(stranger).await;
    }
    let bad = world.expired();
    let strangers = [&world.anonymous, &bad, &world.bob, &elsewhere.alice, &elsewhere.admin];
    let before = inventory(&world).await;
    let walks = strangers.map(|stranger| walk_as_stranger(stranger, &theirs.skill, &id));
    let mut seen: BTreeMap<&str, Vec<BTreeSet<String>>> = BTreeMap::new();
    for (row, outcomes) in join_all(walks).await.into_iter().flatten() {
        seen.entry(row).or_default().push(outcomes);
    }
    assert_eq!(inventory(&world).await, before);
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        assert!(stranger.names().await.is_empty());
    }
    for step in walk(&theirs.skill) {
        let mut outcomes = BTreeSet::new();
        for revision in step.revisions {
            outcomes.insert(outcome(&take(&world.read_only, &step, revision).await));
        }
        seen.entry(step.row).or_default().push(outcomes);
    }
    let golden: BTreeMap<&str, Vec<BTreeSet<String>>> = GOLDEN
        .iter()
        .map(|(row, outcomes)| (*row, outcomes.iter().map(|o| BTreeSet::from([(*o).to_owned()])).collect()))
        .collect();
    for (row, outcomes) in &seen {
        assert_eq!(Some(outcomes), golden.get(row), "{row}");
    }
    assert_eq!(seen.len(), golden.len());
    assert_eq!(inventory(&world).await[2..], before[2..]);
}

/// Returns the strings in an array constant of a source file.
fn listed(source: &str, list: &str) -> Vec<String> {
    let (_, rest) = source.split_once(&format!("const {list}: ")).expect("the list has another name now");
    let (_, rest) = rest.split_once("= [").unwrap();
    let (names, _) = rest.split_once("];").unwrap();
    names.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_requests_cover_every_tool_method_and_prompt() {
    let world = World::new().await;
    let rows: BTreeSet<&str> = walk("x").iter().map(|step| step.row).collect();
    let methods: BTreeSet<&str> = walk("x").iter().map(|step| step.method).collect();
    let document = schema::document();
    let mut named = pluck(&document["tools"], "name");
    named.extend(pluck(&document["prompts"], "name"));
    assert_eq!(named.len(), 17);
    for name in named {
        assert!(rows.contains(name.as_str()), "{name}");
    }
    let message = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/mcp/message.rs"));
    for method in listed(message, "METHODS") {
        assert!(methods.contains(method.as_str()), "{method}");
    }
    // New capabilities of the server need requests in this test.
    let found = world.alice.rpc("server/discover", json!({})).await.result();
    let offered = json!({
        "tools": {}, "prompts": {}, "resources": {},
        "extensions": {"io.modelcontextprotocol/skills": {"directoryRead": true}},
    });
    assert_eq!(found["capabilities"], offered);
}
