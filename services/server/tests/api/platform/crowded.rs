//! More requests than the database can serve: the least urgent are refused first, without delay and without effect.

use std::net::TcpStream;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::json;

use super::waiting::Lock;
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::raw::{self, JSON, Post};
use crate::service::{Service, poll_async};
use crate::signing;
use crate::talk::Talk;
use crate::telemetry::measured::{METRICS, page, value};
use crate::worker::{Ground, world};

/// Settings with one connection of each kind, and two places in the queue for connections.
const NARROW: [(&str, &str); 6] = [
    ("KNOWHOW_WORKERS", "1"),
    ("KNOWHOW_WRITE_CONNECTIONS", "1"),
    ("KNOWHOW_READ_CONNECTIONS", "1"),
    ("KNOWHOW_QUEUE_LENGTH", "2"),
    ("KNOWHOW_QUEUE_WAIT_MS", "60000"),
    ("KNOWHOW_STATEMENT_TIMEOUT_MS", "60000"),
];

type Asking<'a> = Pin<Box<dyn Future<Output = (&'static str, Answer)> + 'a>>;

/// Creates users, each with a session, so that no request waits for another one of its user.
async fn users(world: &World, names: &[String]) -> Vec<(Caller, Talk)> {
    let mut users = Vec::new();
    for name in names {
        let user = world.anonymous.with_token(signing::hs256(&world.secret, &signing::claims(&world.slug, name)));
        user.create_all(&["plan"]).await;
        users.push((user.clone(), Talk::long(&user).await));
    }
    users
}

fn ask<'a>(kind: &'static str, admin: &'a Caller, user: &'a (Caller, Talk)) -> Asking<'a> {
    Box::pin(async move {
        let (caller, talk) = user;
        let answer = match kind {
            "exchange" => caller.get("/v1/skills/export/digests").await,
            "admin" => admin.get("/v1/admin/users").await,
            "search" => caller.get("/v1/skills?q=plan").await,
            "read" => caller.get("/v1/skills?limit=3").await,
            "save" => caller.post("/v1/skills", skill("another")).await,
            _ => talk.turn(json!({"message": "what do we plan?", "deadline_ms": 60_000})).await,
        };
        (kind, answer)
    })
}

#[tokio::test]
async fn least_urgent_requests_are_refused_first_and_turns_last() {
    let ground = Ground::new();
    let mut settings = NARROW.to_vec();
    settings.push(METRICS);
    let service = ground.serve(&settings);
    let world = world(&service).await;
    let names: Vec<String> = (0..18).map(|n| format!("user-{n}")).collect();
    let users = users(&world, &names).await;
    world.admin.get("/v1/admin/users").await.ok(200);
    let mut free = users.iter();
    let lock = Lock::take(&ground, "lock table user_catalogs, skills in access exclusive mode", 60);
    let mut asked: FuturesUnordered<Asking<'_>> = FuturesUnordered::new();
    for holder in ["read", "save", "admin"] {
        asked.push(ask(holder, &world.admin, free.next().unwrap()));
    }
    let waits = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let all_are_held = poll_async("all connections to be held", async || (ground.count(waits) == 3).then_some(()));
    tokio::select! {
        () = all_are_held => {}
        answered = asked.next() => panic!("{}", answered.unwrap().1),
    }
    let waits_counted = || {
        let page = page(&service);
        let of =
            |pool| value(&page, &format!(r#"knowhow_pool_wait_seconds_count{{pool="{pool}"}}"#)).unwrap_or_default();
        of("reads") + of("changes")
    };
    let counted = waits_counted();
    let mut before = None;
    for kind in ["exchange", "admin", "search", "save", "turn"] {
        for _ in 0..3 {
            asked.push(ask(kind, &world.admin, free.next().unwrap()));
        }
        // The queue has two places. The service refuses the two waiting requests of the less urgent kind, and the
        // third new one.
        let expected: Vec<&str> = before.into_iter().flat_map(|less| [less, less]).chain([kind]).collect();
        let mut refused = Vec::new();
        for _ in &expected {
            let (kind, answer) = asked.next().await.unwrap();
            answer.refused(503, "unavailable");
            assert_eq!(answer.header("retry-after"), "1");
            refused.push(kind);
        }
        refused.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(refused, expected);
        before = Some(kind);
    }
    // All connections were busy, so these requests waited in the queue. The metric counts waits that end without a
    // connection.
    assert!(waits_counted() > counted, "who waits in the line waits for a connection");
    service_is_alive(&service, &world).await;
    lock.end(&ground);
    let mut served: Vec<&str> = Vec::new();
    while let Some((kind, answer)) = asked.next().await {
        assert!(answer.status < 300, "{answer}");
        served.push(kind);
    }
    served.sort_unstable();
    assert_eq!(served, ["admin", "read", "save", "turn", "turn"]);
    // Refused requests have no effect.
    let saved = "skills where name = 'another'";
    assert_eq!(ground.count(saved), 1, "the one that had its connection");
    assert_eq!(ground.count("turns"), 2);
}

async fn service_is_alive(service: &Service, world: &World) {
    world.anonymous.at(service).get("/healthz").await.ok(200);
}

/// Requests with unfinished bodies do not count towards their user's concurrent requests.
#[tokio::test]
async fn unfinished_bodies_do_not_block_other_requests_of_the_user() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1500")]);
    let token = world.alice.token.as_deref().unwrap();
    let alice = world.alice.at(&service);
    let form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"SKILL.md\"\r\n\r\n---\nname: formed\n\
                description: Is sent in a form. Use it when forms are tried.\n---\n\nWrite.\n\r\n--b--\r\n";
    let (late, listing) =
        (skill("late").to_string(), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string());
    let posts = [
        Post { path: "/v1/skills", media_type: JSON, body: &late },
        Post { path: "/v1/skills/import", media_type: "multipart/form-data; boundary=b", body: form },
        Post { path: "/mcp", media_type: JSON, body: &listing },
    ];
    for post in &posts {
        let half_sent: Vec<TcpStream> = (0..9).map(|_| raw::begin_post(&service.address, token, post)).collect();
        for _ in 0..3 {
            alice.get("/v1/skills").await.ok(200);
        }
        let answer = half_sent.into_iter().map(|stream| raw::finish_post(stream, post)).next_back().unwrap();
        assert!(answer.starts_with("HTTP/1.1 2"), "{}: {answer}", post.path);
    }
}

/// The ninth concurrent request of a user waits, and requests of other users do not.
#[tokio::test]
async fn a_user_has_at_most_eight_requests_in_progress() {
    let ground = Ground::new();
    let limits = [("KNOWHOW_STATEMENT_TIMEOUT_MS", "60000"), ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1500")];
    let service = ground.serve(&limits);
    let world = world(&service).await;
    world.bob.create_all(&["plan"]).await;
    world.alice.create_all(&["plan"]).await;
    let alices = "select from user_catalogs c join users u using (tenant_id, user_id) where external_id = 'alice' for update of c";
    let lock = Lock::take(&ground, alices, 60);
    let mut saves: FuturesUnordered<_> = (0..8)
        .map(|n| {
            let alice = &world.alice;
            async move { alice.post("/v1/skills", skill(&format!("s{n}"))).await }
        })
        .collect();
    let ninth = poll_async("a request to find no place", async || {
        let answer = world.alice.get("/v1/skills").await;
        (answer.status != 200).then_some(answer)
    });
    let refused = tokio::select! {
        refused = ninth => refused,
        saved = saves.next() => panic!("{}", saved.unwrap()),
    };
    let detail = refused.refused(429, "rate-limited")["detail"].clone();
    assert_eq!(detail, "this user already has 8 requests in progress; send fewer in parallel");
    world.bob.get("/v1/skills").await.ok(200);
    world.bob.post("/v1/skills", skill("another")).await.ok(201);
    lock.end(&ground);
    while let Some(saved) = saves.next().await {
        saved.ok(201);
    }
    world.alice.get("/v1/skills").await.ok(200);
}
