//! Requests without a recognised caller: a flood of them delays only other such requests.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use knowhow_testing::Wire;

use crate::callers::{Caller, Sending, World, skill};
use crate::platform::pools::behind;
use crate::service::{Service, login_url};
use crate::signing;

const CONNECTIONS: usize = 16;
const WATCHED: Duration = Duration::from_secs(2);
/// Requests per second without a recognised caller: eight at once, each followed by a pause of 20 ms.
const RATE: f64 = 400.0;

/// Function that returns the request of a flood with this number.
type Flood<'a> = Box<dyn Fn(usize) -> Sending + 'a>;

/// Sends requests on 16 connections, each after the answer to the one before. Returns the number of answers per
/// second.
async fn flood(request: impl Fn(usize) -> Sending) -> f64 {
    let began = Instant::now();
    let counts = join_all((0..CONNECTIONS).map(async |connection| {
        let mut sent = 0;
        while began.elapsed() < WATCHED {
            request(connection + CONNECTIONS * sent).await;
            sent += 1;
        }
        sent
    }))
    .await;
    counts.iter().sum::<usize>() as f64 / began.elapsed().as_secs_f64()
}

fn random_key(n: usize) -> String {
    format!("kh_{n:012x}_{}", URL_SAFE_NO_PAD.encode([7; 32]))
}

fn token_of_nowhere(n: usize) -> String {
    signing::hs256(&signing::random_secret(), &signing::claims(&format!("nowhere-{n}"), "alice"))
}

#[tokio::test]
async fn unrecognised_callers_share_a_few_hundred_requests_a_second() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let stranger = &world.anonymous.at(&service);
    let floods: [(&str, Flood<'_>); 6] = [
        ("no credential", Box::new(|_| stranger.get("/v1/skills"))),
        ("random API keys", Box::new(|n| stranger.with_token(random_key(n)).get("/v1/skills"))),
        ("tokens of random tenants", Box::new(|n| stranger.with_token(token_of_nowhere(n)).get("/v1/skills"))),
        ("unknown paths", Box::new(|n| stranger.get(&format!("/v2/{n}")))),
        ("the API's document", Box::new(|_| stranger.get("/openapi.json"))),
        ("readiness", Box::new(|_| stranger.get("/readyz"))),
    ];
    for (name, request) in floods {
        let rate = flood(request).await;
        // The slots that are free at the beginning let some more requests pass.
        assert!(rate < 1.5 * RATE, "{name}: {rate:.0} a second");
    }
}

#[tokio::test]
async fn a_known_caller_does_not_wait_for_unrecognised_callers() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let (alice, backend) = (world.alice.at(&service), world.backend().await.acting_for("alice").at(&service));
    let stranger = world.anonymous.at(&service);
    alice.create(skill("p")).await;
    backend.get("/v1/skills/p").await.ok(200);
    // More requests than can be answered while two known callers send ten each.
    let waiting = join_all((0..2_000).map(async |n| stranger.with_token(random_key(n)).get("/v1/skills").await.status));
    let known = async |who: &Caller| {
        for _ in 0..10 {
            who.get("/v1/skills/p").await.ok(200);
        }
    };
    let served = async { tokio::join!(known(&alice), known(&backend)) };
    tokio::select! {
        biased;
        _ = served => {}
        _ = waiting => panic!("all strangers were answered before two known callers"),
    }
}

#[tokio::test]
async fn a_new_caller_with_a_valid_key_is_served_during_a_flood() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let stranger = world.anonymous.at(&service);
    let newcomers = [world.alice.at(&service), world.backend().await.acting_for("alice").at(&service)];
    let flooding = flood(|n| stranger.with_token(random_key(n)).get("/v1/skills"));
    let served = async {
        for newcomer in &newcomers {
            newcomer.get("/v1/skills").await.ok(200);
        }
    };
    tokio::join!(flooding, served);
}

#[tokio::test]
async fn many_probes_query_the_database_once() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = behind(&wire);
    let probe = world.anonymous.at(&service);
    probe.get("/readyz").await.ok(200);
    let began = Instant::now();
    let (flights, answers) = wire.count(join_all((0..50).map(async |_| probe.get("/readyz").await.status))).await;
    assert!(answers.iter().all(|status| *status == 200));
    // The service queries the schema and the login at most once a second. Each query is a transaction of four
    // messages.
    let most = 8 * (1 + began.elapsed().as_secs() as usize);
    assert!(flights <= most, "{flights} round trips for 50 probes");
}
