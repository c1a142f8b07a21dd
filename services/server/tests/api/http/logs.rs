//! The log: caller, operation, outcome and cost of each request, in ids and numbers.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::background::{WITH_WORKER, ring};
use crate::callers::{World, skill};
use crate::raw;
use crate::service::{Service, knowhow, migrated, poll, poll_async, shared};
use crate::sql::execute_at;
use crate::worker::Ground;

/// Returns the log line of an answered request.
fn line(service: &Service, answer: &Answer) -> Value {
    let id = answer.header("x-request-id");
    poll("the request's line", || {
        let is_line = |record: &Value| record["message"] == "request" && record["request_id"] == id;
        service.log().lines().filter_map(|line| serde_json::from_str(line).ok()).find(is_line)
    })
}

#[tokio::test]
async fn a_log_line_has_the_user_and_the_cost_of_the_request() {
    let world = World::new().await;
    let World { alice, admin, operator, anonymous, slug, .. } = &world;
    let saved = alice.post("/v1/skills", skill("weather-at-home")).await;
    saved.ok(201);
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].clone();
    let tenant = operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200)["id"].clone();
    let sent = skill("weather-at-home").to_string().len();
    let record = line(shared(), &saved);
    assert_eq!((&record["tenant_id"], &record["user_id"]), (&tenant, &user));
    assert_eq!((&record["bytes_in"], &record["bytes_out"]), (&json!(sent), &json!(saved.body.len())));
    assert_eq!(
        (&record["client"], &record["status"], &record["level"]),
        (&json!("127.0.0.1"), &json!(201), &json!("INFO"))
    );
    assert_eq!((&record["method"], &record["path"]), (&json!("POST"), &json!("/v1/skills")));
    assert!(record["elapsed_us"].is_u64());

    // A body without a `Content-Length` is counted too.
    let chunks = futures_util::stream::iter([Ok::<_, std::io::Error>("alpha"), Ok("beta")]);
    let put = alice.send(Method::PUT, "/v1/skills/weather-at-home/resources/references/a.md");
    let put = put.body("text/markdown", reqwest::Body::wrap_stream(chunks)).await;
    put.ok(200);
    let record = line(shared(), &put);
    assert_eq!((&record["bytes_in"], &record["path"]), (&json!(9), &json!("/v1/skills/{skill}/resources/{path:.*}")));

    // An operator's line has the tenant of the request. A line without a valid credential has no tenant.
    let listed = operator.get(&format!("/v1/admin/users?tenant={slug}")).await;
    let record = line(shared(), &listed);
    assert_eq!((&record["tenant_id"], record.get("user_id")), (&tenant, None));
    let refused = anonymous.get("/v1/skills").header("X-Forwarded-For", "203.0.113.7, <script>, 2001:db8::1").await;
    let record = line(shared(), &refused);
    assert_eq!((record.get("tenant_id"), &record["forwarded_for"]), (None, &json!("203.0.113.7, 2001:db8::1")));
    for absent in ["trace_id", "rpc", "user_id"] {
        assert_eq!(record.get(absent), None, "{record}");
    }
}

#[tokio::test]
async fn no_log_line_contains_names_or_texts() {
    let World { anonymous, secret, slug, .. } = &World::new().await;
    let mut claims = crate::signing::claims(slug, "+49 301 234567 xyzzy");
    claims["sub"] = json!("+49 301 234567 xyzzy");
    let caller = anonymous.with_token(crate::signing::hs256(secret, &claims));
    caller.create(skill("plugh-skill")).await;
    caller.get("/v1/skills?q=frobozz").await.ok(200);
    caller.get("/v1/skills/grue-unknown").await.refused(404, "not-found");
    let opened = caller.post("/v1/sessions", json!({"key": "stream-zork"})).await.ok(201);
    let turns = format!("/v1/sessions/{}/turns", opened["id"].as_str().unwrap());
    let turn = caller.post(&turns, json!({"message": "a hollow voice says plover"})).await;
    let record = line(shared(), &turn);
    assert!(record["user_id"].is_string());
    let log = shared().log();
    for text in ["xyzzy", "plugh", "frobozz", "grue-unknown", "zork", "plover", slug] {
        assert!(!log.contains(text), "{text}");
    }
}

#[tokio::test]
async fn probes_are_not_logged_unless_they_fail() {
    let World { anonymous, .. } = &World::new().await;
    let answer = anonymous.get("/healthz").await;
    anonymous.get("/readyz").await.ok(200);
    let later = anonymous.get("/v1/skills").await;
    line(shared(), &later);
    assert!(!shared().log().contains(answer.header("x-request-id")));
    assert!(!shared().log().contains("\"/readyz\""));

    let ground = Ground::new();
    let service = ground.serve(&[]);
    execute_at(&ground.owner, "update _sqlx_migrations set version = version + 1000000");
    let unready = poll_async("the service not to be ready", async || {
        let answer = anonymous.at(&service).get("/readyz").await;
        (answer.status == 503).then_some(answer)
    })
    .await;
    unready.refused(503, "unavailable");
    let record = line(&service, &unready);
    assert_eq!((&record["level"], &record["path"]), (&json!("WARN"), &json!("/readyz")), "{record}");
}

#[tokio::test]
async fn deleted_expired_data_are_logged_in_fields() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    ring(&ground, "prune");
    ground.idle();
    let record: Value = poll("the line", || {
        service
            .log()
            .lines()
            .filter_map(|l| serde_json::from_str(l).ok())
            .find(|l: &Value| l["message"] == "deleted expired data")
    });
    for member in ["idempotency_keys", "usage_days", "archived_skills", "files", "jobs", "sessions", "examples"] {
        assert!(record[member].is_u64(), "{member}: {record}");
    }
    assert!(!service.log().contains("Pruned {"));
}

/// Returns a port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a service that logs to `log`, and returns the process and its address.
fn serve_into(log: Stdio) -> (Child, String) {
    migrated();
    let port = free_port();
    let mut command = knowhow(&["serve"]);
    command.env("KNOWHOW_PORT", port.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    (command.spawn().unwrap(), format!("127.0.0.1:{port}"))
}

/// Asserts that the process answers many requests, and stops on SIGTERM.
fn check_that_it_serves(mut process: Child, address: &str) {
    poll("the service to be ready", || {
        assert!(process.try_wait().unwrap().is_none(), "it ended, as it could not log");
        raw::try_get(address, "/readyz").filter(|answer| answer.status == 200)
    });
    for _ in 0..50 {
        assert_eq!(raw::try_get(address, "/v1/skills").unwrap().status, 401);
    }
    assert!(process.try_wait().unwrap().is_none());
    Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(process.wait().unwrap().success());
}

#[test]
fn a_log_whose_reader_is_gone_does_not_stop_the_service() {
    let (mut process, address) = serve_into(Stdio::piped());
    drop(process.stderr.take());
    check_that_it_serves(process, &address);
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_on_a_full_disk_does_not_stop_the_service() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let (process, address) = serve_into(full.into());
    check_that_it_serves(process, &address);
}

/// The pipe is full, and its reader does not read.
#[test]
fn a_log_whose_reader_is_stuck_does_not_stop_the_service() {
    let (mut process, address) = serve_into(Stdio::piped());
    let reader = process.stderr.take().unwrap();
    poll("the service to be ready", || raw::try_get(&address, "/readyz").filter(|answer| answer.status == 200));
    for _ in 0..400 {
        assert_eq!(raw::try_get(&address, "/v1/skills").unwrap().status, 401);
    }
    check_that_it_serves(process, &address);
    drop(reader);
}
