//! Recall for everyday messages, with the real model: acceptance cases 18a and 18b.

use serde_json::{Value, json};

use crate::callers::{Caller, World};
use crate::service::{Service, keeper, owner_url, poll_async, setting};
use crate::sql;
use crate::talk::{MAIL, Talk, create_described, described, names};

/// Starts a service with the local model. Returns `None` if `KNOWHOW_TEST_MODEL_DIR` is unset; `make test` sets it.
pub fn with_model() -> Option<Service> {
    let folder = setting("KNOWHOW_TEST_MODEL_DIR");
    if folder.is_none() {
        eprintln!("skipped: KNOWHOW_TEST_MODEL_DIR names no model");
    }
    folder.map(|folder| Service::start(&[("KNOWHOW_MODEL_DIR", &folder), ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000")]))
}

pub async fn world(service: &Service, settings: Value) -> World {
    World::at(service, keeper(), settings).await
}

async fn explain(who: &Caller, message: &str) -> Value {
    who.post("/v1/skills/match", json!({"message": message, "explain": true})).await.ok(200)["explanation"].clone()
}

/// Waits until every skill of the tenant has its vector. A skill without one gets the average score and may be
/// recalled for any message.
pub async fn vectors_made(slug: &str) {
    let left = format!(
        "select count(*)::text from skills s join tenants t using (tenant_id)
         where t.slug = '{slug}' and s.starter_id is null and not exists (
             select from skill_embeddings e
             where e.tenant_id = s.tenant_id and e.user_id = s.user_id and e.skill_id = s.skill_id)"
    );
    poll_async("every vector", async || (sql::column_at(&owner_url(), &left) == ["0"]).then_some(())).await;
}

/// Waits until `best` ranks first by meaning and small talk is recognized. Vectors and the model's reference texts
/// are made in the background.
pub async fn ready(who: &Caller, message: &str, best: &str) {
    poll_async("vectors", async || {
        let why = explain(who, message).await;
        let first = &why["candidates"][0];
        (first["name"] == best && first["parts"]["meaning"].as_f64()? > 0.1).then_some(())
    })
    .await;
    for small_talk in ["good evening, how are you today?", "hello, how's your day"] {
        poll_async("small talk", async || (explain(who, small_talk).await["fit"].as_f64()? < 0.1).then_some(())).await;
    }
}

/// Waits until the starters have vectors, which are made for all users at once. Skills without a vector get the
/// average score.
async fn starters_ready(who: &Caller) {
    poll_async("vectors of starters", async || {
        let why = explain(who, "decide where a memory belongs").await;
        let meanings: Vec<f64> =
            why["candidates"].as_array()?.iter().filter_map(|found| found["parts"]["meaning"].as_f64()).collect();
        (why["candidates"][0]["name"] == "memory-systems" && meanings[1..].iter().all(|less| *less < meanings[0]))
            .then_some(())
    })
    .await;
}

async fn first_of(who: &Caller, message: &str) -> Vec<String> {
    let talk = Talk::open(who, json!({"channel": "chat"})).await;
    let turn = talk.turn(json!({"message": message, "deadline_ms": 30_000})).await.ok(200);
    assert_eq!((&turn["active"], &turn["degraded"]), (&json!([]), &Value::Null), "{message}");
    names(&turn, "relevant")
}

#[tokio::test]
async fn everyday_messages_recall_the_requested_skill() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": true})).await;
    create_described(alice, &MAIL).await;
    vectors_made(slug).await;
    ready(alice, "please send an email to Bob", "mcp/email").await;
    starters_ready(alice).await;
    let mut shown = 0;
    for (message, name) in [
        ("Can you send an email to Bob with the report attached?", "mcp/email"),
        ("please send an email attachment to Bob", "mcp/email"),
        ("mail the invoice to the customer", "mcp/email"),
        ("what's on my calendar today?", "mcp/calendar"),
        ("Could you set up a meeting with the design team next week?", "plan-meeting"),
    ] {
        let found = first_of(alice, message).await;
        assert_eq!(found.first().map(String::as_str), Some(name), "{message}: {found:?}");
        shown += found.len();
    }
    // On average two or three skills are recalled, not always five.
    assert!(shown <= 13, "{shown}");
    for message in ["hello, how's your day", "thank you so much", "repeat that please", "what is the meaning of life"] {
        assert_eq!(first_of(alice, message).await, Vec::<String>::new(), "{message}");
    }
}

/// A search ranks by meaning even if the question shares no word with the skill.
#[tokio::test]
async fn questions_without_a_common_word_are_found() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    create_described(alice, &MAIL).await;
    vectors_made(slug).await;
    ready(alice, "please send an email to Bob", "mcp/email").await;
    let found = alice.get("/v1/skills?q=condense+a+scientific+article").await.ok(200);
    assert_eq!(found["items"][0]["name"], "research/summarize-paper");
    let suggested = alice.get("/v1/skills/suggest?context=condense+a+scientific+article&explain=true").await.ok(200);
    assert_eq!(suggested["items"][0]["name"], "research/summarize-paper");
    assert_eq!(suggested["explanation"]["candidates"][0]["name"], "research/summarize-paper");
    let recalled = alice.get("/v1/recall?q=condense+a+scientific+article").await.ok(200);
    assert_eq!(recalled["items"][0]["name"], "research/summarize-paper");
}

/// A message that names a skill recalls no unrelated skill. If it also asks for something else, the skill for that is
/// recalled too.
#[tokio::test]
async fn a_named_skill_brings_no_unrelated_skill() {
    let Some(service) = with_model() else { return };
    let World { alice, slug, .. } = &world(&service, json!({"starter_skills": true})).await;
    create_described(alice, &MAIL).await;
    vectors_made(slug).await;
    ready(alice, "please send an email to Bob", "mcp/email").await;
    starters_ready(alice).await;
    let talk = Talk::open(alice, json!({"channel": "chat"})).await;
    let turn =
        talk.turn(json!({"message": "use plan-meeting for Friday at noon", "deadline_ms": 30_000})).await.ok(200);
    assert_eq!((names(&turn, "active"), names(&turn, "relevant")), (vec!["plan-meeting".to_owned()], vec![]));
    let both = "use plan-meeting for Friday, and summarize the academic paper that Ann wrote";
    let turn =
        Talk::open(alice, json!({"channel": "chat"})).await.turn(json!({"message": both, "deadline_ms": 30_000}));
    let turn = turn.await.ok(200);
    assert_eq!(names(&turn, "active"), ["plan-meeting"]);
    assert_eq!(names(&turn, "relevant"), ["research/summarize-paper"]);
}

/// A skill that was used after a message is recalled for similar messages by turn, search and explanation.
#[tokio::test]
async fn use_teaches_meanings_missing_from_the_description() {
    let Some(service) = with_model() else { return };
    let World { alice, bob, slug, .. } = &world(&service, json!({"starter_skills": false})).await;
    for who in [alice, bob] {
        create_described(who, &MAIL).await;
        vectors_made(slug).await;
        ready(who, "please send an email to Bob", "mcp/email").await;
    }
    let (taught, asked) = ("is anybody free for a round of golf on Sunday", "who is free to play golf on Sunday?");
    let of = async |who: &Caller| -> (f64, f64) {
        let why = explain(who, asked).await;
        let all = why["candidates"].as_array().unwrap();
        let plan = all.iter().find(|c| c["name"] == "plan-meeting").map(|c| c["parts"]["examples"].as_f64().unwrap());
        (why["fit"].as_f64().unwrap(), plan.unwrap_or_default())
    };
    let before = of(alice).await;
    assert!(before.1.abs() < 1e-6, "{before:?}");
    let talk = Talk::open(alice, json!({"channel": "chat"})).await;
    talk.turn(json!({"message": taught, "deadline_ms": 30_000})).await.ok(200);
    alice.get("/v1/skills/plan-meeting").header("Knowhow-Session", &talk.id).await.ok(200);
    let after = poll_async("the example", async || Some(of(alice).await).filter(|after| after.1 > 0.5)).await;
    assert!(after.0 > before.0, "{before:?} {after:?}");
    assert_eq!(first_of(alice, asked).await.first().map(String::as_str), Some("plan-meeting"));
    // The example of one user does not affect other users.
    assert!(of(bob).await.1.abs() < 1e-6);
}

/// A new skill is found by its words before it has a vector.
#[tokio::test]
async fn a_skill_that_was_just_saved_is_found_by_its_words() {
    let World { alice, .. } = &World::with(json!({"starter_skills": true})).await;
    create_described(alice, &[("only", "only doc here, about beekeeping hives")]).await;
    let found = async |message: &str| names(&Talk::long(alice).await.say(message).await, "relevant");
    assert_eq!(found("how do I inspect the beekeeping hives").await, ["only"]);
    create_described(alice, &MAIL).await;
    assert_eq!(found("please send an email attachment to Bob").await.first().unwrap(), "mcp/email");
    assert_eq!(found("what's on my calendar today?").await.first().unwrap(), "mcp/calendar");
}

/// A trigger phrase in the message is enough to recall the skill, however long the message is.
#[tokio::test]
async fn a_trigger_phrase_is_enough_to_recall_a_skill() {
    let World { alice, .. } = &World::with(json!({"starter_skills": true})).await;
    let mut release = described("release", "Cuts a version");
    release["triggers"] = json!(["ship it to production", "go"]);
    alice.create(release).await;
    let long = "Good morning Alice, it was such a lovely weekend with Bob and Carol at the lake, and before I forget it, \
                could you please ship it to production when the others are back from lunch";
    let talk = Talk::long(alice).await;
    let turn = talk.say(long).await;
    assert_eq!(names(&turn, "relevant")[0], "release");
    assert!(turn["relevant"][0]["reason"].as_str().unwrap().contains("a trigger phrase"), "{turn}");
}

#[tokio::test]
async fn a_skill_closed_to_the_model_is_recalled_by_name_alone() {
    let World { alice, .. } = &World::with(json!({"starter_skills": false})).await;
    let text = "---\nname: wipe-disk\ndescription: Wipes the striped disk of a zebra.\ndisable-model-invocation: true\n---\n\nWipe.\n";
    alice.create(json!({"skill_md": text})).await;
    let mut other = described("zebra-care", "Brushes the striped zebra");
    other["see_also"] = json!(["wipe-disk"]);
    alice.create(other).await;
    let talk = Talk::long(alice).await;
    let block = talk.opened["snapshot"]["text"].as_str().unwrap();
    assert!(block.contains("zebra-care") && !block.contains("wipe-disk"), "{block}");
    let turn = talk.say("wipes the striped disk of my zebra").await;
    assert_eq!((names(&turn, "relevant"), &turn["related"]), (vec!["zebra-care".to_owned()], &json!([])));
    assert_eq!(names(&talk.say("use wipe-disk").await, "active"), ["wipe-disk"]);
    let suggested = alice.get("/v1/skills/suggest?context=wipes+the+striped+disk").await.ok(200);
    assert!(!names(&suggested, "items").contains(&"wipe-disk".to_owned()));
    // A search finds the skill. Removing `disable-model-invocation` makes it recallable.
    assert_eq!(alice.get("/v1/skills?q=wipes+striped+disk").await.ok(200)["items"][0]["name"], "wipe-disk");
    alice.post("/v1/skills", json!({"skill_md": text.replace("true", "false")})).await.ok(200);
    let turn = Talk::long(alice).await.say("wipes the striped disk of my zebra").await;
    assert_eq!(names(&turn, "relevant").first().unwrap(), "wipe-disk");
}

#[tokio::test]
async fn a_tenant_sets_how_many_skills_are_recalled_and_the_minimum_score() {
    let channels = json!({"voice": {"relevant_skills": 1}, "chat": {"min_score": 1.0}, "sms": {"relevant_skills": 0}});
    let settings = json!({"starter_skills": false, "channels": channels});
    let World { alice, .. } = &World::with(settings).await;
    create_described(
        alice,
        &[("zebra-care", "Feeds and brushes striped horses"), ("zebra-walk", "Feeds and brushes striped horses")],
    )
    .await;
    let question = "how do I brush my striped horses?";
    for (channel, count) in [("voice", 1), ("chat", 0), ("sms", 0), ("scheduled", 2)] {
        let talk = Talk::open(alice, json!({"channel": channel})).await;
        assert_eq!(names(&talk.say(question).await, "relevant").len(), count, "{channel}");
    }
}

#[tokio::test]
async fn an_explanation_gives_reasons_and_scores() {
    let World { alice, .. } = &World::with(json!({"starter_skills": false})).await;
    create_described(alice, &[("weather", "Forecast temperature and wind"), ("git", "Commits and pushes")]).await;
    let asked = json!({"message": "nice weather today, use git and forecast the wind", "explain": true});
    let answer = alice.post("/v1/skills/match", asked).await.ok(200);
    let reasons: Vec<&str> =
        answer["items"].as_array().unwrap().iter().map(|i| i["reason"].as_str().unwrap()).collect();
    assert_eq!(
        reasons,
        ["it is an ordinary word, and the rest of the message or its meaning agrees", "it is called explicitly"]
    );
    let why = &answer["explanation"];
    assert_eq!((&why["searched"], &why["degraded"], &why["min_score"]), (&json!(true), &json!([]), &json!(0.18)));
    let short = explain(alice, "nice weather").await;
    assert_eq!((&short["searched"], &short["candidates"][0]["name"]), (&json!(true), &json!("weather")));
    let emoji = explain(alice, "👍").await;
    assert_eq!((&emoji["searched"], &emoji["candidates"]), (&json!(false), &json!([])));
    let parts = &explain(alice, "does the wind change the temperature here").await["candidates"][0];
    assert_eq!((&parts["name"], &parts["comes"]), (&json!("weather"), &json!(true)));
    assert!(parts["parts"]["text"].as_f64().unwrap() > 0.0 && parts["parts"]["meaning"] == 0.0);
}

/// A body that exceeds the channel's budget is cut at a paragraph, and the turn lists the missing sections. No other
/// body is added.
#[tokio::test]
async fn a_long_body_is_cut_at_a_paragraph() {
    let channels = json!({"voice": {"body_budget": 600}});
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "channels": channels})).await;
    let paragraphs = |count: usize| format!("{}\n\n", "zither ".repeat(14)).repeat(count);
    let section = |title: &str, count: usize| format!("## {title}\n\n{}", paragraphs(count));
    let body = [section("When to Use", 2), section("Procedure", 40), section("Pitfalls", 3)].concat();
    alice.create(json!({"name": "zither-tuning", "description": "Tunes a zither.", "content": body})).await;
    create_described(alice, &[("zither-history", "Tells where zithers come from")]).await;
    let talk = Talk::open(alice, json!({"channel": "voice", "inline_top": true, "tools": "read"})).await;
    let turn = talk.say("use zither-tuning, and where do zithers come from?").await;
    let active = &turn["active"][0];
    let kept = [section("When to Use", 2), section("Procedure", 3)].concat();
    assert_eq!(active["content"].as_str().unwrap(), kept.trim_end());
    let missing = body.len() - kept.len();
    assert_eq!(active["missing"], json!({"characters": missing, "sections": ["Procedure", "Pitfalls"]}));
    let said = format!(
        "Cut to fit: the last {missing} characters of zither-tuning are missing (Procedure; Pitfalls). Load it with skill_view"
    );
    assert!(turn["text"].as_str().unwrap().contains(&said), "{turn}");
    assert_eq!(
        (names(&turn, "relevant"), &turn["relevant"][0]["content"]),
        (vec!["zither-history".to_owned()], &Value::Null)
    );
}
