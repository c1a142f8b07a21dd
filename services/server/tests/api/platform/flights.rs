//! Round trips of each writing request, as the service logs them. `store/tests/store/skills/flights.rs` counts them
//! on the wire.

use std::future::IntoFuture;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, Sending, World, skill};
use crate::exchange::zip;
use crate::service::{Service, poll};

const LOGGED: &[(&str, &str)] = &[("KNOWHOW_LOG", "info,knowhow_store=debug"), ("KNOWHOW_WORKERS", "1")];

/// A process that gets one request at a time.
pub(super) struct Watched {
    pub(super) service: Service,
}

impl Watched {
    /// Returns the answer to a request, and name, outcome and round trips of its transactions.
    pub(super) async fn send(&self, sending: Sending) -> (Answer, Vec<(String, String, u64)>) {
        let (answer, records) = self.watch(sending).await;
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let transactions = records
            .iter()
            .filter(|record| record["flights"].is_u64())
            .map(|record| {
                assert!(record["elapsed_us"].is_u64(), "{record}");
                (word(&record["transaction"]), word(&record["message"]), record["flights"].as_u64().unwrap())
            })
            .collect();
        (answer, transactions)
    }

    /// Returns the answer to a request, and the records that were logged meanwhile.
    pub(super) async fn watch(&self, sending: Sending) -> (Answer, Vec<Value>) {
        let before = self.service.log().len();
        let answer = sending.into_future().await;
        let id = answer.header("x-request-id").to_owned();
        let log = poll("the request's line", || {
            let log = self.service.log();
            log[before..].contains(&id).then(|| log[before..].to_owned())
        });
        (answer, log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect())
    }

    /// Returns the names of the statements about sessions and snapshots that a request sent. Each is one round trip.
    pub(super) async fn statements(&self, sending: Sending) -> Vec<String> {
        self.statements_of(&["sessions.", "snapshots."], sending).await
    }

    /// Returns the names of the statements with one of these prefixes that a request sent.
    pub(super) async fn statements_of(&self, beginnings: &[&str], sending: Sending) -> Vec<String> {
        let (answer, records) = self.watch(sending).await;
        assert!(answer.status < 400, "{answer}");
        let named = records.iter().filter_map(|record| record["statement"].as_str());
        let is_asked = |name: &&str| beginnings.iter().any(|beginning| name.starts_with(beginning));
        named.filter(is_asked).map(str::to_owned).collect()
    }

    /// Sends a request without and with an idempotency key. Asserts that each takes one transaction of this name with
    /// `flights` round trips.
    pub(super) async fn takes(&self, flights: u64, name: &str, sending: impl Fn(u8) -> Sending) {
        static KEYS: AtomicUsize = AtomicUsize::new(0);
        for (turn, keyed) in [(0, false), (1, true)] {
            let sending = sending(turn);
            let key = KEYS.fetch_add(1, Ordering::Relaxed).to_string();
            let sending = if keyed { sending.header("Idempotency-Key", &key) } else { sending };
            let (answer, transactions) = self.send(sending).await;
            assert!(answer.status < 300, "{name}: {answer}");
            assert_eq!(transactions, [(name.to_owned(), "committed".to_owned(), flights)], "{name}, keyed: {keyed}");
        }
    }
}

pub(super) async fn watched() -> (Watched, Caller, World) {
    watched_with(&[]).await
}

pub(super) async fn watched_with(settings: &[(&str, &str)]) -> (Watched, Caller, World) {
    let service = Service::start(&[LOGGED, settings].concat());
    let world = World::with(json!({"starter_skills": false})).await;
    let alice = world.alice.at(&service);
    // The first request of a user creates the user.
    alice.create(skill("first")).await;
    (Watched { service }, alice, world)
}

pub(super) fn text(name: &str, body: &str) -> Value {
    let mut skill = skill(name);
    skill["content"] = json!(body);
    skill
}

#[tokio::test]
async fn changes_of_cached_skills_take_one_round_trip_and_others_two() {
    let (watched, alice, world) = watched().await;
    let save = |name: String, turn: u8| alice.post("/v1/skills", text(&name, &format!("# Turn {turn}\n\nDo it.\n")));
    watched.takes(2, "skills.save", |turn| save(format!("new-{turn}"), turn)).await;
    watched.takes(1, "skills.save", |turn| save("new-0".into(), turn + 2)).await;
    watched
        .takes(1, "skills.patch", |turn| {
            alice.replace("new-0", &format!("Turn {}", turn + 3), &format!("Turn {}", turn + 4))
        })
        .await;
    watched
        .takes(1, "skills.fields", |turn| alice.put("/v1/skills/new-0/fields", json!({"category": format!("c{turn}")})))
        .await;
    watched
        .takes(1, "skills.resources", |turn| {
            // If the skill had other files, they would be read for the combined checks, in a further round trip.
            alice
                .send(Method::PUT, "/v1/skills/new-0/resources/references/0.md")
                .body("text/markdown", format!("File {turn}"))
        })
        .await;
    // Files and versions are read after the lock, in a round trip of their own.
    watched
        .takes(2, "skills.patch", |turn| {
            let (old, new) = if turn == 0 { ("File", "Page") } else { ("Page", "File") };
            let edit = json!({"path": "references/0.md", "old_string": old, "new_string": new});
            alice.patch("/v1/skills/new-0", json!({"edits": [edit]}))
        })
        .await;
    watched
        .takes(2, "skills.rollback", |turn| alice.post("/v1/skills/new-0/rollback", json!({"version": turn + 1})))
        .await;
    watched.takes(2, "skills.fields", |turn| alice.put("/v1/skills/new-1/fields", json!({"pinned": turn == 0}))).await;

    // A load caches a skill. A change by another process makes the cached skill outdated.
    alice.get("/v1/skills/new-1").await.ok(200);
    watched
        .takes(1, "skills.patch", |turn| {
            alice.replace(
                "new-1",
                if turn == 0 { "Do it" } else { "Do that" },
                if turn == 0 { "Do that" } else { "Do so" },
            )
        })
        .await;
    world.alice.replace("new-1", "Do so", "Do nothing").await.ok(200);
    let (answer, transactions) = watched.send(alice.replace("new-1", "Do nothing", "Do more")).await;
    assert_eq!(answer.ok(200)["version"], 5);
    let name = || "skills.patch".to_owned();
    // The cached text does not contain the passage, so no write based on it is sent.
    assert_eq!(transactions, [(name(), "committed".to_owned(), 2)]);
    world.alice.replace("new-1", "Do more", "Do more of it").await.ok(200);
    let (answer, transactions) = watched.send(alice.replace("new-1", "Turn 1", "Turn 9")).await;
    assert_eq!(answer.ok(200)["version"], 7);
    assert_eq!(transactions, [(name(), "refused".to_owned(), 1), (name(), "committed".to_owned(), 2)]);
    watched
        .takes(2, "skills.patch", |turn| {
            alice.replace("new-1", &format!("Turn {}", 9 - turn), &format!("Turn {}", 8 - turn))
        })
        .await;

    watched.takes(2, "skills.delete", |turn| alice.delete(&format!("/v1/skills/new-{turn}"))).await;
}

/// A user's only skill is not compared, so no statement is sent for it.
#[tokio::test]
async fn the_first_skill_is_not_compared() {
    let (watched, alice, world) = watched().await;
    let compares = async |caller: &Caller| {
        let create = caller.post("/v1/skills", skill("plan-meeting"));
        watched.statements_of(&["skills."], create).await.contains(&"skills.find_revisions".to_owned())
    };
    assert!(!compares(&world.bob.at(&watched.service)).await);
    assert!(compares(&alice).await);
}

/// All skills were created in this process, so it has cached the data for the comparison.
#[tokio::test]
async fn creating_a_skill_needs_no_statement_for_the_comparison() {
    let (watched, alice, _world) = watched().await;
    let asks = async |name: &str| {
        watched.statements_of(&["skills.find_revisions", "skills.list"], alice.post("/v1/skills", skill(name))).await
    };
    alice.get("/v1/skills?q=plan").await.ok(200);
    for name in ["plan-a-trip", "plan-a-meeting", "plan-a-party"] {
        assert_eq!(asks(name).await, Vec::<String>::new(), "{name}");
    }
    let close = alice.post("/v1/skills", skill("plan-a-parties")).await.ok(201);
    assert!(!close["similar"].as_array().unwrap().is_empty(), "{close}");
}

#[tokio::test]
async fn an_import_of_many_takes_two_round_trips() {
    let (watched, alice, _world) = watched().await;
    watched.takes(2, "skills.import_batch", |turn| import(&alice, 0..20, turn)).await;
}

pub(super) fn import(caller: &Caller, numbers: Range<usize>, turn: u8) -> Sending {
    let text = |n| format!("---\nname: s-{n}\ndescription: Says {n}\n---\n\nTurn {turn}.\n");
    let files: Vec<(String, String)> = numbers.map(|n| (format!("s-{n}/SKILL.md"), text(n))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    caller.send(Method::POST, "/v1/skills/import").files(&[("library.zip", &zip(&files))])
}

/// A new skill is compared with skills that other processes have created, and the service reads these first. It may
/// skip this read for a large library if the read is slow, so one of five tries must show it.
#[tokio::test]
async fn a_new_skill_is_compared_with_skills_of_other_processes() {
    for _ in 0..5 {
        let (watched, alice, world) = watched().await;
        for numbers in [0..300, 300..510] {
            import(&alice, numbers, 0).await.ok(200);
        }
        alice.get("/v1/skills?q=plan").await.ok(200);
        world.alice.create(skill("plan-a-party")).await;
        let create = alice.post("/v1/skills", skill("plan-a-trip"));
        if !watched.statements_of(&["skills.list_stamps"], create).await.is_empty() {
            return;
        }
    }
    panic!("none asked what others made");
}
