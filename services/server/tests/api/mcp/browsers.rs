//! Requests of web pages: pages of the service's own origin may send them and read the answers, all others may not.

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::World;

/// Returns the origin that the service considers its own.
async fn own_origin(world: &World) -> String {
    let metadata: Value = world.anonymous.get("/.well-known/oauth-protected-resource/mcp").await.ok(200);
    metadata["resource"].as_str().unwrap().trim_end_matches("/mcp").to_owned()
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_preflight_send_and_read() {
    let world = World::new().await;
    let origin = own_origin(&world).await;
    let asked = world.anonymous.send(Method::OPTIONS, "/mcp").header("Origin", &origin).await;
    assert_eq!(asked.status, 204);
    assert_eq!(asked.header("access-control-allow-origin"), origin);
    assert_eq!(asked.header("access-control-allow-methods"), "POST");
    for name in ["authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"] {
        assert!(asked.header("access-control-allow-headers").contains(name), "{name}");
    }
    let answered = world.alice.rpc("tools/list", json!({})).header("Origin", &origin).await;
    assert_eq!(answered.header("access-control-allow-origin"), origin);
    assert_eq!(answered.header("vary"), "Origin");
    let refused = world.anonymous.rpc("tools/list", json!({})).header("Origin", &origin).await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("access-control-expose-headers").contains("WWW-Authenticate"));
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_without_cors_headers() {
    let world = World::new().await;
    for origin in ["https://evil.example", "null", "http://127.0.0.1.evil.example"] {
        for method in [Method::OPTIONS, Method::POST] {
            let answer = world.alice.send(method, "/mcp").header("Origin", origin).await;
            assert_eq!(answer.status, 403, "{origin}");
            assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{origin}");
        }
    }
    let plain = world.alice.send(Method::OPTIONS, "/mcp").await;
    assert_eq!((plain.status, plain.header("allow")), (405, "POST"));
}
