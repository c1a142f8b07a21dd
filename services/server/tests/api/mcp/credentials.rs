//! Authentication: the credentials of REST, and tokens whose audience is the endpoint.

use serde_json::{Value, json};

use super::client::{CURRENT, request};
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::raw::{self, BOTH, RawAnswer};
use crate::service::{Service, shared};
use crate::signing::{self, claims, hs256};

const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

fn with_audience(world: &World, audience: Value) -> Caller {
    let mut claims = claims(&world.slug, "alice");
    claims["aud"] = audience;
    world.anonymous.with_token(hs256(&world.secret, &claims))
}

/// Asserts a refusal whose challenge names the metadata. The challenge has an error code if the request had a
/// credential.
fn unauthenticated(answer: &Answer, error: Option<&str>) {
    let refusal = answer.error(401, -32000);
    assert_eq!(refusal["data"]["type"], "/problems/unauthenticated", "{answer}");
    assert!(answer.json()["id"].is_null(), "{answer}");
    let challenge = answer.header("www-authenticate");
    assert!(
        challenge.starts_with("Bearer ") && challenge.contains("scope=\"skills:read skills:write memories sessions\""),
        "{answer}"
    );
    assert!(challenge.contains("resource_metadata=\"http") && challenge.contains(METADATA), "{challenge}");
    match error {
        Some(error) => assert!(challenge.contains(&format!("error=\"{error}\"")), "{challenge}"),
        None => assert!(!challenge.contains("error="), "{challenge}"),
    }
}

#[tokio::test]
async fn the_metadata_names_the_resource_without_a_credential() {
    let World { anonymous, .. } = &World::new().await;
    let metadata = anonymous.get(METADATA).await.ok(200);
    let resource = metadata["resource"].as_str().unwrap();
    assert!(resource.starts_with("http://127.0.0.1:") && resource.ends_with("/mcp"), "{metadata}");
    assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    assert_eq!(metadata["scopes_supported"], json!(["skills:read", "skills:write", "memories", "sessions"]));
    let challenge = anonymous.rpc("ping", json!({})).await;
    let place =
        challenge.header("www-authenticate").split("resource_metadata=\"").nth(1).unwrap().trim_end_matches('"');
    assert_eq!(place, resource.replace("/mcp", METADATA));
}

#[tokio::test]
async fn the_public_url_is_in_metadata_challenge_and_audience() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_PUBLIC_URL", "https://api.example.com/knowhow"),
        ("KNOWHOW_AUTHORIZATION_SERVERS", "https://login.example.com, https://sso.example.com/realm"),
        ("KNOWHOW_WORKERS", "1"),
    ]);
    let metadata = world.anonymous.at(&service).get(METADATA).await.ok(200);
    assert_eq!(metadata["resource"], "https://api.example.com/knowhow/mcp");
    let servers = json!(["https://login.example.com", "https://sso.example.com/realm"]);
    assert_eq!(metadata["authorization_servers"], servers);
    let place = "resource_metadata=\"https://api.example.com/knowhow/.well-known/oauth-protected-resource/mcp\"";
    let refused = world.anonymous.at(&service).rpc("tools/list", json!({})).await;
    assert!(refused.header("www-authenticate").ends_with(place), "{refused}");
    let named = with_audience(&world, json!("https://api.example.com/knowhow/mcp")).at(&service);
    named.rpc("tools/list", json!({})).await.result();
    named.get("/v1/skills").await.refused(401, "unauthenticated");
    let elsewhere = with_audience(&world, json!("http://127.0.0.1/mcp")).at(&service);
    unauthenticated(&elsewhere.rpc("tools/list", json!({})).await, Some("invalid_token"));
}

/// RFC 8707: a token is valid only for the resources in its audience.
#[tokio::test]
async fn tokens_are_valid_only_for_their_audience() {
    let world = World::new().await;
    let resource = world.anonymous.get(METADATA).await.ok(200)["resource"].as_str().unwrap().to_owned();
    for audience in [json!("knowhow"), json!(resource), json!(["other", resource]), json!(["knowhow", "x"])] {
        with_audience(&world, audience.clone()).does("skill_list", json!({})).await;
        let rest = with_audience(&world, audience.clone()).get("/v1/skills").await;
        let is_for_rest = audience.to_string().contains("\"knowhow\"");
        assert_eq!(rest.status, if is_for_rest { 200 } else { 401 }, "{audience}");
    }
    for audience in [
        json!(format!("{resource}/")),
        json!(resource.to_uppercase()),
        json!(resource.strip_suffix("/mcp")),
        json!("https://other.example/mcp"),
        json!(["https://other.example/mcp"]),
        json!("/mcp"),
        json!(""),
        json!([]),
        Value::Null,
    ] {
        let caller = with_audience(&world, audience);
        unauthenticated(&caller.rpc("tools/list", json!({})).await, Some("invalid_token"));
        unauthenticated(&caller.tool("skill_save", skill("x")).await, Some("invalid_token"));
    }
    assert!(world.alice.names().await.is_empty());
}

#[tokio::test]
async fn requests_without_a_credential_get_no_error_code() {
    let World { anonymous, .. } = &World::new().await;
    for method in ["server/discover", "ping", "tools/list", "tools/call", "skills/list", "no/such/method"] {
        unauthenticated(&anonymous.rpc(method, json!({"name": "skill_list"})).await, None);
        unauthenticated(&anonymous.legacy(method, json!({"name": "skill_list"})).await, None);
    }
    unauthenticated(&anonymous.bytes(b"{").await, None);
    unauthenticated(&anonymous.bytes(b"").await, None);
}

#[tokio::test]
async fn invalid_credentials_are_refused() {
    let world = World::new().await;
    let base = claims(&world.slug, "alice");
    let with = |member: &str, value: Value| {
        let mut claims = base.clone();
        claims[member] = value;
        claims
    };
    let foreign = World::new().await;
    let good = hs256(&world.secret, &base);
    for token in [
        hs256(&world.secret, &with("exp", json!(1))),
        hs256(&world.secret, &with("nbf", json!(signing::now() + 3600))),
        hs256(&world.secret, &with("tid", json!(foreign.slug))),
        hs256(&world.secret, &with("iss", json!("https://other.example"))),
        hs256(&foreign.secret, &base),
        signing::signed(&world.secret, &json!({"alg": "none"}), &base),
        good[..good.len() - 2].to_owned(),
        "kh_aaaaaaaaaaaa_".to_owned() + &"A".repeat(43),
        "x".to_owned(),
    ] {
        let caller = world.anonymous.with_token(&token);
        unauthenticated(&caller.rpc("tools/list", json!({})).await, Some("invalid_token"));
        unauthenticated(&caller.tool("skill_save", skill("x")).await, Some("invalid_token"));
    }
    assert!(world.alice.names().await.is_empty());
}

#[tokio::test]
async fn a_key_acts_for_the_user_in_the_header() {
    let world = World::new().await;
    let backend = world.backend().await;
    backend.acting_for("alice").does("skill_save", skill("hers")).await;
    assert_eq!(world.alice.names().await, ["hers"]);
    backend.acting_for("bob").fails("skill_view", json!({"name": "hers"})).await;
    assert!(backend.acting_for("bob").all("skills/list", "skills", json!({})).await.is_empty());
    for method in ["tools/list", "server/discover", "skills/list"] {
        let error = backend.rpc(method, json!({})).await.error(400, -32000);
        assert!(error["message"].as_str().unwrap().contains("Knowhow-User"), "{error}");
    }
    for user in ["", &"x".repeat(256), "a\u{85}b"] {
        backend.acting_for(user).rpc("tools/list", json!({})).await.error(400, -32000);
    }
    // A token acts only for its own user.
    let error = world.alice.acting_for("bob").rpc("tools/list", json!({})).await.error(403, -32000);
    assert_eq!(error["data"]["type"], "/problems/forbidden");
    world.alice.acting_for("alice").rpc("tools/list", json!({})).await.result();
    let body = json!({"name": "reader", "scopes": ["skills:read"]});
    let key = world.admin.post("/v1/admin/keys", body).await.ok(201);
    let reader = world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("alice");
    reader.does("skill_view", json!({"name": "hers"})).await;
    reader.tool("skill_save", skill("x")).await.error(403, -32000);
    assert_eq!(world.alice.names().await, ["hers"]);
}

#[tokio::test]
async fn a_revoked_key_is_refused() {
    let world = World::new().await;
    let backend = world.backend().await.acting_for("alice");
    backend.does("skill_list", json!({})).await;
    let id = world.admin.get("/v1/admin/keys").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    world.admin.delete(&format!("/v1/admin/keys/{id}")).await.empty(204);
    let refused = crate::service::poll_async("the key to die", async || {
        let answer = backend.tool("skill_list", json!({})).await;
        (answer.status == 401).then_some(answer)
    });
    unauthenticated(&refused.await, Some("invalid_token"));
}

fn send(headers: &[&str]) -> RawAnswer {
    let message = request("tools/list", json!({})).to_string();
    let fixed = [
        "Content-Type: application/json".to_owned(),
        format!("Accept: {BOTH}"),
        format!("MCP-Protocol-Version: {CURRENT}"),
        "Mcp-Method: tools/list".to_owned(),
    ];
    let all: Vec<&[u8]> = fixed.iter().map(String::as_bytes).chain(headers.iter().map(|h| h.as_bytes())).collect();
    raw::request(&shared().address, "POST /mcp", &all, message.as_bytes())
}

#[tokio::test]
async fn only_one_credential_in_the_header_is_accepted() {
    let world = World::new().await;
    let token = world.alice.token.as_deref().unwrap();
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(send(&[&bearer]).status, 200);
    assert_eq!(send(&[&format!("authorization: bearer {token}")]).status, 200);
    let basic = format!("Authorization: Basic {token}");
    let bare = format!("Authorization: {token}");
    for headers in [
        vec![bearer.as_str(), bearer.as_str()],
        vec![bearer.as_str(), "Authorization: Bearer x"],
        vec!["Authorization: Bearer x", bearer.as_str()],
        vec![basic.as_str()],
        vec![bare.as_str()],
        vec!["Authorization:"],
        vec!["Authorization: Bearer"],
        vec!["Authorization: Bearer "],
    ] {
        let answer = send(&headers);
        assert_eq!(answer.status, 401, "{headers:?}: {answer:?}");
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((&body["jsonrpc"], &body["error"]["code"]), (&json!("2.0"), &json!(-32000)));
    }
    // Query parameters (RFC 6750, section 2.3) and cookies are not accepted.
    let message = request("tools/list", json!({}));
    let sending = world.anonymous.send(reqwest::Method::POST, &format!("/mcp?access_token={token}"));
    unauthenticated(&sending.header("Accept", BOTH).json(&message).await, None);
    let cookie = world.anonymous.message(&message).header("Cookie", &format!("access_token={token}"));
    unauthenticated(&cookie.await, None);
}

#[tokio::test]
async fn guessing_credentials_is_rate_limited() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WRONG_CREDENTIALS_PER_MINUTE", "5"), ("KNOWHOW_WORKERS", "1")]);
    let guess = world.anonymous.with_token("x.y.z").at(&service);
    for _ in 0..5 {
        unauthenticated(&guess.rpc("tools/list", json!({})).await, Some("invalid_token"));
    }
    let answer = guess.rpc("tools/list", json!({})).await;
    assert_eq!(answer.error(429, -32000)["data"]["type"], "/problems/rate-limited");
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
    guess.get("/v1/skills").await.refused(429, "rate-limited");
    world.alice.at(&service).rpc("tools/list", json!({})).await.result();
}
