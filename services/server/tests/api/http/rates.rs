//! Limits of requests per second, and which other callers they affect.

use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World};
use crate::cli::syncs::{Synced, document};
use crate::service::{Service, keeper, knowhow, poll, poll_async, scratch};
use crate::support::certificate::Pair;
use crate::support::redis::Redis;

/// Number of concurrent requests. A limit of one a second (three at once) refuses some of them, even on a slow
/// machine.
const MANY: usize = 30;

const ONE_A_SECOND: (&str, &str) = ("KNOWHOW_USER_REQUESTS_PER_SECOND", "1");

/// Warning of a process that cannot reach Redis.
const ALONE: &str = "Redis is not available for rate limits";

async fn at_once(caller: &Caller, path: &str) -> Vec<Answer> {
    join_all((0..MANY).map(|_| async { caller.get(path).await })).await
}

/// Returns the number of answers with status 200.
fn passed(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 200).count()
}

/// Asserts that some requests passed and the others got 429. The errors name who exceeded the limit, and the headers
/// state the limit and the wait.
#[track_caller]
fn limited(answers: &[Answer], who: &str) {
    let passed = passed(answers);
    assert!((3..MANY).contains(&passed), "{passed} of {MANY} passed: {}", answers[MANY - 1]);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        let detail = refused.refused(429, "rate-limited")["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.starts_with(&format!("the {who} exceeds the limit of 1 requests per second, or 3 at once")),
            "{detail}"
        );
        assert_eq!(refused.header("ratelimit-remaining"), "0");
        assert!((1..=3).contains(&number(refused, "retry-after")), "{refused}");
    }
    for answer in answers.iter().filter(|answer| answer.status == 200 || answer.status == 429) {
        assert_eq!((answer.header("ratelimit-limit"), answer.header("ratelimit-policy")), ("3", "3;w=3"), "{answer}");
        assert!(number(answer, "ratelimit-reset") <= 3 && number(answer, "ratelimit-remaining") < 3, "{answer}");
    }
}

fn number(answer: &Answer, header: &str) -> u32 {
    answer.header(header).parse().unwrap()
}

fn settings(rates: Value) -> Value {
    let mut settings = json!({"starter_skills": false});
    settings.as_object_mut().unwrap().extend(rates.as_object().unwrap().clone());
    settings
}

async fn world(service: &Service, rates: Value) -> World {
    World::at(service, keeper(), settings(rates)).await
}

#[tokio::test]
async fn a_user_over_the_limit_waits_and_others_do_not() {
    let service = Service::start(&[("KNOWHOW_USER_REQUESTS_PER_SECOND", "1")]);
    let world = world(&service, json!({"requests_per_second": 60})).await;
    limited(&at_once(&world.alice, "/v1/skills").await, "user");
    let answer = world.bob.get("/v1/skills").await;
    answer.ok(200);
    assert_eq!((answer.header("ratelimit-limit"), answer.header("ratelimit-remaining")), ("3", "2"));
    let called = join_all((0..MANY).map(|_| async { world.bob.rpc("tools/list", json!({})).await })).await;
    let refused = called.iter().find(|answer| answer.status != 200).unwrap();
    assert_eq!(refused.error(429, -32000)["data"]["type"], "/problems/rate-limited");
    assert_eq!(refused.header("ratelimit-remaining"), "0");
    assert!(number(refused, "retry-after") >= 1);
    for free in ["/healthz", "/readyz", "/.well-known/oauth-protected-resource/mcp"] {
        assert_eq!(passed(&at_once(&world.alice, free).await), MANY, "{free}");
    }
}

#[tokio::test]
async fn refused_requests_do_not_count_towards_the_tenants_limit() {
    let service = Service::start(&[("KNOWHOW_USER_REQUESTS_PER_SECOND", "1")]);
    let world = world(&service, json!({"requests_per_second": 6})).await;
    let [answers, more] = [at_once(&world.alice, "/v1/skills").await, at_once(&world.alice, "/v1/skills").await];
    assert!(passed(&answers) + passed(&more) < 2 * MANY);
    // The tenant's limit is 18 requests at once. If the refused requests counted, they would have used it up.
    let bob = world.bob.get("/v1/skills").await;
    bob.ok(200);
}

#[tokio::test]
async fn limits_of_keys_and_tenants_count_all_their_users_together() {
    let service = Service::start(&[]);
    let keyed = world(&service, json!({"key_requests_per_second": 1})).await;
    let backend = keyed.backend().await;
    let users: Vec<String> = (0..MANY).map(|n| format!("user-{n}")).collect();
    let answers = join_all(users.iter().map(|user| async { backend.acting_for(user).get("/v1/skills").await })).await;
    limited(&answers, "API key");
    keyed.alice.get("/v1/skills").await.ok(200);
    // Users of refused requests were not created.
    let known = pluck(&keyed.admin.get("/v1/admin/users?limit=100").await.ok(200)["items"], "external_id");
    assert_eq!(known.iter().filter(|name| name.starts_with("user-")).count(), passed(&answers));
    let whole = world(&service, json!({"requests_per_second": 1})).await;
    limited(&at_once(&whole.alice, "/v1/skills").await, "tenant");
    assert!(at_once(&whole.bob, "/v1/skills").await.iter().any(|answer| answer.status == 429));
    keyed.alice.get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn a_changed_limit_applies_at_once() {
    let service = Service::start(&[("KNOWHOW_USER_REQUESTS_PER_SECOND", "1")]);
    let world = world(&service, json!({})).await;
    limited(&at_once(&world.alice, "/v1/skills").await, "user");
    let path = format!("/v1/admin/tenants/{}", world.slug);
    for rate in [0, 1000] {
        let change = json!({"settings": settings(json!({"user_requests_per_second": rate}))});
        world.operator.at(keeper()).patch(&path, change).await.ok(200);
        poll_async("the rate to hold", async || {
            (passed(&at_once(&world.alice, "/v1/skills").await) == MANY).then_some(())
        })
        .await;
    }
    let change = json!({"settings": settings(json!({"user_requests_per_second": 1}))});
    world.operator.at(keeper()).patch(&path, change).await.ok(200);
    poll_async("the rate to hold", async || (passed(&at_once(&world.alice, "/v1/skills").await) < MANY).then_some(()))
        .await;
}

#[tokio::test]
async fn anonymous_requests_are_limited_by_address() {
    let settings = [("KNOWHOW_ANONYMOUS_REQUESTS_PER_SECOND", "1"), ("KNOWHOW_TRUSTED_PROXIES", "127.0.0.1,::1")];
    let service = Service::start(&settings);
    let world = world(&service, json!({})).await;
    for (n, path) in ["/openapi.json", "/docs/", "/v1/skills", "/nothing"].into_iter().enumerate() {
        let ask = |address: String| world.anonymous.get(path).header("X-Forwarded-For", &address);
        let answers = join_all((0..MANY).map(|_| async { ask(format!("203.0.113.{n}")).await })).await;
        let refused = answers.iter().find(|answer| answer.status == 429);
        refused.unwrap_or_else(|| panic!("{path}: {}", answers[MANY - 1])).refused(429, "rate-limited");
        assert_ne!(ask(format!("198.51.100.{n}")).await.status, 429, "{path}");
    }
    for free in ["/healthz", "/readyz", "/"] {
        assert_eq!(passed(&at_once(&world.anonymous, free).await), MANY, "{free}");
    }
    assert_eq!(passed(&at_once(&world.alice, "/v1/skills").await), MANY);
}

#[tokio::test]
async fn commands_wait_while_they_are_rate_limited() {
    let service = Service::start(&[("KNOWHOW_USER_REQUESTS_PER_SECOND", "1")]);
    let world = world(&service, json!({})).await;
    let folder = |name: &str| {
        let files: Vec<(String, String)> =
            (0..6).map(|n| (format!("{name}-{n}/SKILL.md"), document(&format!("{name}-{n}"), "text"))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Synced::new(&world.alice, &files).home.to_str().unwrap().to_owned()
    };
    let (moved, kept) = (folder("moved"), folder("kept"));
    let token = world.alice.token.clone().unwrap();
    let archive = scratch("all.zip");
    for arguments in [vec!["import", &moved], vec!["sync", &kept], vec!["export", "-o", archive.to_str().unwrap()]] {
        assert!(passed(&at_once(&world.alice, "/v1/skills").await) < MANY);
        let output = knowhow(&arguments).args(["--url", &service.url, "--token", &token]).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(archive.exists());
    assert_eq!(world.alice.at(keeper()).names().await.len(), 12);
}

/// Waits until two processes share one count: separately, each would let three requests of a fresh user pass. Tries
/// other users, because a slow machine may take seconds for the requests.
async fn count_together(world: &World, services: &[Service; 2]) {
    let tries = std::cell::Cell::new(0);
    poll_async("one process to refuse what another has counted", async || {
        let name = format!("user-{}", tries.replace(tries.get() + 1));
        let user = world.scoped(&name, "skills:read");
        let at = services.each_ref().map(|service| user.at(service));
        let answers =
            join_all(at.iter().flat_map(|user| [user; 3]).map(async |user| user.get("/v1/skills").await)).await;
        let refused = answers.iter().find(|answer| answer.status == 429)?;
        refused.refused(429, "rate-limited");
        assert_eq!((refused.header("ratelimit-limit"), refused.header("ratelimit-remaining")), ("3", "0"));
        Some(())
    })
    .await;
}

/// Starts two processes with these settings that share one count.
async fn counting(settings: &[(&str, &str)]) -> ([Service; 2], World) {
    let settings = [&[ONE_A_SECOND], settings].concat();
    let services = [Service::start(&settings), Service::start(&settings)];
    let world = world(&services[0], json!({"requests_per_second": 100_000})).await;
    count_together(&world, &services).await;
    (services, world)
}

#[tokio::test]
async fn processes_share_counts_in_redis_and_count_alone_without_it() {
    let Some(redis) = Redis::start() else { return };
    let url = redis.url();
    let (services, world) = counting(&[("KNOWHOW_REDIS_URL", &url)]).await;
    let port = redis.port;
    drop(redis);
    for service in &services {
        limited(&at_once(&world.alice.at(service), "/v1/skills").await, "user");
        world.bob.at(service).get("/v1/skills").await.ok(200);
        poll("the warning", || service.log().contains(ALONE).then_some(()));
        assert_eq!(service.log().matches(ALONE).count(), 1);
    }
    let _redis = Redis::start_at(port).unwrap();
    count_together(&world, &services).await;
}

/// Redis behind TLS, as providers offer it. An untrusted certificate is refused.
#[tokio::test]
async fn processes_share_counts_in_a_redis_behind_tls() {
    let Some(redis) = Redis::start() else { return };
    let pair = Pair::new();
    let trusted = scratch("redis-roots.pem");
    std::fs::write(&trusted, &pair.certificate).unwrap();
    let tls = redis.behind_tls(&pair).await;
    let url = format!("rediss://127.0.0.1:{}", tls.port);
    let redis_url = ("KNOWHOW_REDIS_URL", url.as_str());
    let (_services, world) = counting(&[redis_url, ("SSL_CERT_FILE", trusted.to_str().unwrap())]).await;
    assert!(tls.trusted.load(Ordering::Relaxed) > 0 && tls.refused.load(Ordering::Relaxed) == 0);
    let wary = Service::start(&[ONE_A_SECOND, redis_url]);
    limited(&at_once(&world.alice.at(&wary), "/v1/skills").await, "user");
    poll_async("the warning", async || wary.log().contains(ALONE).then_some(())).await;
    assert!(wary.log().contains("certificate"), "{}", wary.log());
    assert!(tls.refused.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn a_redis_that_stops_answering_delays_no_request() {
    let Some(redis) = Redis::start() else { return };
    let url = redis.url();
    let (services, world) = counting(&[("KNOWHOW_REDIS_URL", &url)]).await;
    redis.stop_answering();
    let [one, _] = &services;
    limited(&at_once(&world.alice, "/v1/skills").await, "user");
    world.bob.get("/v1/skills").await.ok(200);
    poll("the warning", || one.log().contains(ALONE).then_some(()));
    assert!(one.log().contains("no response in time") || one.log().contains("timed out"), "{}", one.log());
}

#[tokio::test]
async fn a_redis_that_never_answers_delays_no_request() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", silent.local_addr().unwrap());
    let service = Service::start(&[ONE_A_SECOND, ("KNOWHOW_REDIS_URL", &url)]);
    let world = world(&service, json!({})).await;
    limited(&at_once(&world.alice, "/v1/skills").await, "user");
    world.bob.get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn an_invalid_redis_url_is_reported_without_its_password() {
    for url in ["http://me:5ec4e7@host", "https://me:5ec4e7@host", "rediss://me:5ec4e7@host:port"] {
        let output = knowhow(&["serve"]).env("KNOWHOW_REDIS_URL", url).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("KNOWHOW_REDIS_URL must be redis://"), "{said}");
        assert!(!said.contains("5ec4e7"), "{said}");
    }
}
