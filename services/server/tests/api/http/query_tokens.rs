//! A credential in the query string is not accepted. The answer says what to do instead, and neither answer nor log
//! repeats the credential.

use serde_json::json;

use crate::answers::Answer;
use crate::callers::World;
use crate::http::documented::{document, filled, operations};
use crate::mcp::client::request;
use crate::service::{Service, keeper};

const HINT: &str = "send it in the header Authorization: Bearer";
const NAMES: [&str; 12] = [
    "access_token",
    "Access-Token",
    "token",
    "api_key",
    "apikey",
    "x-api-key",
    "key",
    "authorization",
    "jwt",
    "id_token",
    "password",
    "limit",
];

fn detail(answer: &Answer, status: u16) -> String {
    let kind = if status == 401 { "unauthenticated" } else { "malformed" };
    answer.refused(status, kind)["detail"].as_str().unwrap().to_owned()
}

/// Returns whether the body or a header of an answer repeats a text.
fn repeats(answer: &Answer, text: &str) -> bool {
    let in_header = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).contains(text);
    answer.text().contains(text) || answer.headers.values().any(in_header)
}

#[tokio::test]
async fn a_token_in_the_query_is_refused_with_a_hint_and_not_repeated() {
    let service = Service::start(&[("KNOWHOW_LOG", "trace"), ("KNOWHOW_WORKERS", "1")]);
    let world = World::at(&service, keeper(), json!({"starter_skills": false})).await;
    let (anonymous, alice) = (&world.anonymous, &world.alice);
    let key = world.admin.post("/v1/admin/keys", json!({"name": "k", "scopes": ["skills:read"]})).await.ok(201);
    let key = key["secret"].as_str().unwrap();
    let jwt = world.read_only.token.clone().unwrap();
    let tokens = [key.to_owned(), jwt.clone(), format!("Bearer%20{key}"), format!("Bearer+{jwt}"), format!("%20{jwt}")];
    for token in &tokens {
        let secret = token.rsplit(['_', '.']).next().unwrap();
        for query in
            NAMES.map(|name| format!("{name}={token}")).into_iter().chain([token.clone(), format!("{token}=1")])
        {
            for path in ["/v1/skills", "/v1/admin/users", "/v1/snapshot"] {
                let path = format!("{path}?{query}");
                let refused = anonymous.get(&path).await;
                assert!(detail(&refused, 401).contains(HINT), "{refused}");
                assert!(refused.header("www-authenticate").starts_with("Bearer "), "{refused}");
                let known = alice.get(&path).await;
                assert!(!repeats(&refused, secret) && !repeats(&known, secret), "{known}");
                if !path.starts_with("/v1/admin") {
                    let detail = detail(&known, 400);
                    assert!(detail.contains(HINT), "{detail}");
                }
            }
        }
    }
    let log = service.log();
    assert!(log.lines().count() > 100 && log.contains("TRACE"), "nothing is logged: {}", log.len());
    for token in &tokens {
        let secret = token.rsplit(['_', '.']).next().unwrap();
        assert!(!log.contains(secret), "{:?}", log.lines().find(|line| line.contains(secret)));
    }
}

/// Opaque credentials have no recognizable form, so no value of such a parameter is repeated.
#[tokio::test]
async fn every_operation_answers_401_to_a_token_in_its_query() {
    let World { anonymous, .. } = &World::new().await;
    for (method, path, operation) in operations(&document()) {
        if operation["security"][0]["bearer"].is_null() {
            continue;
        }
        for name in ["access_token", "token", "api_key", "key", "authorization", "bearer"] {
            let answer = anonymous.send(method.clone(), &format!("{}?{name}=hunter2hunter2", filled(&path))).await;
            assert!(detail(&answer, 401).contains(HINT), "{answer}");
            assert!(!repeats(&answer, "hunter2"), "{answer}");
        }
    }
}

#[tokio::test]
async fn mcp_accepts_no_token_in_its_query() {
    let World { anonymous, alice, .. } = &World::new().await;
    let list = request("tools/list", json!({}));
    for query in ["access_token=hunter2hunter2", "api_key=hunter2hunter2", "x=kh_a1b2c3d4e5f6_hunter2hunter2"] {
        for (caller, status) in [(anonymous, 401), (alice, 400)] {
            let sent = caller.post(&format!("/mcp?{query}"), list.clone()).header("Accept", crate::raw::BOTH).await;
            assert_eq!(sent.status, status, "{sent}");
            assert!(sent.text().contains(HINT) && !repeats(&sent, "hunter2"), "{sent}");
        }
    }
}
