//! Libraries and memories with more text than is read at once: found by descriptions at once, and by all words soon
//! after.

use serde_json::{Value, json};

use crate::callers::{Caller, World};
use crate::service::{Service, poll_async};
use crate::sessions::recall::escape;
use crate::talk::{Talk, names};

const TOPICS: [&str; 14] = [
    "alpine", "basalt", "cobalt", "dahlia", "ermine", "falcon", "gazebo", "hazels", "indigo", "jasper", "kernel",
    "lagoon", "marble", "nougat",
];

/// Returns a text of about 220 KB that contains the word in `rare` once, near the end.
fn long_body(rare: &str) -> String {
    let filler = (0..22_000).map(|n| format!("step{:03} then ", n % 700)).collect::<String>();
    format!("# How to\n\n{}\n\nMind the {rare}.\n", &filler[..220_000])
}

async fn found(who: &Caller, q: &str) -> Vec<String> {
    let page = who.get(&format!("/v1/skills?q={}", escape(q))).await.ok(200);
    crate::answers::pluck(&page["items"], "name")
}

#[tokio::test]
async fn large_skills_are_found_at_once_and_their_bodies_soon() {
    let World { alice, .. } = &World::new().await;
    for topic in TOPICS {
        alice
            .create(json!({
                "name": format!("about-{topic}"),
                "description": format!("Care for {topic} gardens. Use when somebody asks about {topic} gardens."),
                "content": long_body(&format!("quetzal{topic}")),
            }))
            .await;
    }
    // A process that has not cached these skills.
    let fresh = Service::start(&[("KNOWHOW_WORKERS", "2")]);
    let alice = &alice.at(&fresh);
    assert_eq!(found(alice, "jasper gardens").await[0], "about-jasper");
    let talk = Talk::long(alice).await;
    let turn = talk.say("please look at about-nougat before you answer").await;
    assert_eq!(names(&turn, "too_long"), ["about-nougat"], "{turn}");
    assert!([Value::Null, json!(["bodies"])].contains(&turn["degraded"]), "{turn}");
    for topic in TOPICS {
        let of_body = format!("quetzal{topic}");
        poll_async("the words of all bodies", async || {
            found(alice, &of_body).await.first().filter(|name| **name == format!("about-{topic}")).map(drop)
        })
        .await;
    }
    let turn = talk.say("and what should I do about the marble gardens?").await;
    assert_eq!(turn["degraded"], Value::Null, "{turn}");
    // One skill changes. It is found by its new words, and the other skills by their own words.
    alice.replace("about-cobalt", "Mind the quetzalcobalt.", "Mind the ocelot.").await.ok(200);
    assert_eq!(found(alice, "ocelot").await, ["about-cobalt"]);
    assert!(found(alice, "quetzalcobalt").await.is_empty());
    assert_eq!(found(alice, "quetzalnougat").await, ["about-nougat"]);
}

#[tokio::test]
async fn many_memories_are_found_by_their_words_soon() {
    let World { alice, .. } = &World::new().await;
    let filler = "and so the day went on with walks and talks ".repeat(180);
    for n in 0..280 {
        let content = format!("{} The token is zx{n}.", &filler[..7_900]);
        alice.post("/v1/memories", json!({"content": content, "kind": "episodic"})).await.ok(201);
    }
    let first = async |n: usize| {
        let recalled = alice.get(&format!("/v1/recall?q=zx{n}")).await.ok(200);
        recalled["items"][0]["content"].as_str().map(|content| content.ends_with(&format!(" zx{n}.")))
    };
    let fresh = Service::start(&[("KNOWHOW_WORKERS", "2")]);
    let elsewhere = alice.at(&fresh);
    for n in [0, 279] {
        poll_async("the words of all memories", async || {
            let recalled = elsewhere.get(&format!("/v1/recall?q=zx{n}")).await.ok(200);
            recalled["items"][0]["content"].as_str()?.ends_with(&format!(" zx{n}.")).then_some(())
        })
        .await;
    }
    // The process that saved the memories finds a new memory at once, and no longer finds a deleted one.
    poll_async("the words here", async || first(279).await.filter(|found| *found).map(drop)).await;
    let id = alice.post("/v1/memories", json!({"content": "Ann likes zx999"})).await.ok(201)["id"].clone();
    let recalled = async || alice.get("/v1/recall?q=zx999").await.ok(200)["items"].as_array().unwrap().len();
    assert_eq!(recalled().await, 1);
    alice.delete(&format!("/v1/memories/{}", id.as_str().unwrap())).await.empty(204);
    assert_eq!(recalled().await, 0);
}
