//! Mutations of valid messages: one value or byte is replaced at a time, and each answer must conform to the
//! protocol.

use serde_json::{Value, json};

use super::client::{OLDER, hello, older_request, request};
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};

/// Returns valid messages.
fn messages() -> Vec<Value> {
    let edits =
        json!([{"old_string": "Nowhere", "new_string": "Last", "replace_all": true, "path": "references/a.md"}]);
    let mut save = skill("x");
    save["metadata"] = json!({"k": "v"});
    save["tags"] = json!(["a"]);
    vec![
        older_request("initialize", hello(OLDER)),
        older_request("tools/call", json!({"name": "skill_save", "arguments": save})),
        older_request("tools/call", json!({"name": "skill_patch", "arguments": {"name": "kept", "edits": edits}})),
        older_request("tools/list", json!({"cursor": "x", "_meta": {"progressToken": 1, "traceparent": "x"}})),
        older_request("resources/read", json!({"uri": "skill://kept/SKILL.md"})),
        older_request("prompts/get", json!({"name": "skills-index", "arguments": {"a": "b"}})),
        request("skills/get", json!({"uri": "skill://kept/SKILL.md"})),
    ]
}

fn oddities() -> Vec<Value> {
    let deep = (0..60).fold(json!(1), |inner, _| json!([inner]));
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("a\0\u{202e}\u{1F600}\r\n"),
        json!([]),
        json!({}),
        json!({"a": [null, {"": deep}]}),
    ]
}

/// Collects the JSON pointers of all values inside a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut inner = |key: &str, value: &Value| {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        places(value, &at, found);
        found.push(at);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, value)| inner(&n.to_string(), value)),
        _ => {}
    }
}

async fn send(caller: &Caller, message: &Value) -> Answer {
    let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let version = version.filter(|version| !version.contains(char::is_control)).unwrap_or(OLDER);
    let sending = caller.bare(message).header("MCP-Protocol-Version", version).json(message);
    sending.header("Mcp-Method", "skills/get").await
}

/// Asserts that an answer to an arbitrary message conforms to the protocol.
fn is_of_the_protocol(answer: &Answer) {
    answer.tells_nothing();
    match answer.status {
        202 => assert!(answer.body.is_empty(), "{answer}"),
        200 if answer.json()["result"].is_object() => assert_eq!(answer.json()["jsonrpc"], "2.0", "{answer}"),
        200 | 400 | 404 => drop(answer.any_error()),
        _ => panic!("{answer}"),
    }
}

#[tokio::test]
async fn any_member_may_have_any_value() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["kept"]).await;
    for message in messages() {
        let mut found = Vec::new();
        places(&message, "", &mut found);
        for place in found {
            for odd in oddities() {
                let mut changed = message.clone();
                *changed.pointer_mut(&place).unwrap() = odd;
                is_of_the_protocol(&send(alice, &changed).await);
            }
            let (parent, key) = place.rsplit_once('/').unwrap();
            let mut changed = message.clone();
            if let Some(members) = changed.pointer_mut(parent).and_then(Value::as_object_mut) {
                let key = key.replace("~1", "/");
                let value = members.remove(&key).unwrap();
                members.insert(format!("{key}x"), value);
                is_of_the_protocol(&send(alice, &changed).await);
            }
        }
    }
    assert_eq!(alice.peek("kept").await["version"], 1);
}

/// Single bytes of a valid message are changed, left out or doubled, in the same way in each run.
#[tokio::test]
async fn any_byte_may_be_changed() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["kept"]).await;
    let whole = older_request("tools/call", json!({"name": "skill_view", "arguments": {"name": "kept"}})).to_string();
    for (n, at) in (0..whole.len()).enumerate() {
        let mut bytes = whole.clone().into_bytes();
        match n % 4 {
            0 => bytes[at] ^= 1 << (n % 7),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => bytes[at] = b"\0\xff\"\\{}[],:"[n % 10],
        }
        let answer = alice.bytes(&bytes).header("MCP-Protocol-Version", OLDER).await;
        // A tool's result may contain the skill's own text, which the check would reject.
        match answer.status {
            200 if answer.json()["result"].is_object() => {}
            _ => is_of_the_protocol(&answer),
        }
    }
    assert_eq!(alice.names().await, ["kept"]);
}
