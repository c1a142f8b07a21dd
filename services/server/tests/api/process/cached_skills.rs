//! Skills that several processes cache: all answers fit one history.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::service::Service;
use crate::talk::{MAIL, Talk, create_described, described, names};

/// A pseudo-random number generator. Its seed makes failures repeatable.
pub struct Dice(pub u64);

impl Dice {
    pub fn of(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// The expected state of a skill.
#[derive(Clone, PartialEq, Debug)]
struct Model {
    version: i64,
    lines: Vec<String>,
    category: Option<String>,
    pinned: bool,
    times_used: i64,
}

impl Model {
    fn content(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn check(&self, shown: &Value, step: usize) {
        let is = (&shown["version"], &shown["content"], &shown["category"], &shown["pinned"], &shown["times_used"]);
        let (version, content, category) = (json!(self.version), json!(self.content()), json!(self.category));
        let (pinned, times_used) = (json!(self.pinned), json!(self.times_used));
        assert_eq!(is, (&version, &content, &category, &pinned, &times_used), "step {step}");
    }
}

#[tokio::test]
async fn two_processes_answer_as_one() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    for seed in 1..4 {
        let world = World::with(json!({"starter_skills": false})).await;
        let both = [world.alice.clone(), world.alice.at(&other)];
        one_history(&both, Dice(seed)).await;
    }
}

async fn one_history(both: &[Caller; 2], mut dice: Dice) {
    let mut body = skill("p");
    body["content"] = json!("line 0\n");
    both[0].create(body.clone()).await;
    let mut model = Model { version: 1, lines: vec!["line 0".into()], category: None, pinned: false, times_used: 0 };
    model.category = both[0].peek("p").await["category"].as_str().map(str::to_owned);
    for step in 1..80 {
        let who = &both[dice.of(2)];
        let key = (dice.of(2) == 0).then(|| format!("step-{step}"));
        let line = format!("line {step}");
        let sending = match dice.of(6) {
            0 => {
                model.lines.push(line);
                body["content"] = json!(model.content());
                model.version += 1;
                who.post("/v1/skills", body.clone())
            }
            1 | 2 => {
                let at = dice.of(model.lines.len());
                let old = format!("{}\n", model.lines[at]);
                model.lines[at] = line.clone();
                model.version += 1;
                who.replace("p", &old, &format!("{line}\n"))
            }
            3 => {
                model.category = Some(format!("c{step}"));
                model.version += 1;
                // Later saves send the category too.
                body["category"] = json!(model.category);
                who.put("/v1/skills/p/fields", json!({"category": model.category}))
            }
            4 => {
                model.pinned = !model.pinned;
                who.put("/v1/skills/p/fields", json!({"pinned": model.pinned}))
            }
            _ => {
                model.times_used += 1;
                model.check(&who.get("/v1/skills/p").await.ok(200), step);
                continue;
            }
        };
        match key {
            Some(key) => {
                let first = sending.header("Idempotency-Key", &key).await;
                model.check(&first.ok(200), step);
            }
            None => model.check(&sending.await.ok(200), step),
        }
        model.check(&both[dice.of(2)].peek("p").await, step);
    }
}

/// A repeated request gets its stored answer from the other process and changes nothing there.
#[tokio::test]
async fn a_repeated_request_gets_the_same_answer_from_another_process() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let world = World::with(json!({"starter_skills": false})).await;
    let (here, there) = (&world.alice, &world.alice.at(&other));
    here.create_all(&["p"]).await;
    for who in [here, there] {
        who.get("/v1/skills/p").await.ok(200);
    }
    let patch = |who: &Caller| who.replace("p", "First", "Second").header("Idempotency-Key", "once");
    let first = patch(here).await;
    assert_eq!(first.ok(200)["version"], 2);
    // The other process has cached the base too, but the key prevents a second patch.
    assert_eq!(patch(there).await.body, first.body);
    assert_eq!(patch(here).await.body, first.body);
    here.replace("p", "First", "Third").header("Idempotency-Key", "once").await.refused(422, "idempotency-mismatch");
    assert_eq!(there.peek("p").await["version"], 2);

    // A repeated patch that would match again is recognised by the version that it made, even if that version is
    // cached.
    here.create_all(&["q"]).await;
    let again = async || here.replace("q", "q\n\nFirst", "q\n\nq\n\nFirst").await.ok(200);
    assert_eq!(again().await["unchanged"], false);
    let second = again().await;
    assert_eq!((&second["unchanged"], &second["version"]), (&json!(true), &json!(2)));
}

fn brings(turn: &Value, name: &str) -> bool {
    ["active", "relevant"].iter().any(|list| names(turn, list).iter().any(|brought| brought == name))
}

/// A process that has cached a session sees the changes of another process.
#[tokio::test]
async fn turns_at_two_processes_belong_to_one_session() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let world = World::with(json!({"starter_skills": false})).await;
    let (alice, there) = (&world.alice, &world.alice.at(&other));
    create_described(alice, &MAIL).await;
    let greeted = async || {
        let talk = Talk::long(alice).await;
        assert_eq!(talk.say("Hello").await["turn"], 1);
        (Talk { who: there.clone(), ..talk.clone() }, talk)
    };

    let (elsewhere, talk) = greeted().await;
    let asks = "Send an email to Ann through the mail server";
    assert!(brings(&elsewhere.say(asks).await, "mcp/email"));
    let again = talk.say(asks).await;
    assert_eq!(again["turn"], 3);
    assert!(!brings(&again, "mcp/email"), "shown twice: {again}");

    let (_, talk) = greeted().await;
    there.create(described("water-plants", "Water the plants on the balcony")).await;
    let found = talk.say("How do I water the plants on the balcony?").await;
    assert!(brings(&found, "water-plants"), "{found}");

    let (elsewhere, talk) = greeted().await;
    let keyed =
        |talk: &Talk, message: &str| talk.turn(json!({"message": message, "turn_key": "k", "deadline_ms": 30_000}));
    let first = keyed(&elsewhere, asks).await.ok(200);
    assert_eq!(keyed(&talk, asks).await.ok(200), first);
    keyed(&talk, "Something else").await.refused(422, "invalid");

    let (_, talk) = greeted().await;
    there.put("/v1/skills/plan-meeting/relations/requires/water-plants", json!(null)).await.empty(201);
    let related = talk.say("Schedule meetings and invite attendees").await;
    assert!(names(&related, "related").contains(&"water-plants".to_owned()), "{related}");

    let (elsewhere, talk) = greeted().await;
    elsewhere.tell("/end", json!({})).await;
    talk.turn(json!({"message": "Are you there?"})).await.refused(409, "session-ended");
}

#[tokio::test]
async fn concurrent_patches_at_two_processes_all_succeed() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let world = World::with(json!({"starter_skills": false})).await;
    let both = [world.alice.clone(), world.alice.at(&other)];
    let mut body = skill("p");
    body["content"] = json!("END\n");
    both[0].create(body).await;
    for round in 0..8 {
        let patches = (0..4).map(|n| {
            let who = &both[n % 2];
            async move { who.replace("p", "END", &format!("{round}-{n}\nEND")).await.ok(200) }
        });
        join_all(patches).await;
    }
    let after = both[0].peek("p").await;
    assert_eq!(after["version"], 33);
    let mut lines: Vec<&str> = after["content"].as_str().unwrap().lines().collect();
    assert_eq!(lines.pop(), Some("END"));
    lines.sort_unstable();
    let mut all: Vec<String> = (0..8).flat_map(|round| (0..4).map(move |n| format!("{round}-{n}"))).collect();
    all.sort_unstable();
    assert_eq!(lines, all);
}
