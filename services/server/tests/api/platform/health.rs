//! Health, documents, unknown paths, traces and logs.

use std::io::Read;

use reqwest::Method;
use serde_json::Value;

use crate::callers::World;
use crate::service::{Service, printed, shared};

#[tokio::test]
async fn health_and_readiness_need_no_credential() {
    let World { anonymous, .. } = &World::new().await;
    for path in ["/healthz", "/readyz"] {
        let health = anonymous.get(path).await.ok(200);
        assert_eq!((&health["status"], &health["version"]), (&"ok".into(), &env!("CARGO_PKG_VERSION").into()));
    }
}

#[tokio::test]
async fn the_served_document_equals_the_printed_one() {
    let World { anonymous, .. } = &World::new().await;
    let mut served = anonymous.get("/openapi.json").await.ok(200);
    let mut printed: Value = serde_json::from_str(&printed(&["openapi"])).unwrap();
    // The served document names its own instance, and the printed one names the address of `make run`.
    assert_eq!(served["servers"].take()[0]["url"], "/");
    assert_eq!(printed["servers"].take()[0]["url"], "http://127.0.0.1:8080");
    assert_eq!(served, printed);
    assert!(served["openapi"].as_str().unwrap().starts_with("3."));
    let mut ids = std::collections::HashSet::new();
    for operation in served["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values()) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()));
        assert!(operation["summary"].is_string() && operation["responses"].is_object(), "{operation}");
    }
}

#[tokio::test]
async fn the_interactive_page_is_served() {
    let World { anonymous, .. } = &World::new().await;
    let moved = anonymous.get("/docs").await;
    assert_eq!((moved.status, moved.header("location")), (308, "/docs/"));
    let page = anonymous.get("/docs/").await;
    assert!(page.status == 200 && page.text().contains("swagger"), "{page}");
    assert_eq!(anonymous.get("/docs/swagger-ui-bundle.js").await.status, 200);
    anonymous.get("/docs/none.js").await.refused(404, "not-found");
}

#[tokio::test]
async fn the_interactive_page_runs_only_its_own_scripts_and_keeps_no_token() {
    let World { anonymous, .. } = &World::new().await;
    let page = anonymous.get("/docs/").await;
    let policy = page.header("content-security-policy");
    for rule in ["default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    // The policy forbids inline scripts.
    assert!(!page.text().contains("<script>"), "{page}");
    let start = anonymous.get("/docs/swagger-initializer.js").await.text();
    assert!(start.contains("/openapi.json") && start.contains("tryItOutEnabled"), "{start}");
    assert!(start.contains("SwaggerUIBundle.plugins.DownloadUrl, EmptyBodies"), "{start}");
    assert!(!start.replace(' ', "").contains("\"persistAuthorization\":true"), "{start}");
}

#[tokio::test]
async fn documents_are_compressed_and_have_etags() {
    let World { anonymous, .. } = &World::new().await;
    for path in ["/openapi.json", "/docs/swagger-ui-bundle.js"] {
        let plain = anonymous.get(path).await;
        assert_eq!((plain.status, plain.headers.contains_key("content-encoding")), (200, false), "{path}");
        let packed = anonymous.get(path).header("Accept-Encoding", "br, gzip;q=0.5").await;
        assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "Accept-Encoding"), "{path}");
        assert!(packed.body.len() * 3 < plain.body.len(), "{path}: {} of {}", packed.body.len(), plain.body.len());
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain.body, "{path}");
        let refused = anonymous.get(path).header("Accept-Encoding", "gzip;q=0").await;
        assert!(refused.body == plain.body, "{path}");
        for answer in [plain, packed] {
            let again =
                anonymous.get(path).header("Accept-Encoding", "gzip").header("If-None-Match", answer.header("etag"));
            let again = again.await;
            let expected = if answer.headers.contains_key("content-encoding") { 304 } else { 200 };
            assert_eq!(again.status, expected, "{path}");
        }
    }
}

#[tokio::test]
async fn the_root_shows_links_to_programs_and_redirects_browsers() {
    let World { anonymous, .. } = &World::new().await;
    let links = anonymous.get("/").await.ok(200);
    assert_eq!((&links["name"], &links["mcp"]), (&"knowhow".into(), &"/mcp".into()));
    for link in ["docs", "openapi", "health", "readiness"] {
        assert_eq!(anonymous.get(links[link].as_str().unwrap()).await.status, 200, "{link}");
    }
    let moved = anonymous.get("/").header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8").await;
    assert_eq!((moved.status, moved.header("location")), (303, "/docs/"));
}

#[tokio::test]
async fn the_page_can_be_switched_off_and_the_document_stays() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WORKERS", "1"), ("KNOWHOW_DOCS", "false")]);
    let anonymous = world.anonymous.at(&service);
    for path in ["/docs", "/docs/", "/docs/swagger-ui-bundle.js"] {
        anonymous.get(path).await.refused(404, "not-found");
    }
    let links = anonymous.get("/").header("Accept", "text/html").await.ok(200);
    assert!(links.get("docs").is_none(), "{links}");
    let document = anonymous.get("/openapi.json").await.ok(200);
    assert_eq!(document, world.anonymous.get("/openapi.json").await.ok(200));
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let World { alice, anonymous, .. } = &World::new().await;
    for path in ["/v1", "/v1/", "/v2/skills", "/v1/skills/a/b/c/d", "/v1/skills/", "/v1/skills/a/", "/consoles"] {
        anonymous.get(path).await.refused(404, "not-found");
    }
    for (method, path, allowed) in [
        (Method::DELETE, "/v1/skills", "GET, POST"),
        (Method::PUT, "/v1/skills/a", "DELETE, GET, PATCH"),
        (Method::POST, "/v1/skills/a/resources/references/a", "DELETE, GET, PUT"),
        (Method::POST, "/healthz", "GET"),
    ] {
        let answer = alice.send(method, path).await;
        answer.refused(405, "method-not-allowed");
        let mut methods: Vec<&str> = answer.header("allow").split(", ").collect();
        methods.sort_unstable();
        assert_eq!(methods.join(", "), allowed);
    }
}

#[tokio::test]
async fn traces_continue_and_each_request_has_its_own_id() {
    let World { alice, .. } = &World::new().await;
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = alice.get("/v1/skills").header("traceparent", parent).await;
    let trace = answer.header("traceparent");
    assert!(trace.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && trace != parent);
    let other = alice.get("/v1/skills").header("traceparent", "nonsense").header("X-Request-Id", "mine").await;
    assert!(!other.headers.contains_key("traceparent"));
    assert_ne!(other.header("x-request-id"), answer.header("x-request-id"));
    assert!(other.header("x-request-id").len() == 36);
    assert!(shared().log().contains("4bf92f3577b34da6a3ce929d0e0e4736"));
}

#[tokio::test]
async fn the_log_contains_neither_secrets_nor_content() {
    let world = World::new().await;
    let backend = world.backend().await.acting_for("alice");
    let mut skill = crate::callers::skill("quiet");
    skill["content"] = "a-very-secret-procedure\n".into();
    backend.create(skill).await;
    let log = shared().log();
    for secret in [
        backend.token.as_deref().unwrap(),
        world.alice.token.as_deref().unwrap(),
        &world.secret,
        "a-very-secret-procedure",
    ] {
        assert!(!log.contains(secret));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn transparent_huge_pages_are_disabled() {
    let has = |process: &str, flag: &str| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        status.lines().any(|line| line.split_whitespace().eq(["THP_enabled:", flag]))
    };
    if !has("self", "1") {
        println!("skipped: there are no pages of another size here");
        return;
    }
    assert!(has(&shared().id().to_string(), "0"));
}
