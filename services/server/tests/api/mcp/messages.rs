//! The form of messages: one JSON-RPC 2.0 request or notification. Everything else is refused without effect.

use serde_json::{Value, json};

use super::client::{OLDER, older_request, request};
use crate::answers::Answer;
use crate::callers::{Caller, Sending, World, skill};

/// Sends a body with the headers of the older revisions.
fn send(caller: &Caller, body: &[u8]) -> Sending {
    caller.bytes(body).header("MCP-Protocol-Version", OLDER)
}

/// Asserts a refusal with status 400 and one of these codes.
fn unread(answer: &Answer, codes: &[i64]) {
    assert_eq!(answer.status, 400, "{answer}");
    let code = answer.any_error()["code"].as_i64().unwrap();
    assert!(codes.contains(&code), "{answer}");
}

#[tokio::test]
async fn invalid_json_is_refused() {
    let World { alice, .. } = &World::new().await;
    let params = |value: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{{\"name\":{value}}}}}")
            .into_bytes()
    };
    for body in [
        b"".to_vec(),
        b" \r\n".to_vec(),
        b"{".to_vec(),
        b"{\"jsonrpc\":".to_vec(),
        b"{} {}".to_vec(),
        b"{}]".to_vec(),
        b"\0".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"jsonrpc=2.0".to_vec(),
        b"{'jsonrpc': '2.0'}".to_vec(),
        b"{\"a\":".repeat(100_000),
        params("\"a\u{1}b\""),
        params("\"a\0b\""),
        params("NaN"),
        params("01"),
        params("\"\\x41\""),
        [params("\"x\""), b"}".to_vec()].concat(),
        [params("\"x\""), params("\"x\"")].concat(),
    ] {
        unread(&send(alice, &body).await, &[-32700]);
    }
    let invalid: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{\"name\":\"\xff\xfe\"}}";
    unread(&send(alice, invalid).await, &[-32700]);
}

/// Lone surrogates, numbers out of range and endless nesting are refused as unreadable or as an invalid request.
#[tokio::test]
async fn json_that_cannot_be_represented_is_refused() {
    let World { alice, .. } = &World::new().await;
    let deep = |open: &str, close: &str| open.repeat(100_000) + "1" + &close.repeat(100_000);
    let arguments = |value: &str| {
        let head = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"skill_save\",";
        format!("{head}\"arguments\":{value}}}}}").into_bytes()
    };
    for body in [
        arguments("{\"name\":\"x\",\"description\":\"d\",\"content\":\"\\ud800\"}"),
        arguments("{\"name\":\"x\",\"description\":\"\\udc00\\ud800\",\"content\":\"c\"}"),
        arguments("{\"\\ud800\":1}"),
        arguments("{\"name\":\"x\",\"description\":\"d\",\"content\":\"c\",\"expected_version\":1e999}"),
        arguments(&format!("{{\"metadata\":{}}}", deep("[", "]"))),
        arguments(&format!("{{\"metadata\":{}}}", deep("{\"a\":", "}"))),
        arguments(&deep("{\"a\":", "}")),
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\\ud800\"}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}".to_vec(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"extra\":{}}}", deep("[", "]")).into_bytes(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}}", deep("[", "]")).into_bytes(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{}}}", deep("[", "]"))
            .into_bytes(),
    ] {
        unread(&send(alice, &body).await, &[-32700, -32600]);
    }
    assert!(alice.names().await.is_empty());
}

#[tokio::test]
async fn json_that_is_no_request_is_refused() {
    let World { alice, .. } = &World::new().await;
    let with = |member: &str, value: Value| {
        let mut message = older_request("ping", json!({}));
        message[member] = value;
        message
    };
    let without = |member: &str| {
        let mut message = older_request("ping", json!({}));
        message.as_object_mut().unwrap().remove(member);
        message
    };
    let mut messages = vec![json!({}), json!(7), json!("ping"), json!(true), Value::Null];
    messages.extend([json!([]), json!([older_request("ping", json!({}))]), json!(["2.0", 7, "ping"])]);
    messages.extend([without("jsonrpc"), without("method")]);
    messages.extend(["1.0", "2", "2.00", ""].map(|version| with("jsonrpc", json!(version))));
    messages.extend([with("jsonrpc", json!(2.0)), with("jsonrpc", Value::Null)]);
    messages.extend([json!(7), json!(["ping"]), json!({}), Value::Null, json!(true)].map(|m| with("method", m)));
    messages.extend([json!(true), json!({}), json!([7]), json!(1.5), json!(-0.5)].map(|id| with("id", id)));
    messages.extend([with("result", json!({})), with("error", json!({"code": 1, "message": "x"}))]);
    for message in messages {
        let answer = send(alice, message.to_string().as_bytes()).await;
        unread(&answer, &[-32600]);
    }
    for id in ["1e999", "1.0e2", "99999999999999999999999"] {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        unread(&send(alice, body.as_bytes()).await, &[-32600, -32700]);
    }
}

/// A request with the id null could not be answered, so clients may not choose it.
#[tokio::test]
async fn an_id_of_null_is_refused() {
    let World { alice, .. } = &World::new().await;
    let arguments = skill("x");
    let mut message = older_request("tools/call", json!({"name": "skill_save", "arguments": arguments}));
    message["id"] = Value::Null;
    unread(&send(alice, message.to_string().as_bytes()).await, &[-32600]);
    assert!(alice.names().await.is_empty());
}

#[tokio::test]
async fn an_answer_has_the_id_of_its_request() {
    let world = World::new().await;
    let ids = [
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MAX),
        json!(""),
        json!("7"),
        json!("Ünï \"quoted\" \u{1F600}"),
        json!("x".repeat(1000)),
    ];
    for id in ids {
        for (caller, method, params) in [
            (&world.alice, "tools/list", json!({})),
            (&world.alice, "tools/call", json!({"name": "skill_view", "arguments": {"name": "none"}})),
            (&world.alice, "tools/call", json!({"name": "none"})),
            (&world.alice, "tools/call", json!({})),
            (&world.alice, "skills/get", json!({"uri": "skill://none/SKILL.md"})),
            (&world.alice, "no/such/method", json!({})),
            (&world.read_only, "tools/call", json!({"name": "skill_save"})),
        ] {
            let mut message = request(method, params);
            message["id"] = id.clone();
            let answer = caller.message(&message).await;
            assert_eq!((&answer.json()["id"], &answer.json()["jsonrpc"]), (&id, &json!("2.0")), "{answer}");
        }
    }
}

/// With duplicate members, two readers of the message could take different ones.
#[tokio::test]
async fn duplicate_members_are_refused() {
    let world = World::new().await;
    let save = format!("{{\"name\":\"skill_save\",\"arguments\":{}}}", skill("x"));
    let list = "{\"name\":\"skill_list\"}";
    let message = |members: &str| format!("{{\"jsonrpc\":\"2.0\",{members}}}");
    let call = "\"method\":\"tools/call\"";
    for body in [
        message(&format!("\"id\":7,\"method\":\"ping\",{call},\"params\":{save}")),
        message(&format!("\"id\":7,{call},\"m\\u0065thod\":\"ping\",\"params\":{save}")),
        message(&format!("\"id\":7,{call},\"params\":{list},\"params\":{save}")),
        message(&format!("\"id\":7,{call},\"params\":{save},\"par\\u0061ms\":{list}")),
        message(&format!("\"id\":7,\"id\":8,{call},\"params\":{save}")),
        message(&format!("\"jsonrpc\":\"2.0\",\"id\":7,{call},\"params\":{save}")),
        message(&format!("\"id\":7,{call},\"params\":{}", save.replacen('{', "{\"name\":\"skill_list\",", 1))),
        message(&format!("\"id\":7,{call},\"params\":{}", save.replacen('{', "{\"n\\u0061me\":\"skill_list\",", 1))),
        message(&format!("\"id\":7,{call},\"params\":{}", save.replacen('{', "{\"_meta\":{},\"_meta\":{},", 1))),
    ] {
        for caller in [&world.alice, &world.read_only] {
            let answer = send(caller, body.as_bytes()).await;
            assert!([400, 403].contains(&answer.status), "{answer}");
            answer.any_error();
        }
    }
    assert!(world.alice.names().await.is_empty());
}

#[tokio::test]
async fn parameters_must_be_an_object() {
    let world = World::new().await;
    let arguments = skill("x");
    for params in [
        json!([]),
        json!([null, "skill_save", arguments]),
        json!(["skill_save", null, arguments]),
        json!([{}, "skill_save", arguments, null]),
        json!(["skill_save", arguments]),
        json!("skill_save"),
        json!(7),
        json!(true),
        Value::Null,
    ] {
        for caller in [&world.alice, &world.read_only] {
            let answer = send(caller, older_request("tools/call", params.clone()).to_string().as_bytes()).await;
            let code = answer.any_error()["code"].as_i64().unwrap();
            assert!([(200, -32602), (400, -32600), (400, -32602)].contains(&(answer.status, code)), "{answer}");
        }
    }
    assert!(world.alice.names().await.is_empty());
}

#[tokio::test]
async fn notifications_are_accepted_without_effect() {
    let World { alice, .. } = &World::new().await;
    let arguments = skill("x");
    for (method, params) in [
        ("notifications/initialized", json!({})),
        ("notifications/cancelled", json!({"requestId": 7, "reason": "x"})),
        ("notifications/progress", json!({"progressToken": 1, "progress": 1})),
        ("notifications/roots/list_changed", json!({})),
        ("notifications/unknown", json!({})),
        ("tools/call", json!({"name": "skill_save", "arguments": arguments})),
        ("skills/list", json!({})),
        ("no/such/method", json!({})),
    ] {
        let mut now = request(method, params.clone());
        let mut older = older_request(method, params);
        for message in [&mut now, &mut older] {
            message.as_object_mut().unwrap().remove("id");
        }
        for answer in [alice.message(&now).await, send(alice, older.to_string().as_bytes()).await] {
            assert_eq!((answer.status, answer.text().as_str()), (202, ""), "{answer}");
        }
    }
    assert!(alice.names().await.is_empty());
}

/// The service sends no requests to clients, so it expects no responses.
#[tokio::test]
async fn responses_of_clients_have_no_effect() {
    let World { alice, .. } = &World::new().await;
    for message in [
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
        json!({"jsonrpc": "2.0", "id": "x", "result": {"tools": []}}),
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "x"}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "x"}}),
    ] {
        let answer = send(alice, message.to_string().as_bytes()).await;
        match answer.status {
            202 => assert!(answer.body.is_empty(), "{answer}"),
            _ => unread(&answer, &[-32600]),
        }
    }
}

#[tokio::test]
async fn unknown_methods_are_refused() {
    let World { alice, .. } = &World::new().await;
    for method in [
        "no/such/method",
        "tools",
        "Tools/List",
        "tools/list/",
        "tools/delete",
        "skills/save",
        "skills/delete",
        "resources/write",
        "resources/templates/read",
        "resources/subscribe",
        "completion/complete",
        "logging/setLevel",
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "tasks/list",
        "rpc.discover",
        "notifications/initialized",
        "subscriptions/listen",
    ] {
        let error = alice.rpc(method, json!({})).await.error(404, -32601);
        assert!(error["message"].is_string());
        alice.legacy(method, json!({})).await.error(200, -32601);
    }
    for method in ["", " ", "tools/list\n", "tools/list\0", "\u{202e}tsil/sloot", &"x".repeat(100_000)] {
        alice.legacy(method, json!({})).await.error(200, -32601);
    }
}

#[tokio::test]
async fn parameters_of_the_wrong_type_are_refused() {
    let World { alice, .. } = &World::new().await;
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 7})),
        ("tools/call", json!({"name": null})),
        ("tools/call", json!({"name": ["skill_list"]})),
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": "skill_list", "arguments": []})),
        ("tools/call", json!({"name": "skill_list", "arguments": "{}"})),
        ("tools/call", json!({"name": "none"})),
        ("tools/call", json!({"name": "skill_create"})),
        ("tools/call", json!({"name": "SKILL_LIST"})),
        ("tools/call", json!({"name": ""})),
        ("resources/read", json!({})),
        ("resources/read", json!({"uri": 7})),
        ("resources/read", json!({"uri": null})),
        ("resources/directory/read", json!({})),
        ("resources/directory/read", json!({"uri": []})),
        ("skills/get", json!({})),
        ("skills/get", json!({"uri": {}})),
        ("skills/get", json!({"name": "x"})),
        ("prompts/get", json!({})),
    ] {
        alice.rpc(method, params.clone()).await.error(200, -32602);
        alice.legacy(method, params).await.error(200, -32602);
    }
    alice.legacy("initialize", json!({})).await.error(200, -32602);
    alice.legacy("initialize", json!({"protocolVersion": 7})).await.error(200, -32602);
    let error = alice.tool("skill_create", json!({})).await.error(200, -32602);
    assert!(error["message"].as_str().unwrap().contains("skill_save"), "{error}");
}
