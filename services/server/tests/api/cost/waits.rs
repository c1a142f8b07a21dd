//! Waiting times: for the model, during an import, and for a database that does not answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use knowhow_testing::Wire;
use reqwest::Method;
use serde_json::json;

use super::neighbour::Attack;
use crate::callers::{Caller, World, skill};
use crate::service::{Service, keeper, login_url, poll_async, setting};
use crate::talk::Talk;
use crate::worker::{Ground, world};

/// Factor for the allowed waiting times, because other programs may use the machine.
const TOLERANCE: u32 = 3;

/// Sixteen connections of one user send long questions continuously. Turns of another tenant still get their vectors.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn long_questions_of_one_user_cost_other_tenants_no_vector() {
    let Some(folder) = setting("KNOWHOW_TEST_MODEL_DIR") else { return };
    let service = Service::start(&[("KNOWHOW_MODEL_DIR", &folder)]);
    let (greedy, modest) = (tenant(&service).await, tenant(&service).await);
    modest.alice.create_all(&["plan-meeting", "book-train"]).await;
    let asker = greedy.alice.clone();
    asker.create(skill("anything")).await;
    let attack = Attack::begin(move |n| {
        let question = format!("{n}: {}", "what is the way to schedule a meeting with everybody ".repeat(80));
        asker.post("/v1/skills/match", json!({"message": question}))
    });
    let talk = Talk::long(&modest.alice).await;
    let (mut lost, mut slowest) = (0, Duration::ZERO);
    for n in 0..30 {
        let began = Instant::now();
        let turn = talk.turn(json!({"message": format!("please book train number {n} to Rome")})).await.ok(200);
        slowest = slowest.max(began.elapsed());
        lost += usize::from(turn["degraded"].to_string().contains("embedding"));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let asked = end(attack).await;
    println!("beside {asked} long questions {lost} of 30 turns went without a vector; the slowest took {slowest:?}");
    // Without optimisation a turn may be late for reasons other than the model.
    assert!(lost <= if cfg!(debug_assertions) { 3 } else { 0 });
}

/// Ends an attack from a blocking thread, because this thread may have to serve the attack's connections meanwhile.
async fn end(attack: Attack) -> usize {
    tokio::task::spawn_blocking(|| attack.end()).await.unwrap()
}

async fn tenant(service: &Service) -> World {
    World::at(service, keeper(), json!({"starter_skills": false})).await
}

/// An import of 4,000 skills occupies the worker for minutes. Jobs of single saves do not wait for the import.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn an_import_does_not_delay_other_saves() {
    let Some(folder) = setting("KNOWHOW_TEST_MODEL_DIR") else { return };
    let (ground, chat) = (Ground::new(), slow_chat(Duration::from_secs(1)));
    let service = ground.serve(&[
        ("KNOWHOW_EMBEDDINGS_URL", ""),
        ("KNOWHOW_EMBEDDINGS_MODEL", ""),
        ("KNOWHOW_MODEL_DIR", &folder),
        ("KNOWHOW_CHAT_URL", &chat),
        ("KNOWHOW_CHAT_MODEL", "slow"),
        ("KNOWHOW_WITH_WORKER", "true"),
    ]);
    let (large, small) = (world(&service).await, world(&service).await);
    let began = Instant::now();
    for part in 0..10 {
        import(&large.alice, part).await;
    }
    println!("imported 4,000 skills in {:?}", began.elapsed());
    for n in 0..5 {
        let (name, began) = (format!("urgent-{n}"), Instant::now());
        small.alice.create(skill(&name)).await;
        let vector = format!(
            "skill_embeddings e join skills s using (tenant_id, user_id, skill_id) join tenants t using (tenant_id)
             where t.slug = '{}' and s.name = '{name}'",
            small.slug
        );
        poll_async("the vector", async || (ground.count(&vector) == 1).then_some(())).await;
        let embedded = began.elapsed();
        poll_async("the line", async || (small.alice.peek(&name).await["summary_by"] == "model").then_some(())).await;
        let left = ground.count("graphile_worker._private_jobs where priority >= 100");
        println!("a vector after {embedded:?}, a line after {:?}, beside {left} jobs", began.elapsed());
        // The limit for the index line includes one second for the answer of the chat model.
        assert!(embedded < Duration::from_secs(2) * TOLERANCE && began.elapsed() < Duration::from_secs(3) * TOLERANCE);
        assert!(left > 100, "the import was over too soon to be in anybody's way");
    }
}

async fn import(who: &Caller, part: usize) {
    let files: Vec<(String, String)> = (0..400)
        .map(|n| {
            let (name, about) = (format!("imported-{part}-{n}"), "how to plan, book and pay for a journey ".repeat(8));
            (format!("{name}/SKILL.md"), format!("---\nname: {name}\ndescription: {n} {about}\n---\n\nBody of {n}\n"))
        })
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    assert_eq!(who.send(Method::POST, "/v1/skills/import").files(&files).await.ok(200)["created"], 400);
}

/// Starts a chat model that answers after a pause, and returns the base of its URL.
fn slow_chat(pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, pause));
        }
    });
    url
}

/// Answers one request, unless the caller has disconnected.
fn answer(mut stream: TcpStream, pause: Duration) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    std::thread::sleep(pause);
    let said = json!({"choices": [{"message": {"content": "Does what is asked, at once."}}]}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{said}", said.len()).as_bytes()).ok()
}

/// With default settings no request waits longer than five seconds.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_silent_database_is_reported_within_five_seconds() {
    let wire = Wire::to(&login_url());
    let defaults = [("KNOWHOW_ACQUIRE_TIMEOUT_MS", "3000"), ("KNOWHOW_DATABASE_URL", &wire.url)];
    let service = Service::start(&defaults);
    let world = tenant(&service).await;
    world.alice.create_all(&["before"]).await;
    let busy = Attack::begin({
        let alice = world.alice.clone();
        move |n| match n % 2 {
            0 => alice.get("/v1/skills/before"),
            _ => alice.post("/v1/skills", skill(&format!("busy-{n}"))),
        }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    wire.stall();
    let silent = Instant::now();
    let mut slowest = Duration::ZERO;
    while silent.elapsed() < Duration::from_secs(20) {
        let requests = (0..8).map(async |n| {
            let began = Instant::now();
            let answer = match n % 2 {
                0 => world.alice.get("/v1/skills/before").await,
                _ => world.alice.post("/v1/skills", skill("meanwhile")).await,
            };
            assert!([429, 503].contains(&answer.status), "{answer}");
            began.elapsed()
        });
        slowest = join_all(requests).await.into_iter().chain([slowest]).max().unwrap();
    }
    wire.flow();
    let healing = Instant::now();
    poll_async("writes to heal", async || {
        (world.alice.post("/v1/skills", skill("after")).await.status < 300).then_some(())
    })
    .await;
    end(busy).await;
    println!("told after {slowest:?} at most, healed {:?} after the silence", healing.elapsed());
    assert!(slowest < Duration::from_millis(5500), "{slowest:?}");
}
