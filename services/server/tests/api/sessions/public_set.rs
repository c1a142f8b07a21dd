//! A public set of everyday requests, with the real model: recall is at least as good as the nearest example by
//! cosine.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::background::WITH_WORKER;
use crate::callers::{Caller, World};
use crate::service::{Service, poll, setting};
use crate::sessions::recall::escape;
use crate::talk::described;
use crate::worker::{Ground, world};

const EXAMPLES_PER_SKILL: usize = 5;
const MESSAGES: usize = 300;
/// Share of the messages by which recall may be worse.
const MARGIN: f64 = 0.02;

/// Saves the skills, and imports the first examples of each.
async fn save(who: &Caller, skills: &[Value], uses: &[Value]) {
    let mut lines = Vec::new();
    for skill in skills {
        let text = |name: &str| skill[name].as_str().unwrap();
        who.create(described(text("name"), text("description"))).await;
        let own = uses.iter().filter(|used| used["name"] == skill["name"]).take(EXAMPLES_PER_SKILL);
        lines.extend(own.map(|used| json!({"skill": used["name"], "message": used["message"]}).to_string()));
    }
    let import = who.send(reqwest::Method::POST, "/v1/skills/import");
    let report = import.files(&[("knowhow-examples.jsonl", lines.join("\n").as_bytes())]).await.ok(200);
    assert_eq!(report["examples"]["added"], lines.len());
}

#[tokio::test]
async fn recall_is_no_worse_than_the_nearest_example() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fieldsets/hwu64"));
    if !folder.exists() {
        return eprintln!("skipped: there is no folder of public sets");
    }
    let Some(model) = setting("KNOWHOW_TEST_MODEL_DIR") else {
        return eprintln!("skipped: KNOWHOW_TEST_MODEL_DIR names no model");
    };
    let read = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    // A separate worker makes the vectors of the examples.
    let ground = Ground::new();
    let login = ground.login();
    let settings = [("KNOWHOW_DATABASE_URL", login.as_str()), ("KNOWHOW_MODEL_DIR", model.as_str()), WITH_WORKER];
    let service = Service::start(&settings);
    let World { alice, .. } = &world(&service).await;
    save(alice, &read("skills.jsonl"), &read("uses.jsonl")).await;
    let count = || ground.count("skill_examples where embedding is null");
    let mut left = count();
    while left > 0 {
        left = poll("further examples to have vectors", || Some(count()).filter(|now| *now < left));
    }
    let messages = read("messages.jsonl");
    let (mut found, mut nearest) = (0, 0);
    for message in messages.iter().take(MESSAGES) {
        let (text, wanted) = (message["message"].as_str().unwrap(), &message["relevant"][0]);
        let page = alice.get(&format!("/v1/skills?limit=1&q={}", escape(text))).await.ok(200);
        found += usize::from(page["items"][0]["name"] == *wanted);
        // The parts of a score include the cosine to the description and the cosine to the nearest example.
        let path = format!("/v1/skills/suggest?explain=true&context={}", escape(text));
        let explained = alice.get(&path).await.ok(200)["explanation"].take();
        let cosine = |candidate: &&Value| {
            let part = |name: &str| candidate["parts"][name].as_f64().unwrap();
            part("examples").max(part("meaning"))
        };
        let candidates = explained["candidates"].as_array().unwrap();
        let best = candidates.iter().max_by(|a, b| cosine(a).total_cmp(&cosine(b)));
        nearest += usize::from(best.is_some_and(|best| best["name"] == *wanted));
    }
    let share = |count: usize| count as f64 / MESSAGES as f64;
    println!("recall @1 {:.3}, nearest by cosine {:.3}", share(found), share(nearest));
    assert!(messages.len() >= MESSAGES && share(nearest) > 0.5);
    assert!(share(found) >= share(nearest) - MARGIN, "{:.3} and {:.3}", share(found), share(nearest));
}
