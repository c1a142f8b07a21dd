//! Metrics and health checks at a separate address, of a server and of a worker.

use std::collections::BTreeSet;

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::background::{WITH_WORKER, ring};
use crate::callers::{Caller, World, skill};
use crate::raw;
use crate::service::{Service, poll, poll_async, printed};
use crate::sql::execute_at;
use crate::talk::Talk;
use crate::worker::{Ground, world};

pub const METRICS: (&str, &str) = ("KNOWHOW_METRICS_BIND", "127.0.0.1:0");

/// Returns the page of metrics.
pub fn page(service: &Service) -> String {
    let answer = raw::try_get(&service.metrics_address(), "/metrics").expect("metrics are served");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    answer.body
}

/// Returns the value of the series whose line begins with `series`.
pub fn value(page: &str, series: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

/// Returns the names and kinds of metrics that `knowhow metrics` lists.
fn described() -> BTreeSet<String> {
    let page = printed(&["metrics"]);
    let of_line = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let kinds = ["counter", "gauge", "histogram"];
        (cells.len() > 3 && kinds.contains(&cells[2])).then(|| format!("{} {}", cells[1].trim_matches('`'), cells[2]))
    };
    page.lines().filter_map(of_line).collect()
}

fn served(page: &str) -> BTreeSet<String> {
    page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).map(str::to_owned).collect()
}

/// Holds a conversation about a skill. No metric may contain the skill's name or text, the user or the tenant.
async fn live(alice: &Caller) {
    let mut zork = skill("zork-plugh");
    zork["content"] = json!("# Zork\n\nSay xyzzy, then plover.\n");
    alice.create(zork).await;
    alice.get("/v1/skills/zork-plugh").await.ok(200);
    alice.get("/v1/skills/grue-unknown?peek=true").await.refused(404, "not-found");
    let talk = Talk::open(alice, json!({"key": "stream-frobozz", "channel": "sms"})).await;
    talk.say("please zork-plugh the hollow lantern today").await;
    alice.post(&talk.path("/end"), json!({})).await.ok(200);
}

#[tokio::test]
async fn all_documented_metrics_are_served_and_name_no_user() {
    let ground = Ground::new();
    let chat = FakeServer::start([Reply::says("Says xyzzy.")]);
    let models = [("KNOWHOW_CHAT_URL", chat.url()), ("KNOWHOW_CHAT_MODEL", "fake".to_owned())];
    let [url, model] = [(models[0].0, models[0].1.as_str()), (models[1].0, models[1].1.as_str())];
    // The replica is in fact the primary, so it is checked and no data are read from it.
    let replica = ground.login();
    let service = ground.serve(&[METRICS, WITH_WORKER, url, model, ("KNOWHOW_REPLICA_URL", &replica)]);
    let World { alice, slug, .. } = &world(&service).await;
    live(alice).await;
    ring(&ground, "prune");
    execute_at(&ground.owner, "update tenants set settings = settings || '{\"min_score\": 7}'");
    let all = described();
    assert_eq!(all.len(), 21);
    let page = poll_async("all metrics", async || {
        alice.get("/v1/skills").await.ok(200);
        let page = page(&service);
        (served(&page) == all).then_some(page)
    })
    .await;
    let saved = r#"http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="201",http_route="/v1/skills"}"#;
    assert_eq!(value(&page, saved), Some(1.0), "{page}");
    let read = r#"http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="404",http_route="/v1/skills/{skill}"}"#;
    assert_eq!(value(&page, read), Some(1.0), "{page}");
    assert_eq!(value(&page, r#"knowhow_refusals_total{code="not-found"}"#), Some(1.0));
    assert_eq!(value(&page, r#"knowhow_turns_total{degraded="none",start="read"}"#), Some(1.0), "{page}");
    assert_eq!(value(&page, "knowhow_snapshot_age_seconds_count"), Some(1.0));
    assert!(value(&page, r#"knowhow_pool_wait_seconds_count{pool="reads"}"#) > Some(1.0));
    assert!(value(&page, r#"knowhow_model_requests_total{model="embeddings",outcome="ok"}"#) > Some(0.0));
    assert_eq!(value(&page, r#"knowhow_model_paused{model="chat"}"#), Some(0.0));
    assert_eq!(value(&page, "knowhow_usage_months"), Some(3.0));
    assert!(value(&page, "knowhow_settings_unusable_total") > Some(0.0), "{page}");
    assert!(
        value(&page, r#"knowhow_replica_reads_total{from="primary_as_unfit",of="catalogue"}"#) > Some(0.0),
        "{page}"
    );
    assert_eq!(value(&page, &format!(r#"knowhow_build_info{{version="{}"}}"#, env!("CARGO_PKG_VERSION"))), Some(1.0));
    for stage in ["read", "embedding", "catalogue", "search", "compose", "write"] {
        let count = format!(r#"knowhow_recall_stage_seconds_count{{stage="{stage}"}}"#);
        assert_eq!(value(&page, &count), Some(1.0), "{stage}");
    }
    let of_pools = ["reads", "changes", "rare", "lookups"].map(|pool| {
        let of = |state| format!(r#"knowhow_pool_connections{{pool="{pool}",state="{state}"}}"#);
        value(&page, &of("used")).unwrap() + value(&page, &of("idle")).unwrap()
    });
    assert!(of_pools.iter().all(|open| *open > 0.0), "{of_pools:?}");
    check_nobody(&page, slug);
    service.check_log();
}

/// Panics if telemetry names a tenant or a user, or quotes their text.
pub fn check_nobody(told: &str, slug: &str) {
    let told = told.to_lowercase();
    for text in ["zork", "plugh", "xyzzy", "plover", "grue-unknown", "frobozz", "lantern", "alice", slug] {
        assert!(!told.contains(text), "{text} is told");
    }
}

#[tokio::test]
async fn a_worker_serves_health_checks_and_counts_of_waiting_jobs() {
    let ground = Ground::new();
    // Jobs of an unknown task. One of them has failed for good.
    execute_at(
        &ground.owner,
        "select graphile_worker.add_job('of_tomorrow', 'null'::json, job_key => n::text) from generate_series(1, 3) n",
    );
    execute_at(&ground.owner, "update graphile_worker._private_jobs set attempts = max_attempts where key = '1'");
    execute_at(
        &ground.owner,
        "update graphile_worker._private_jobs set run_at = now() - interval '1 hour' where key = '2'",
    );
    let worker = ground.work(&[METRICS]);
    let address = worker.metrics_address();
    assert_eq!(raw::try_get(&address, "/healthz").unwrap().status, 200);
    let ready = poll("the worker to be ready", || raw::try_get(&address, "/readyz").filter(|told| told.status == 200));
    assert_eq!(serde_json::from_str::<Value>(&ready.body).unwrap()["status"], "ok");
    assert_eq!(raw::try_get(&address, "/v1/skills").unwrap().status, 404);
    let page = page(&worker);
    assert_eq!(value(&page, r#"knowhow_jobs{state="waiting",task="other"}"#), Some(2.0), "{page}");
    assert_eq!(value(&page, r#"knowhow_jobs{state="dead",task="other"}"#), Some(1.0));
    assert_eq!(value(&page, r#"knowhow_jobs{state="dead",task="embed_skill"}"#), Some(0.0));
    let oldest = value(&page, r#"knowhow_jobs_oldest_seconds{task="other"}"#).unwrap();
    assert!((3600.0..7200.0).contains(&oldest), "{oldest}");
    worker.terminate();
}

#[tokio::test]
async fn the_number_of_series_is_limited_whatever_is_requested() {
    let ground = Ground::new();
    let service = ground.serve(&[METRICS]);
    let World { anonymous, operator, .. } = &world(&service).await;
    let document = anonymous.get("/openapi.json").await.ok(200);
    let paths: Vec<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert!(paths.len() > 80);
    for method in ["GET", "POST", "PUT", "DELETE", "BREW"] {
        for path in &paths {
            let method = method.parse().unwrap();
            drop(anonymous.send(method, &path.replace(['{', '}'], "q")).await);
        }
    }
    for path in &paths {
        drop(operator.get(&format!("{}?zork=1", path.replace(['{', '}'], "zork"))).await);
    }
    let page = page(&service);
    let series = page.lines().filter(|line| !line.starts_with('#')).count();
    assert!((800..2000).contains(&series), "{series}");
    assert!(!page.contains("zork") && !page.contains("BREW"), "{page}");
    assert!(page.contains(r#"http_route="other""#) && page.contains(r#"http_request_method="_OTHER""#));
}

#[test]
fn no_metrics_are_collected_without_a_metrics_address() {
    let service = Service::start(&[]);
    assert!(!service.log().contains(r#""metrics":"#));
    let answer = raw::try_get(&service.address, "/metrics").unwrap();
    assert_eq!(answer.status, 404, "the world does not read metrics");
}
