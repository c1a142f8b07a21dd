//! Two revisions of the protocol at one endpoint. Requests of 2026-07-28 are self-contained and repeat their method
//! and name in headers. Older revisions begin with `initialize`.

use serde_json::{Value, json};

use super::client::{CURRENT, OLDER, hello, meta, older_request, repeated, request};
use crate::answers::{Answer, members, pluck};
use crate::callers::{Caller, World, skill};

const KNOWN: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", OLDER, CURRENT];

/// Sends a message with these headers instead of the headers that match it.
async fn with_headers(caller: &Caller, message: &Value, headers: &[(&str, String)]) -> Answer {
    let sending = caller.bare(message).json(message);
    headers.iter().fold(sending, |sending, (name, value)| sending.header(name, value)).await
}

fn save() -> Value {
    request("tools/call", json!({"name": "skill_save", "arguments": skill("x")}))
}

#[tokio::test]
async fn clients_discover_the_servers_capabilities() {
    let World { alice, .. } = &World::new().await;
    let found = alice.rpc("server/discover", json!({})).await.result();
    assert_eq!(found["supportedVersions"], json!(KNOWN));
    let begun = alice.bare(&Value::Null).json(&older_request("initialize", hello(OLDER))).await.result();
    assert_eq!(begun["protocolVersion"], OLDER);
    assert_eq!((&begun["serverInfo"]["name"], &begun["serverInfo"]["title"]), (&json!("knowhow"), &json!("Knowhow")));
    for told in [&found, &begun] {
        assert_eq!(
            told["capabilities"]["extensions"]["io.modelcontextprotocol/skills"],
            json!({"directoryRead": true})
        );
        assert_eq!((&told["capabilities"]["tools"], &told["capabilities"]["prompts"]), (&json!({}), &json!({})));
        for tool in ["skill_suggest", "skill_list", "skill_view", "skill_save", "skill_patch", "memory_recall"] {
            assert!(told["instructions"].as_str().unwrap().contains(tool), "{tool}");
        }
    }
}

#[tokio::test]
async fn older_clients_get_the_revision_they_request() {
    let World { alice, .. } = &World::new().await;
    for (asked, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), (OLDER, OLDER)]
    {
        let begun = alice.bare(&Value::Null).json(&older_request("initialize", hello(asked))).await;
        assert_eq!(begun.result()["protocolVersion"], agreed);
        assert!(begun.headers.get("mcp-session-id").is_none(), "{begun}");
        let message = older_request("tools/list", json!({}));
        let listed = with_headers(alice, &message, &[("MCP-Protocol-Version", agreed.to_owned())]).await.result();
        assert_eq!(listed["tools"].as_array().unwrap().len(), 13);
    }
    // A client that requests an unknown revision gets the newest known one.
    for asked in [CURRENT, "2099-01-01", "1999-01-01", "x", ""] {
        let begun = alice.bare(&Value::Null).json(&older_request("initialize", hello(asked))).await.result();
        assert_eq!(begun["protocolVersion"], OLDER, "{asked}");
    }
    // A client older than the header `MCP-Protocol-Version`.
    let message = older_request("tools/call", json!({"name": "skill_list"}));
    with_headers(alice, &message, &[]).await.done("skill_list");
    let message = older_request("ping", json!({}));
    assert_eq!(with_headers(alice, &message, &[("Mcp-Session-Id", "x".into())]).await.result(), json!({}));
}

#[tokio::test]
async fn answers_state_how_long_they_may_be_cached() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    let uri = json!({"uri": "skill://plan/SKILL.md"});
    for (method, params, fresh) in [
        ("server/discover", json!({}), 300_000),
        ("tools/list", json!({}), 300_000),
        ("prompts/list", json!({}), 300_000),
        ("resources/templates/list", json!({}), 300_000),
        ("resources/list", json!({}), 2_000),
        ("resources/read", uri.clone(), 2_000),
        ("resources/directory/read", json!({"uri": "skill://"}), 2_000),
        ("skills/list", json!({}), 2_000),
        ("skills/get", uri, 2_000),
    ] {
        let result = alice.rpc(method, params.clone()).await.result();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(fresh), &json!("private")), "{method}");
        assert_eq!(result["resultType"], "complete", "{method}");
        if method == "server/discover" {
            continue;
        }
        let older = alice.legacy(method, params).await.result();
        let mut expected = result.clone();
        for member in ["ttlMs", "cacheScope", "resultType"] {
            assert!(older.get(member).is_none(), "{method}: {member}");
            expected.as_object_mut().unwrap().remove(member);
        }
        assert_eq!(older, expected, "{method}");
    }
    for (method, params) in [
        ("tools/call", json!({"name": "skill_list"})),
        ("prompts/get", json!({"name": "skills-guidance"})),
        ("prompts/get", json!({"name": "skills-index"})),
    ] {
        let result = alice.rpc(method, params.clone()).await.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result.get("ttlMs").is_none(), "{method}");
        assert!(alice.legacy(method, params).await.result().get("resultType").is_none(), "{method}");
    }
}

#[tokio::test]
async fn an_unknown_revision_is_refused_with_the_known_ones() {
    let World { alice, .. } = &World::new().await;
    for version in ["2099-01-01", "2026-07-27", "1.0", "x"] {
        let mut message = save();
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let mut headers = repeated(&message);
        headers[0].1 = version.to_owned();
        let error = with_headers(alice, &message, &headers).await.error(400, -32022);
        assert_eq!(error["data"], json!({"requested": version, "supported": KNOWN}));
    }
    for version in ["2099-01-01", "x", ""] {
        let message = older_request("tools/call", save()["params"].clone());
        let mut message = message;
        message["params"].as_object_mut().unwrap().remove("_meta");
        let answer = with_headers(alice, &message, &[("MCP-Protocol-Version", version.to_owned())]).await;
        assert_eq!(answer.status, 400, "{answer}");
        answer.any_error();
    }
    assert!(alice.names().await.is_empty());
}

/// Proxies read only the headers, so headers that differ from the message are refused.
#[tokio::test]
async fn headers_must_match_the_message() {
    let World { alice, .. } = &World::new().await;
    let message = save();
    let good = repeated(&message);
    assert_eq!(pluck(&json!(good.iter().map(|(n, _)| json!({"n": n})).collect::<Vec<_>>()), "n").len(), 3);
    let with = |changed: &str, value: Option<&str>| {
        let kept = good.iter().filter(|(name, _)| *name != changed).cloned();
        kept.chain(value.map(|value| (good.iter().find(|(n, _)| *n == changed).unwrap().0, value.to_owned()))).collect()
    };
    let cases: [Vec<(&str, String)>; 14] = [
        with("Mcp-Method", None),
        with("Mcp-Method", Some("tools/list")),
        with("Mcp-Method", Some("Tools/Call")),
        with("Mcp-Method", Some("")),
        with("Mcp-Name", None),
        with("Mcp-Name", Some("skill_list")),
        with("Mcp-Name", Some("SKILL_SAVE")),
        with("Mcp-Name", Some("=?base64?!!?=")),
        with("Mcp-Name", Some("=?base64?/w==?=")),
        with("MCP-Protocol-Version", None),
        with("MCP-Protocol-Version", Some(OLDER)),
        good.iter().cloned().chain([("Mcp-Method", "tools/list".to_owned())]).collect(),
        good.iter().cloned().chain([("Mcp-Name", "skill_list".to_owned())]).collect(),
        Vec::new(),
    ];
    for headers in cases {
        let answer = with_headers(alice, &message, &headers).await;
        assert_eq!(answer.error(400, -32020)["code"], -32020, "{headers:?}");
        assert_eq!(answer.json()["id"], 7, "{answer}");
    }
    assert!(alice.names().await.is_empty());
    let encoded = with("Mcp-Name", Some("=?base64?c2tpbGxfc2F2ZQ==?="));
    with_headers(alice, &message, &encoded).await.done("skill_save");
    let mut twice = good.clone();
    twice.push(("MCP-Protocol-Version", "2099-01-01".to_owned()));
    let answer = with_headers(alice, &message, &twice).await;
    assert!([200, 400].contains(&answer.status), "{answer}");
}

#[tokio::test]
async fn headers_must_match_the_uri_of_the_message() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    let message = request("resources/read", json!({"uri": "skill://plan/SKILL.md"}));
    for name in [None, Some("skill://other/SKILL.md")] {
        let mut headers = repeated(&message);
        headers.truncate(2);
        headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
        with_headers(alice, &message, &headers).await.error(400, -32020);
    }
    alice.message(&message).await.result();
    alice.rpc("resources/read", json!({"uri": "skill://plan/Größe.md"})).await.error(200, -32602);
}

#[tokio::test]
async fn current_requests_must_state_revision_and_capabilities() {
    let World { alice, .. } = &World::new().await;
    for missing in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        let mut message = save();
        message["params"]["_meta"].as_object_mut().unwrap().remove(missing);
        let error = alice.message(&message).await.error(400, -32602);
        assert!(error["message"].as_str().unwrap().contains(missing), "{error}");
    }
    for odd in [json!({}), json!([]), json!("x"), Value::Null] {
        let mut message = save();
        message["params"]["_meta"] = odd;
        let answer = alice.message(&message).await;
        assert_eq!(answer.status, 400, "{answer}");
        answer.any_error();
    }
    assert!(alice.names().await.is_empty());
    let mut message = save();
    message["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    message["params"]["_meta"]["com.example/own"] = json!({"any": ["thing"]});
    message["params"]["_meta"]["progressToken"] = json!("p");
    alice.message(&message).await.done("skill_save");
    assert_eq!(members(&meta()).len(), 3);
}

#[tokio::test]
async fn ping_exists_only_in_older_revisions() {
    let World { alice, .. } = &World::new().await;
    let refused = alice.rpc("ping", json!({})).await.error(404, -32601);
    let said = refused["message"].as_str().unwrap();
    assert!(said.contains("has no ping") && said.contains("server/discover"), "{said}");
    assert_eq!(alice.legacy("ping", json!({})).await.result(), json!({}));
    let bare = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    assert_eq!(with_headers(alice, &bare, &[]).await.result(), json!({}));
}
