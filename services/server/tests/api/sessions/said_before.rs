//! A message is interpreted with the messages before it: it agrees to an offer, chooses an item, refuses or
//! continues.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::everyday::{vectors_made, with_model, world};
use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{keeper, poll_async};
use crate::sessions::recall::escape;
use crate::talk::{Talk, brought, create_described, described, names};

/// Skills that are found by their words.
const SKILLS: [(&str, &str); 4] = [
    ("zebra-care", "Brushes and feeds the striped zebra"),
    ("harp-tuning", "Tunes the strings of a golden harp"),
    ("cheese-cellar", "Turns and salts the wheels of cheese in the cellar"),
    ("kite-repair", "Mends torn kites with silk and glue"),
];

/// Begins a conversation with a message of the user and a reply of the agent.
async fn replied(who: &Caller, message: &str, reply: &str) -> Talk {
    let talk = Talk::long(who).await;
    talk.say(message).await;
    talk.tell("/reply", json!({"message": reply})).await;
    talk
}

async fn zoo() -> World {
    let world = World::with(json!({"starter_skills": false})).await;
    create_described(&world.alice, &SKILLS).await;
    world
}

#[tokio::test]
async fn an_agreement_recalls_the_offered_skill() {
    let World { alice, .. } = &zoo().await;
    let offer = "It looks dusty. Shall I brush the striped zebra and feed it?";
    for message in ["yes, please", "Yes", "do it", "genau", "oui", "да", "好的", "はい", "sí, por favor", "네"]
    {
        let talk = replied(alice, "hello there", offer).await;
        assert_eq!(brought(&talk.say(message).await), ["zebra-care"], "{message}");
    }
    // Without an offer the agreement recalls no skill.
    let talk = Talk::long(alice).await;
    talk.say("hello there").await;
    assert_eq!(brought(&talk.say("yes, please").await), [] as [&str; 0]);
    // Only the latest reply counts, not an earlier one.
    let talk = replied(alice, "hello there", offer).await;
    talk.say("what a day").await;
    assert_eq!(brought(&talk.say("yes, please").await), [] as [&str; 0]);
    // The agent may send the first message.
    let talk = Talk::long(alice).await;
    talk.tell("/reply", json!({"message": offer})).await;
    assert_eq!(brought(&talk.say("yes").await), ["zebra-care"]);
}

#[tokio::test]
async fn refusals_recall_no_skill_and_choices_the_chosen_one() {
    let World { alice, .. } = &zoo().await;
    let list = "I can do this:\n1. brush the striped zebra\n2. tune the strings of the harp\n3. mend the torn kites";
    for (message, expected) in [
        ("no thanks", vec![]),
        ("nein danke", vec![]),
        ("the second one", vec!["harp-tuning"]),
        ("das dritte", vec!["kite-repair"]),
        ("number 1 please", vec!["zebra-care"]),
    ] {
        let talk = replied(alice, "what can you do?", list).await;
        assert_eq!(brought(&talk.say(message).await), expected, "{message}");
    }
}

#[tokio::test]
async fn other_requests_are_recalled_despite_an_offer() {
    let World { alice, .. } = &zoo().await;
    let offer = "Shall I brush the striped zebra?";
    let talk = replied(alice, "hello there", offer).await;
    let both = talk.say("yes, and also tune the strings of the golden harp").await;
    let mut found = brought(&both);
    found.sort();
    assert_eq!(found, ["harp-tuning", "zebra-care"]);
    for message in ["please tune the strings of the golden harp", "no, tune the strings of the golden harp"] {
        let talk = replied(alice, "hello there", offer).await;
        assert_eq!(brought(&talk.say(message).await), ["harp-tuning"], "{message}");
    }
    // A skill named in the message is active as usual, and the offered skill is recalled as well.
    let talk = replied(alice, "hello there", offer).await;
    let turn = talk.say("yes, and use kite-repair").await;
    assert_eq!(
        (names(&turn, "active"), names(&turn, "relevant")),
        (vec!["kite-repair".into()], vec!["zebra-care".into()])
    );
    assert_eq!(turn["active"][0]["reason"], "called in the message");
}

#[tokio::test]
async fn a_continued_question_is_read_with_the_one_before() {
    let World { alice, .. } = &zoo().await;
    let talk = replied(alice, "who salts the wheels of cheese in the cellar today?", "Ann does.").await;
    let turn =
        talk.turn(json!({"message": "and on Friday?", "deadline_ms": 30_000, "context_reset": true})).await.ok(200);
    assert_eq!(brought(&turn), ["cheese-cellar"]);
}

#[tokio::test]
async fn a_skill_that_the_agent_named_becomes_active_after_a_yes() {
    let World { alice, .. } = &zoo().await;
    let talk = replied(alice, "hello there", "Shall I use kite-repair for it?").await;
    let turn = talk.say("yes please").await;
    assert_eq!(names(&turn, "active"), ["kite-repair"]);
    assert_eq!(turn["active"][0]["reason"], "named in the offer that the message agrees to");
    assert!(!turn["text"].as_str().unwrap().contains("The user called for this skill"), "{turn}");
    let talk = replied(alice, "hello there", "Shall I use kite-repair for it?").await;
    assert_eq!(brought(&talk.say("no").await), [] as [&str; 0]);
}

/// The reply counts whichever process logged it.
#[tokio::test]
async fn a_reply_counts_whichever_process_logged_it() {
    let World { alice, .. } = &zoo().await;
    for round in 0..2 {
        let talk = Talk::long(alice).await;
        talk.say("hello there").await;
        let elsewhere = Talk { who: alice.at(keeper()), ..talk.clone() };
        elsewhere.tell("/reply", json!({"message": "Shall I brush the striped zebra?"})).await;
        let after = if round == 0 { &talk } else { &elsewhere };
        assert_eq!(brought(&after.say("yes").await), ["zebra-care"]);
        elsewhere.tell("/reply", json!({"message": "Shall I tune the golden harp as well?"})).await;
        assert_eq!(brought(&talk.say("sure").await), ["harp-tuning"]);
    }
}

/// Neither "yes" nor the agent's message becomes an example of the skill that is used next.
#[tokio::test]
async fn an_agreement_adds_no_example() {
    let World { alice, .. } = &zoo().await;
    let talk = replied(alice, "hello there", "Shall I use kite-repair for the torn kites of all children?").await;
    assert_eq!(names(&talk.say("yes, that would be great, thank you very much").await, "active"), ["kite-repair"]);
    alice.get("/v1/skills/kite-repair").header("Knowhow-Session", &talk.id).await.ok(200);
    talk.say("my children have torn all of their kites today").await;
    alice.get("/v1/skills/kite-repair").header("Knowhow-Session", &talk.id).await.ok(200);
    let learned = poll_async("the lesson", async || {
        let items = alice.get("/v1/skills/kite-repair/examples").await.ok(200)["items"].clone();
        Some(pluck(&items, "message")).filter(|messages| !messages.is_empty())
    });
    assert_eq!(learned.await, ["my children have torn all of their kites today"]);
}

#[tokio::test]
async fn a_recall_takes_its_question_from_a_session() {
    let World { alice, bob, .. } = &zoo().await;
    alice.post("/v1/memories", json!({"content": "The striped zebra is called Zoe."})).await.ok(201);
    let recalled = async |query: String| {
        let answer = alice.get(&format!("/v1/recall?{query}")).await.ok(200);
        pluck(&answer["items"], "content")
    };
    let talk = Talk::long(alice).await;
    assert_eq!(recalled(format!("session={}", talk.id)).await, [] as [&str; 0]);
    talk.say("hello there").await;
    talk.tell("/reply", json!({"message": "Shall I brush the striped zebra?"})).await;
    let q = format!("session={}&q={}", talk.id, escape("yes please"));
    let by_q = recalled(q).await;
    assert!(by_q.contains(&"The striped zebra is called Zoe.".to_owned()), "{by_q:?}");
    talk.say("yes please").await;
    assert_eq!(recalled(format!("session={}", talk.id)).await, by_q);
    assert_eq!(recalled(format!("q={}", escape("yes please"))).await, [] as [&str; 0]);
    let by_tool =
        alice.tool("memory_recall", json!({})).header("Knowhow-Session", &talk.id).await.done("memory_recall");
    assert_eq!(pluck(&by_tool["items"], "content"), by_q);
    talk.say("no thanks").await;
    alice.get("/v1/recall").await.refused(400, "malformed");
    alice.get(&format!("/v1/recall?session={}&q=", talk.id)).await.refused(400, "malformed");
    for missing in [talk.id.as_str(), "x", "00000000-0000-0000-0000-000000000000"] {
        bob.get(&format!("/v1/recall?session={missing}")).await.refused(404, "not-found");
    }
}

/// Recall finds an offer at the end of a long reply. It also finds the user's last message, however many agent
/// replies follow it.
#[tokio::test]
async fn recall_finds_a_late_offer_and_a_question_before_many_replies() {
    let World { alice, .. } = &zoo().await;
    let recalled = async |query: String| {
        let answer = alice.get(&format!("/v1/recall?{query}")).await.ok(200);
        pluck(&answer["items"], "name")
    };
    let long = format!("{}\n\nShall I brush the striped zebra?", "The weather was fine on that day. ".repeat(400));
    let talk = replied(alice, "hello there", &long).await;
    let q = format!("session={}&q={}", talk.id, escape("yes please"));
    assert_eq!(recalled(q).await, ["zebra-care"]);
    talk.say("yes please").await;
    assert_eq!(recalled(format!("session={}", talk.id)).await, ["zebra-care"]);
    let talk = Talk::long(alice).await;
    talk.say("tune the strings of the golden harp").await;
    for n in 0..14 {
        talk.tell("/reply", json!({"message": format!("Working on part {n}.")})).await;
    }
    assert_eq!(recalled(format!("session={}", talk.id)).await, ["harp-tuning"]);
    let q = format!("session={}&q={}", talk.id, escape("and on Friday?"));
    assert_eq!(recalled(q).await, ["harp-tuning"]);
}

/// A message may have a request before or after pasted text.
#[tokio::test]
async fn a_request_next_to_a_long_paste_is_found() {
    let World { alice, .. } = &zoo().await;
    let line = "2026-11-28T21:14:07Z ERROR worker lost the connection to its shard, 17 attempts left\n";
    let prose = "The committee met on the hill and spoke of roads, of bridges, and of the long winter behind them. ";
    let request = "Please brush the striped zebra and feed it.";
    for paste in [line.repeat(300), prose.repeat(250)] {
        assert!(paste.len() > 24_000);
        for message in [format!("{paste}\n\n{request}"), format!("{request}\n\n{paste}")] {
            assert_eq!(brought(&Talk::long(alice).await.say(&message).await), ["zebra-care"], "{}", &message[..60]);
        }
    }
    let quoted = format!("{request}\n\n> Could somebody tune the strings of the golden harp?\n> Ann\n");
    assert_eq!(brought(&Talk::long(alice).await.say(&quoted).await).first().unwrap(), "zebra-care");
    // A message that is only pasted text is searched by its words.
    let pasted = "```\nbrush --striped zebra; feed zebra\nbrush zebra again; feed the striped zebra\n```";
    assert_eq!(brought(&Talk::long(alice).await.say(pasted).await), ["zebra-care"]);
}

/// Skills of the conversations that were written before the rules for reading them.
const HELPERS: [(&str, &str); 11] = [
    ("book-table", "Books a table at a restaurant"),
    ("refund-order", "Refunds an order that a customer is not happy with"),
    ("reset-password", "Resets the password of an account that a user is locked out of"),
    ("hue-lights", "Switches the lights in the house on and off"),
    ("plan-meeting", "Schedules meetings and invites attendees"),
    ("weather", "Tells the weather forecast of a place"),
    ("mcp/email", "Sends an email with attachments"),
    ("order-taxi", "Orders a taxi or a cab"),
    ("translate-text", "Translates a text into another language"),
    ("track-parcel", "Tells where a parcel is"),
    ("water-plants", "Waters the plants"),
];

/// Replays the English conversations of the held-out set in `domain`, with the real model.
#[tokio::test]
async fn conversations_recall_the_requested_skills() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    create_described(alice, &HELPERS).await;
    vectors_made(slug).await;
    let talks: Vec<Value> = include_str!("../../../../domain/src/recall/exchange/conversations.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (mut right, mut wrong, mut silent, mut spoke) = (0, Vec::new(), 0, Vec::new());
    for told in talks.iter().filter(|told| told["language"] == "en") {
        let text = |name: &str| told[name].as_str().unwrap_or_default();
        let talk = replied(alice, text("before"), text("reply")).await;
        let body = json!({"message": text("message"), "deadline_ms": 30_000, "context_reset": true});
        let found = brought(&talk.turn(body).await.ok(200));
        let has = |name: &str| told[name].is_null() || found.contains(&text(name).to_owned());
        match told["skill"].as_str() {
            Some(_) if has("skill") && has("other") => right += 1,
            Some(_) => wrong.push(format!("{}: {found:?}", text("message"))),
            None if found.is_empty() => silent += 1,
            None => spoke.push(format!("{}: {found:?}", text("message"))),
        }
    }
    println!("brought {right}, not {wrong:?}; silent {silent}, not {spoke:?}");
    assert!(right + wrong.len() >= 24 && silent + spoke.len() >= 7);
    assert!(right >= 9 * wrong.len(), "{right} right, {wrong:?}");
    assert_eq!(spoke, [] as [&str; 0]);
}

/// Turns of a public data set in which the user agrees. The set has no replies, so the reply is an offer made from
/// another wording of the skill's description. The test is skipped if the set is missing.
#[tokio::test]
async fn agreements_of_a_public_set_recall_the_offered_skill() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fieldsets/sgd-dev"));
    if !folder.exists() {
        return eprintln!("skipped: there is no folder of public sets");
    }
    let Some(service) = with_model() else { return };
    let read = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    for skill in read("skills.jsonl") {
        let text = |name: &str| skill[name].as_str().unwrap();
        let mut made = described(text("name"), text("description"));
        made["content"] = json!(text("content"));
        alice.create(made).await;
    }
    vectors_made(slug).await;
    let messages = read("messages.jsonl");
    let wordings = read("skills-v3.jsonl");
    let agreed: Vec<&Value> = messages.iter().filter(|message| message["kind"] == "affirm").collect();
    let earlier = |skill: &str| {
        let domain = skill.split('-').take(2).collect::<Vec<_>>().join("-");
        let found = messages.iter().find(|message| {
            message["kind"] == "inform"
                && message["relevant"][0].as_str().is_some_and(|name| name.starts_with(&domain) && name != skill)
        });
        found.and_then(|message| message["message"].as_str()).unwrap_or("hello").to_owned()
    };
    let mut found_of = Vec::new();
    for (kind, is_replied) in
        [("without a reply", false), ("with an offer in other words", true), ("with \"shall I go ahead?\"", true)]
    {
        let (mut at, mut names) = ([0; 5], 0);
        for message in &agreed {
            let skill = message["relevant"][0].as_str().unwrap();
            let wording =
                wordings.iter().find(|wording| wording["is"] == skill).unwrap()["description"].as_str().unwrap();
            let (first, rest) = wording.split_at(1);
            let offer = if kind.contains("other words") {
                format!("I have found something. Would you like me to {}{rest}?", first.to_lowercase())
            } else {
                "I have found something. Shall I go ahead?".to_owned()
            };
            let talk = Talk::long(alice).await;
            talk.say(&earlier(skill)).await;
            if is_replied {
                talk.tell("/reply", json!({"message": offer})).await;
            }
            let body = json!({"message": message["message"], "deadline_ms": 30_000, "context_reset": true});
            let found = brought(&talk.turn(body).await.ok(200));
            names += found.len();
            if let Some(place) = found.iter().position(|name| name == skill).filter(|place| *place < 5) {
                at[place] += 1;
            }
        }
        let share = |count: i32| f64::from(count) / agreed.len() as f64;
        println!(
            "{kind}: {} agreements, @1 {:.3}, @5 {:.3}, {:.2} names a turn",
            agreed.len(),
            share(at[0]),
            share(at.iter().sum()),
            names as f64 / agreed.len() as f64
        );
        found_of.push(share(at.iter().sum()));
    }
    let [alone, offered, vague] = found_of[..] else { panic!("three kinds of replies") };
    assert!(agreed.len() >= 100 && offered >= 0.85, "{offered:.3}");
    assert!(vague >= alone + 0.05, "a reply that says little adds the message before: {vague:.3} and {alone:.3}");
}
