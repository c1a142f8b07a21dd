//! A message is read with what was said before it: what it agrees to, chooses, refuses or goes on with.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::everyday::{vectors_made, with_model, world};
use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::recall::escape;
use crate::service::{keeper, poll_async};
use crate::talk::{Talk, create_described, described, names};

/// Skills that are found by their words.
const SKILLS: [(&str, &str); 4] = [
    ("zebra-care", "Brushes and feeds the striped zebra"),
    ("harp-tuning", "Tunes the strings of a golden harp"),
    ("cheese-cellar", "Turns and salts the wheels of cheese in the cellar"),
    ("kite-repair", "Mends torn kites with silk and glue"),
];

/// A conversation in which the user has said something, and the agent has replied.
async fn replied(who: &Caller, message: &str, reply: &str) -> Talk {
    let talk = Talk::long(who).await;
    talk.say(message).await;
    talk.tell("/reply", json!({"message": reply})).await;
    talk
}

/// What a turn brings, named or found.
fn brought(turn: &Value) -> Vec<String> {
    [names(turn, "active"), names(turn, "relevant")].concat()
}

async fn zoo() -> World {
    let world = World::with(json!({"starter_skills": false})).await;
    create_described(&world.alice, &SKILLS).await;
    world
}

#[tokio::test]
async fn an_agreement_brings_what_was_offered() {
    let World { alice, .. } = &zoo().await;
    let offer = "It looks dusty. Shall I brush the striped zebra and feed it?";
    for message in ["yes, please", "Yes", "do it", "genau", "oui", "да", "好的", "はい", "sí, por favor", "네"]
    {
        let talk = replied(alice, "hello there", offer).await;
        assert_eq!(brought(&talk.say(message).await), ["zebra-care"], "{message}");
    }
    // Nobody has offered anything: nothing changes.
    let talk = Talk::long(alice).await;
    talk.say("hello there").await;
    assert_eq!(brought(&talk.say("yes, please").await), [] as [&str; 0]);
    // The reply before is what counts, not an earlier one.
    let talk = replied(alice, "hello there", offer).await;
    talk.say("what a day").await;
    assert_eq!(brought(&talk.say("yes, please").await), [] as [&str; 0]);
    // The agent may speak first.
    let talk = Talk::long(alice).await;
    talk.tell("/reply", json!({"message": offer})).await;
    assert_eq!(brought(&talk.say("yes").await), ["zebra-care"]);
}

#[tokio::test]
async fn refusals_bring_nothing_and_choices_their_item() {
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
async fn other_requests_are_not_disturbed() {
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
    // A name in the message is called as ever, and what was offered comes besides.
    let talk = replied(alice, "hello there", offer).await;
    let turn = talk.say("yes, and use kite-repair").await;
    assert_eq!(
        (names(&turn, "active"), names(&turn, "relevant")),
        (vec!["kite-repair".into()], vec!["zebra-care".into()])
    );
    assert_eq!(turn["active"][0]["reason"], "called in the message");
}

#[tokio::test]
async fn a_question_that_goes_on_is_read_with_the_one_before() {
    let World { alice, .. } = &zoo().await;
    let talk = replied(alice, "who salts the wheels of cheese in the cellar today?", "Ann does.").await;
    let turn =
        talk.turn(json!({"message": "and on Friday?", "deadline_ms": 30_000, "context_reset": true})).await.ok(200);
    assert_eq!(brought(&turn), ["cheese-cellar"]);
}

#[tokio::test]
async fn a_skill_that_the_agent_named_comes_whole() {
    let World { alice, .. } = &zoo().await;
    let talk = replied(alice, "hello there", "Shall I use kite-repair for it?").await;
    let turn = talk.say("yes please").await;
    assert_eq!(names(&turn, "active"), ["kite-repair"]);
    assert_eq!(turn["active"][0]["reason"], "named in what the message agrees to");
    assert!(!turn["text"].as_str().unwrap().contains("The user called for this skill"), "{turn}");
    let talk = replied(alice, "hello there", "Shall I use kite-repair for it?").await;
    assert_eq!(brought(&talk.say("no").await), [] as [&str; 0]);
}

/// Whichever process the reply was told.
#[tokio::test]
async fn a_reply_counts_wherever_it_was_logged() {
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

/// "yes" is no example of the skill that is used after it, nor is what the agent said.
#[tokio::test]
async fn an_agreement_teaches_nothing() {
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

/// A request beside what was pasted into the message.
#[tokio::test]
async fn a_request_behind_a_long_paste_is_found() {
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
    // What is pasted alone is searched by its words.
    let pasted = "```\nbrush --striped zebra; feed zebra\nbrush zebra again; feed the striped zebra\n```";
    assert_eq!(brought(&Talk::long(alice).await.say(pasted).await), ["zebra-care"]);
}

/// The skills of the conversations that were written before the rules which read them.
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

/// The English ones of the conversations held out for `domain`, with the real model.
#[tokio::test]
async fn conversations_bring_what_they_ask_for() {
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
    assert!(right >= 9 * wrong.len(), "{right} right, {wrong:?}");
    assert_eq!(spoke, [] as [&str; 0]);
}

/// Turns in which something is agreed to, of a public data set that has no replies: the reply is an offer made of another wording of the
/// skill's description. It is measured only where there is one.
#[tokio::test]
async fn agreements_of_a_public_set_bring_what_was_offered() {
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
        assert!(!kind.contains("other words") || share(at.iter().sum()) >= 0.85, "{kind}");
    }
}
