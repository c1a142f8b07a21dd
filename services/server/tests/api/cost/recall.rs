//! Cost of recall and other operations over all of a user's skills, in the largest libraries.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::neighbour::hold_beside;
use super::{at_most, cpu_of, peak_mib, resident_mib};
use crate::callers::{Caller, World, skill};
use crate::exchange::zip;
use crate::service::{Service, keeper, poll_async};
use crate::talk::Talk;

const SKILLS: usize = 5000;
/// Number of skills per imported archive.
const BATCH: usize = 250;

/// Returns `count` words that differ from skill to skill and have few letters.
fn words(seed: usize, count: usize) -> String {
    let word = |n: usize| format!("{:x} ", (seed + 3) * (n + 7) * 2_654_435_761 % 0xfff_ffff);
    (0..count).map(word).collect()
}

/// Returns a name of about 180 characters.
fn name(n: usize) -> String {
    let long = words(n, 80).replace(' ', "");
    format!("{}/{}/{}-{n}", &long[..60], &long[60..120], &long[120..175])
}

/// Imports skills with long names, long descriptions, and bodies of `body` words.
pub(super) async fn fill(who: &Caller, count: usize, body: usize) {
    for start in (0..count).step_by(BATCH) {
        let files: Vec<(String, String)> = (start..count.min(start + BATCH))
            .map(|n| {
                let text = format!(
                    "---\nname: {}\ndescription: Does {}. Use when somebody asks for it.\n---\n\n{}\n",
                    name(n),
                    words(n, 100),
                    words(n + 1, body)
                );
                (format!("{}/SKILL.md", name(n)), text)
            })
            .collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
        let report =
            who.send(reqwest::Method::POST, "/v1/skills/import").files(&[("library.zip", &zip(&files))]).await.ok(200);
        assert_eq!(report["created"].as_u64().unwrap() as usize, files.len(), "{}", report["items"][0]);
    }
}

pub(super) async fn world(service: &Service) -> World {
    World::at(service, keeper(), json!({"starter_skills": false, "bytes_per_user": 1_000_000_000})).await
}

/// Waits until the catalogue is complete with all bodies.
async fn ready(who: &Caller) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(180) {
        let asked = json!({"message": "what is there to do with all of this", "explain": true});
        let found = who.post("/v1/skills/match", asked).await.ok(200);
        if found["explanation"]["degraded"] == json!([]) {
            println!("all bodies were counted after {:?}", start.elapsed());
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the bodies were not counted");
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn large_libraries_answer_at_little_cost() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    let alice = &world.alice;
    fill(alice, SKILLS, 20).await;
    ready(alice).await;
    let missing = format!("/v1/skills/{}x", name(4711).replace('/', "%2F"));
    let (refused, spent) = cpu_of(&service, "a name that is missing among 5,000", alice.get(&missing)).await;
    assert_eq!(refused.refused(404, "not-found")["candidates"][0], name(4711));
    at_most(spent, 40);

    let (_, spent) = cpu_of(&service, "creating beside 5,000", alice.post("/v1/skills", skill("new"))).await;
    at_most(spent, 40);

    let message = words(12, 9000).chars().take(65_000).collect::<String>();
    let (_, spent) = cpu_of(
        &service,
        "65 KB to match",
        alice.post("/v1/skills/match", json!({"message": message, "explain": true})),
    )
    .await;
    at_most(spent, 150);

    let talk = Talk::long(alice).await;
    let (_, spent) = cpu_of(&service, "ten saves and turns", async {
        for n in 0..10 {
            let mut body = skill("new");
            body["content"] = json!(format!("# New\n\nStep {n}.\n"));
            alice.post("/v1/skills", body).await.ok(200);
            talk.say("what is the new thing to do about all of this?").await;
        }
    })
    .await;
    at_most(spent, 2500);
    println!("{} MiB now, {} at most", resident_mib(&service), peak_mib(&service));
    let alice = alice.clone();
    hold_beside(&service, "65 KB to match, 5,000 skills", move |_| {
        alice.post("/v1/skills/match", json!({"message": message, "explain": true}))
    })
    .await;
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn saves_and_turns_over_64_mib_cost_only_their_changes() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    let alice = &world.alice;
    fill(alice, 1500, 5000).await;
    let talk = Talk::long(alice).await;
    let (_, _) = cpu_of(&service, "the whole catalogue for the first time", ready(alice)).await;
    let (_, spent) = cpu_of(&service, "ten saves and turns over 64 MiB", async {
        for n in 0..10 {
            let body = json!({"name": name(n), "description": "Changed", "content": words(n * 31, 5000)});
            alice.post("/v1/skills", body).await.ok(200);
            let turn = talk.say("what is the changed thing to do about all of this?").await;
            assert_eq!(turn["degraded"], Value::Null, "{turn}");
        }
    })
    .await;
    at_most(spent, 3000);
    println!("{} MiB now, {} at most", resident_mib(&service), peak_mib(&service));
    hold_beside(&service, "saves and turns over 64 MiB", move |n| match n % 2 {
        0 => {
            let body = json!({"name": name(n % 100), "description": "Changed", "content": words(n * 31, 5000)});
            talk.who.post("/v1/skills", body)
        }
        _ => talk.turn(json!({"message": "what is the changed thing to do about all of this?"})),
    })
    .await;
}

/// Number of memories, each of the maximum length.
const MEMORIES: usize = 10_000;
/// Minimum number of the newest memories that are found by their words.
const NEWEST: usize = 2000;

/// Returns a word that only memory `n` contains.
fn mark(n: usize) -> String {
    format!("mark{n:05}")
}

/// Returns 8,000 characters of 20,000 different words, of which a few are frequent and most are rare, as in natural
/// text.
fn prose(n: usize) -> String {
    let word = |place: usize| {
        let random = (n * 1361 + place * 7919 + 12345).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        let share = random as f64 / f64::from(1 << 31);
        format!("{:x} ", (20_000.0 * share.powi(3)) as usize * 2_654_435_761 % 0xfff_ffff)
    };
    let text: String = (0..1100).map(word).collect();
    format!("{} {}", mark(n), &text[..text.len().min(7980)])
}

/// Returns whether a query with the word of memory `n` finds that memory first.
async fn finds(who: &Caller, n: usize) -> bool {
    let recalled = who.get(&format!("/v1/recall?q={}", mark(n))).await.ok(200);
    recalled["items"][0]["content"].as_str().is_some_and(|text| text.starts_with(&mark(n)))
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn ten_thousand_memories_are_not_read_for_each_query() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    let alice = &world.alice;
    for n in 0..MEMORIES {
        alice.post("/v1/memories", json!({"content": prose(n), "kind": "episodic"})).await.ok(201);
    }
    poll_async("the words of the newest memories", async || finds(alice, MEMORIES - NEWEST).await.then_some(())).await;
    let mut oldest = MEMORIES;
    while oldest > 0 && finds(alice, oldest - 500).await {
        oldest -= 500;
    }
    println!("the words of the newest {} memories are known; {} MiB", MEMORIES - oldest, resident_mib(&service));
    let question = format!("{} and {}", mark(MEMORIES - 77), &prose(MEMORIES - 77)[10..60]);
    let path = format!("/v1/recall?q={}", crate::sessions::recall::escape(&question));
    let (_, spent) = cpu_of(&service, "ten questions to 10,000 memories", async {
        for _ in 0..10 {
            alice.get(&path).await.ok(200);
        }
    })
    .await;
    at_most(spent, 500);
    let (asking, saving) = (alice.clone(), alice.clone());
    hold_beside(&service, "questions to 10,000 memories", move |_| asking.get(&path)).await;
    let more = move |n| saving.post("/v1/memories", json!({"content": prose(n), "kind": "episodic"}));
    more(1).await.refused(429, "quota-exceeded");
    hold_beside(&service, "memories for which there is no room", more).await;
}
