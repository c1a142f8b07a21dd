//! HTTP at `/mcp`: methods, hosts and origins, media types, sizes. Every refusal is a JSON-RPC error.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{CURRENT, ID, repeated, request};
use crate::callers::{Sending, World, skill};
use crate::raw::{self, BOTH, RawAnswer};
use crate::service::{PATIENCE, Service, shared};

/// Asserts a refusal without a request id.
fn refused(answer: &RawAnswer, status: u16, code: i64) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.head.to_lowercase().contains("content-type: application/json\r\n"), "{answer:?}");
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    assert_eq!((&body["jsonrpc"], &body["id"], &body["error"]["code"]), (&json!("2.0"), &Value::Null, &json!(code)));
    assert!(body["error"]["message"].is_string());
}

fn list() -> String {
    request("tools/list", json!({})).to_string()
}

/// Sends a request for the list of tools, written by hand.
fn send(world: &World, host: &str, line: &str, headers: &[&str]) -> RawAnswer {
    let body = list();
    let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\nAccept: {BOTH}\r\n{host}");
    text.push_str(&format!("Authorization: Bearer {}\r\n", world.alice.token.as_deref().unwrap()));
    for (name, value) in repeated(&request("tools/list", json!({}))) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    for header in headers {
        text.push_str(&format!("{header}\r\n"));
    }
    text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    raw::exchange(&shared().address, text.as_bytes()).unwrap()
}

#[tokio::test]
async fn messages_must_be_posted() {
    let World { alice, anonymous, .. } = &World::new().await;
    for caller in [alice, anonymous] {
        for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
            let answer = caller.send(method.clone(), "/mcp").header("Accept", "text/event-stream").await;
            answer.error(405, -32000);
            assert_eq!(answer.header("allow"), "POST", "{method}");
        }
        let answer = caller.send(Method::HEAD, "/mcp").await;
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"));
    }
    for path in ["/mcp/", "/mcp/x", "/MCP", "//mcp"] {
        let answer = alice.send(Method::POST, path).json(&request("tools/list", json!({}))).await;
        assert!([404, 405].contains(&answer.status), "{answer}");
    }
}

#[tokio::test]
async fn other_hosts_are_refused() {
    let world = World::new().await;
    let port = shared().address.rsplit(':').next().unwrap();
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", &format!("localhost:{port}"), "127.0.0.1:1"] {
        let answer = send(&world, &format!("Host: {host}\r\n"), "POST /mcp?x=1", &[]);
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "evil.example:80", "user@localhost", "0.0.0.0", "127.0.0.1.nip.io"]
    {
        for line in ["POST /mcp", "GET /mcp", "OPTIONS /mcp"] {
            refused(&send(&world, &format!("Host: {host}\r\n"), line, &[]), 403, -32000);
        }
    }
    // A missing, empty or duplicate `Host`, which HTTP itself may reject.
    for hosts in ["X-Forwarded-Host: localhost\r\n", "Host: \r\n", "Host: localhost\r\nHost: evil.example\r\n"] {
        let answer = send(&world, hosts, "POST /mcp", &[]);
        assert!([400, 403].contains(&answer.status), "{hosts}: {answer:?}");
    }
    // REST answers requests of any origin, but without CORS headers, so pages cannot read the answers.
    let answer = raw::request(&shared().address, "GET /healthz", &[b"Origin: http://evil.example"], b"");
    assert_eq!(answer.status, 200);
    assert!(!answer.head.to_lowercase().contains("access-control-allow-origin"), "{answer:?}");
}

#[tokio::test]
async fn other_origins_are_refused() {
    let world = World::new().await;
    let host = format!("Host: {}\r\n", shared().address);
    let resource = world.anonymous.get("/.well-known/oauth-protected-resource/mcp").await.ok(200);
    let own = resource["resource"].as_str().unwrap().strip_suffix("/mcp").unwrap().to_owned();
    for origin in [own.clone(), own.replace("127.0.0.1", "localhost"), own.replace("http", "HTTP")] {
        let answer = send(&world, &host, "POST /mcp", &[&format!("Origin: {origin}")]);
        assert_eq!(answer.status, 200, "{origin}: {answer:?}");
    }
    for origin in
        ["http://evil.example", "null", "", "https://127.0.0.1", "http://localhost:1", "x", "http://", "\u{e9}"]
    {
        for line in ["POST /mcp", "GET /mcp", "OPTIONS /mcp"] {
            refused(&send(&world, &host, line, &[&format!("Origin: {origin}")]), 403, -32000);
        }
    }
    let twice = send(&world, &host, "POST /mcp", &[&format!("Origin: {own}"), "Origin: http://evil.example"]);
    refused(&twice, 403, -32000);
}

#[tokio::test]
async fn hosts_and_origins_are_checked_before_credentials() {
    let world = World::new().await;
    let bad = world.anonymous.with_token("x");
    for caller in [&world.anonymous, &bad, &world.alice] {
        let answer = caller.message(&request("tools/list", json!({}))).header("Origin", "http://evil.example").await;
        answer.error(403, -32000);
        assert!(answer.headers.get("www-authenticate").is_none(), "{answer}");
    }
}

#[tokio::test]
async fn allowed_hosts_and_origins_can_be_configured() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_ALLOWED_HOSTS", "mcp.internal"),
        ("KNOWHOW_ALLOWED_ORIGINS", "https://app.example.com"),
        ("KNOWHOW_WORKERS", "1"),
    ]);
    let send = |host: &str, origin: &str| {
        let sending = world.alice.at(&service).message(&request("tools/list", json!({})));
        sending.header("Host", host).header("Origin", origin)
    };
    send("mcp.internal", "https://app.example.com").await.result();
    send("other.internal", "https://app.example.com").await.error(403, -32000);
    send("mcp.internal", "https://app.example.com.evil.example").await.error(403, -32000);
}

fn posted(world: &World, accept: Option<&str>, media_type: &str) -> Sending {
    let message = request("tools/list", json!({}));
    let mut sending = world.alice.send(Method::POST, "/mcp");
    for (name, value) in repeated(&message) {
        sending = sending.header(name, &value);
    }
    if let Some(accept) = accept {
        sending = sending.header("Accept", accept);
    }
    sending.body(media_type, message.to_string())
}

#[tokio::test]
async fn clients_must_accept_json() {
    let world = World::new().await;
    for accept in [
        Some(BOTH),
        Some("text/event-stream,application/json"),
        Some("application/json"),
        Some("APPLICATION/JSON;q=0.5, text/html"),
        Some("*/*"),
        None,
    ] {
        posted(&world, accept, "application/json").await.result();
    }
    for accept in ["text/event-stream", "text/html", "application/jsonx", ""] {
        let answer = posted(&world, Some(accept), "application/json").await;
        let error = answer.error(406, -32600);
        assert!(error["message"].as_str().unwrap().contains("application/json"), "{answer}");
        assert_eq!(answer.json()["id"], ID, "{answer}");
    }
}

#[tokio::test]
async fn messages_must_be_json() {
    let world = World::new().await;
    for media_type in ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"] {
        posted(&world, Some(BOTH), media_type).await.result();
    }
    for media_type in
        ["text/plain", "application/jsonx", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
    {
        let answer = posted(&world, Some(BOTH), media_type).await;
        assert_eq!(answer.status, 415, "{answer}");
        answer.any_error();
    }
}

#[tokio::test]
async fn a_message_has_at_most_two_mebibytes() {
    let world = World::new().await;
    let mut body = skill("long");
    body["content"] = json!("x".repeat(2 * 1024 * 1024));
    let message = request("tools/call", json!({"name": "skill_save", "arguments": body}));
    let answer = world.alice.message(&message).await;
    assert_eq!(answer.error(413, -32000)["data"]["type"], "/problems/too-large");
    let text = message.to_string();
    let bearer = format!("Authorization: Bearer {}", world.alice.token.as_deref().unwrap());
    let accept = format!("Accept: {BOTH}");
    let version = format!("MCP-Protocol-Version: {CURRENT}");
    let fixed = [&bearer, &accept, &version, "Content-Type: application/json"].map(str::as_bytes);
    for (length, body) in [
        ("Transfer-Encoding: chunked", raw::chunked(text.as_bytes())),
        ("Content-Length: 999999999999", b"{}".to_vec()),
    ] {
        let headers: Vec<&[u8]> = fixed.iter().copied().chain([length.as_bytes()]).collect();
        refused(&raw::request(&shared().address, "POST /mcp", &headers, &body), 413, -32000);
    }
    let headers =
        [&bearer, &accept, &version, "Content-Type: application/json", "Mcp-Method: tools/list"].map(str::as_bytes);
    let headers = [headers.as_slice(), &[b"Transfer-Encoding: chunked"]].concat();
    assert_eq!(raw::request(&shared().address, "POST /mcp", &headers, &raw::chunked(list().as_bytes())).status, 200);
    // The largest skill fits into a message. Larger skills are refused for their own size.
    let mut body = skill("most");
    body["content"] = json!("\u{1}".repeat(1000) + &"x".repeat(256 * 1024 - 1000));
    let answer = world.alice.tool("skill_save", body).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert!(!world.alice.names().await.contains(&"long".to_owned()));
}

/// A client that stops in the middle of a body gets an answer.
#[tokio::test]
async fn a_body_that_never_ends_times_out() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_BODY_TIMEOUT_MS", "200"), ("KNOWHOW_WORKERS", "1")]);
    let bearer = format!("Authorization: Bearer {}", world.alice.token.as_deref().unwrap());
    let head = format!("Host: localhost\r\nAccept: {BOTH}\r\nContent-Type: application/json\r\nContent-Length: 500");
    let request = format!("POST /mcp HTTP/1.1\r\n{bearer}\r\n{head}\r\nConnection: close\r\n\r\n{{\"jsonrpc\":");
    let mut stream = std::net::TcpStream::connect(&service.address).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400 ") || head.starts_with("HTTP/1.1 408 "), "{text}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32000)), "{text}");
    world.alice.at(&service).rpc("tools/list", json!({})).await.result();
}
