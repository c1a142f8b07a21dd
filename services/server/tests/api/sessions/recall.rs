//! Recall by words: which skills a question finds, in which order, and how soon after a save.

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};
use crate::service::{Service, keeper, shared};
use crate::sql;
use crate::talk::{MAIL, Talk, brought, create_described, described, names};

async fn found(who: &Caller, q: &str) -> Vec<String> {
    let page = who.send(reqwest::Method::GET, &format!("/v1/skills?q={}", escape(q))).await.ok(200);
    assert_eq!(page["next_cursor"], Value::Null);
    pluck(&page["items"], "name")
}

/// Percent-encodes every byte.
pub fn escape(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Acceptance case 12: search, suggestion, recall and turn find skills by their words.
#[tokio::test]
async fn searches_find_skills_by_their_words() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &MAIL).await;
    for (q, best) in [
        ("send email attachment", "mcp/email"),
        ("mcp server", "mcp/guide"),
        ("summarizing papers", "research/summarize-paper"),
    ] {
        assert_eq!(found(alice, q).await[0], best, "{q}");
        let suggested = alice.get(&format!("/v1/skills/suggest?context={}", escape(q))).await.ok(200);
        assert_eq!(suggested["items"][0]["name"], best, "{q}");
        let recalled = alice.get(&format!("/v1/recall?q={}", escape(q))).await.ok(200);
        assert_eq!((&recalled["items"][0]["name"], &recalled["items"][0]["kind"]), (&json!(best), &json!("skill")));
    }
    assert!(found(alice, "xyzzy").await.is_empty());
    let talk = Talk::long(alice).await;
    for (message, best) in [
        ("please send an attachment with my mail", "mcp/email"),
        ("I would like help with summarizing papers", "research/summarize-paper"),
    ] {
        let turn = talk.say(message).await;
        let first = brought(&turn);
        assert_eq!(first[0], best, "{message}");
    }
    let nothing = talk.say("xyzzy xyzzy xyzzy xyzzy").await;
    assert_eq!((&nothing["text"], &nothing["relevant"], &nothing["active"]), (&json!(""), &json!([]), &json!([])));
}

/// Acceptance case 13: with few skills the ranking still works.
#[tokio::test]
async fn few_skills_are_ranked_as_well_as_many() {
    let World { alice, .. } = &World::new().await;
    alice.create(described("b", "Paints walls with a broad brush")).await;
    assert_eq!(found(alice, "painting a wall").await, ["b"]);
    for name in ["g", "c"] {
        alice.create(described(name, "Paints walls with a broad brush")).await;
    }
    alice.create(described("e", "Waters flowers")).await;
    assert_eq!(found(alice, "broad brush").await, ["b", "c", "g"]);
    for limit in 1..=3 {
        let page = alice.get(&format!("/v1/skills?q=brush&limit={limit}")).await.ok(200);
        assert_eq!(page["items"].as_array().unwrap().len(), limit);
    }
    for q in ["the of and", "?! ... --", "\u{1F600}", "a", " x "] {
        assert!(found(alice, q).await.is_empty(), "{q}");
    }
    for nothing in ["", "%20", "%00", &"x".repeat(4097)] {
        let answer = alice.get(&format!("/v1/skills?q={nothing}")).await;
        assert!([200, 400].contains(&answer.status), "{answer}");
        assert!(answer.status == 400 || answer.json()["items"] == json!([]), "{answer}");
    }
    alice.get("/v1/skills?q=brush&cursor=e30").await.refused(400, "malformed");
}

#[tokio::test]
async fn a_search_gives_reasons_and_applies_its_filters() {
    let World { alice, bob, .. } = &World::new().await;
    for (name, category, tag) in [("paint/wall", "home", "a"), ("paint/fence", "garden", "b"), ("brush", "home", "b")] {
        let mut body = described(name, "Paints things with a brush");
        body["category"] = json!(category);
        body["tags"] = json!([tag]);
        alice.create(body).await;
    }
    let page = alice.get("/v1/skills?q=paint").await.ok(200);
    for item in page["items"].as_array().unwrap() {
        assert!(item["score"].as_f64().unwrap() > 0.0 && item["reason"].as_str().unwrap().contains("words of its"));
    }
    for (filter, expected) in [
        ("prefix=paint/", vec!["paint/fence", "paint/wall"]),
        ("category=home", vec!["brush", "paint/wall"]),
        ("tag=b", vec!["brush", "paint/fence"]),
        ("tag=b&category=garden", vec!["paint/fence"]),
        ("tag=c", vec![]),
        ("category=garden&limit=1", vec!["paint/fence"]),
    ] {
        let mut found = pluck(&alice.get(&format!("/v1/skills?q=paints&{filter}")).await.ok(200)["items"], "name");
        found.sort_unstable();
        assert_eq!(found, expected, "{filter}");
    }
    assert!(found(bob, "paint").await.is_empty());
    assert_eq!(alice.peek("brush").await["times_used"], 0);
}

/// Acceptance case 18: skills in several languages are found.
#[tokio::test]
async fn any_language_is_found() {
    let World { alice, .. } = &World::new().await;
    create_described(
        alice,
        &[
            ("borsch", "Варит борщ со свёклой и капустой"),
            ("tea", "用茶壶泡绿茶"),
            ("ramen", "ラーメンを作る方法"),
            ("kimchi", "김치를 담그는 방법"),
            ("cv", "Writes a résumé for a job application"),
            ("steuer", "Erklärt die Einkommensteuer für Größen"),
            ("falafel", "يحضر الفلافل المقلية"),
        ],
    )
    .await;
    for (q, name) in [
        ("сварить борща", "borsch"),
        ("свекла", "borsch"),
        ("泡茶", "tea"),
        ("绿茶", "tea"),
        ("ラーメン", "ramen"),
        ("김치", "kimchi"),
        ("resume", "cv"),
        ("RÉSUMÉ", "cv"),
        ("groessen grossen", "steuer"),
        ("einkommensteuer", "steuer"),
        ("الفلافل", "falafel"),
    ] {
        assert_eq!(found(alice, q).await.first().map(String::as_str), Some(name), "{q}");
    }
    let talk = Talk::long(alice).await;
    let turn = talk.say("Подскажи пожалуйста, как правильно варить борщ").await;
    assert_eq!(names(&turn, "relevant"), ["borsch"]);
}

/// Acceptance case 17: a process that has cached the user's catalogue never answers from a stale copy.
#[tokio::test]
async fn every_process_sees_saves_and_deletions_at_once() {
    let World { alice, .. } = &World::new().await;
    let processes = [alice.clone(), alice.at(keeper())];
    let talks: Vec<Talk> = {
        let talk = Talk::long(alice).await;
        processes.iter().map(|who| Talk { who: who.clone(), ..talk.clone() }).collect()
    };
    for round in 0..50 {
        let (here, there) = (round % 2, (round + 1) % 2);
        let name = format!("gadget-{round}");
        processes[here].create(described(&name, &format!("Repairs the zonk{round}x thoroughly"))).await;
        let turn = talks[there].say(&format!("my zonk{round}x is out of order again")).await;
        assert_eq!(names(&turn, "relevant"), [name.as_str()], "round {round}");
        let turn = talks[there].say(&format!("use {name}")).await;
        assert_eq!(names(&turn, "active"), [name.as_str()], "round {round}");
        processes[there].delete(&format!("/v1/skills/{name}")).await.empty(204);
        let question = json!({"message": format!("use {name}"), "context_reset": true});
        let turn = talks[here].turn(question).await.ok(200);
        assert_eq!((&turn["active"], &turn["relevant"]), (&json!([]), &json!([])), "round {round}");
    }
}

/// Acceptance case 16: short messages are searched like any other, and a message without words sends the model no
/// request.
#[tokio::test]
async fn messages_of_any_length_are_searched() {
    let fake = FakeServer::start([Reply::Vectors(3)]);
    let service = with_embeddings(&fake);
    let world = World::new().await;
    let talk = Talk::long(&world.alice.at(&service)).await;
    // Another process saves the skills, so this one sends no text of a skill to the model.
    create_described(&world.alice, &[("soon", "Finds out soon"), ("git", "Finds out")]).await;
    let asked = fake.seen().len();
    for message in ["👍", "...?!", " ❤️ 🎉 "] {
        let turn = talk.say(message).await;
        assert_eq!((&turn["relevant"], &turn["related"]), (&json!([]), &json!([])), "{message}");
    }
    assert_eq!(fake.seen().len(), asked);
    for (nth, message) in ["pw", "да, находка", "开票"].into_iter().enumerate() {
        talk.say(message).await;
        assert_eq!(fake.seen().len(), asked + nth + 1, "{message}");
    }
}

/// A forbidden skill has `excluded` in search results, and turns list it under `excluded`.
#[tokio::test]
async fn searches_mark_a_skill_that_the_question_forbids() {
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("kite-repair", "Mends torn kites"), ("harp-tuning", "Tunes a harp")]).await;
    for (q, excluded) in [
        ("mend the torn kites without kite-repair", true),
        ("mend the torn kites, aber benutze kite-repair nicht", true),
        ("use kite-repair for the torn kites", false),
        ("mend the torn kites", false),
    ] {
        for path in ["skills?q=", "skills/suggest?context=", "recall?q="] {
            let found = alice.get(&format!("/v1/{path}{}", escape(q))).await.ok(200);
            let first = &found["items"][0];
            assert_eq!((&first["name"], &first["excluded"]), (&json!("kite-repair"), &json!(excluded)), "{path} {q}");
        }
        for (tool, argument) in [("skill_suggest", "context"), ("skill_list", "q"), ("memory_recall", "q")] {
            let result = alice.tool(tool, json!({ (argument): q })).await.ok(200)["result"].clone();
            let (text, item) = (result["content"][0]["text"].to_string(), &result["structuredContent"]["items"][0]);
            assert_eq!(text.contains("(the user excluded it)"), excluded, "{tool} {q}: {text}");
            assert_eq!(item["excluded"] == true, excluded, "{tool} {q}: {item}");
            assert!(tool != "skill_suggest" || !excluded || item["fits"] == false, "{item}");
        }
        let turn = Talk::long(alice).await.say(q).await;
        assert_eq!(turn["excluded"][0]["name"] == "kite-repair", excluded, "{q}");
    }
}

/// The offered items that the user chooses are embedded in one request.
#[tokio::test]
async fn a_turn_asks_the_model_once_for_all_texts_of_a_message() {
    let fake = FakeServer::start([Reply::Vectors(3)]);
    let service = with_embeddings(&fake);
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("zebra-care", "Feeds and brushes zebras"), ("harp-tuning", "Tunes a harp")]).await;
    let talk = Talk::long(&alice.at(&service)).await;
    for (nth, message) in ["all of them", "both please"].into_iter().enumerate() {
        talk.say("what now?").await;
        let items = [format!("brush zebra {nth}"), format!("tune harp {nth}"), format!("feed zebra {nth}")];
        talk.tell("/reply", json!({"message": format!("I can:\n- {}", items.join("\n- "))})).await;
        let body = json!({"message": message, "deadline_ms": 30_000, "context_reset": true});
        let turn = talk.turn(body).await.ok(200);
        assert_eq!(names(&turn, "relevant").len(), 2, "{turn}");
        let asked: Vec<_> = fake.seen().into_iter().filter(|seen| seen.text.contains(&items[0])).collect();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].body["input"], json!(items));
    }
}

/// Each search sends a hanging model one request, does not wait for the answer, and finds skills by words.
#[tokio::test]
async fn searches_do_without_a_model_that_hangs() {
    let fake = FakeServer::start([Reply::Hang]);
    let service = with_embeddings(&fake);
    let World { alice, .. } = &World::new().await;
    create_described(alice, &[("zebra-care", "Feeds and brushes striped horses")]).await;
    let near = alice.at(&service);
    for path in ["skills?q=", "skills/suggest?context=", "recall?q="] {
        let asked = fake.seen().len();
        let found = near.get(&format!("/v1/{path}{}", escape(&format!("striped horses for {path}")))).await.ok(200);
        assert_eq!(found["items"][0]["name"], "zebra-care", "{path}");
        assert_eq!(fake.seen().len(), asked + 1, "{path}");
    }
    for (message, questions) in [("👍", 0), ("use zebra-care", 1), ("please use zebra-care for my horses", 1)] {
        let asked = fake.seen().len();
        let matched = near.post("/v1/skills/match", json!({ "message": message })).await.ok(200);
        assert_eq!(pluck(&matched["items"], "name").len(), questions, "{message}");
        assert_eq!(fake.seen().len(), asked + questions, "{message}");
    }
}

/// Starts a process that requests its vectors from the fake server.
pub fn with_embeddings(fake: &FakeServer) -> Service {
    Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_EMBEDDINGS_URL", &fake.url()),
        ("KNOWHOW_EMBEDDINGS_MODEL", "fake"),
        ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "3"),
    ])
}

#[tokio::test]
async fn suggestions_weigh_importance_and_recent_use() {
    let World { alice, bob, .. } = &World::new().await;
    for name in ["a", "b", "c"] {
        alice.create(described(name, "Paints walls with a broad brush")).await;
    }
    let suggest = async |query: &str| alice.get(&format!("/v1/skills/suggest?{query}")).await;
    let first = suggest("context=paint+a+wall").await.ok(200)["items"].clone();
    assert_eq!(pluck(&first, "name"), ["a", "b", "c"]);
    let told = ["excluded", "importance", "name", "reason", "recency", "score", "similarity", "summary", "tainted"];
    assert_eq!(members(&first[0]), told);
    alice.get("/v1/skills/c").await.ok(200);
    set_importance(alice, "b", 0.2).await;
    let items = suggest("context=paint+a+wall").await.ok(200)["items"].clone();
    assert_eq!(pluck(&items, "name"), ["c", "a", "b"]);
    for item in items.as_array().unwrap() {
        let number = |member: &str| item[member].as_f64().unwrap();
        let product = number("similarity") * number("importance") * number("recency");
        assert!((number("score") - product).abs() < 1e-4, "{item}");
        assert!(item["reason"].as_str().unwrap().contains("recency"), "{item}");
    }
    assert!((items[0]["recency"].as_f64().unwrap() - 1.5).abs() < 0.01 && items[1]["recency"] == json!(1.0));
    assert_eq!(suggest("context=wall&limit=2").await.ok(200)["items"].as_array().unwrap().len(), 2);
    assert_eq!(suggest("context=zebra").await.ok(200)["items"], json!([]));
    assert_eq!(bob.get("/v1/skills/suggest?context=wall").await.ok(200)["items"], json!([]));
    for (query, status, kind) in [
        ("context=", 400, "malformed"),
        ("context=%00", 400, "malformed"),
        (&format!("context={}", "x".repeat(4097)), 400, "malformed"),
        ("context=x&limit=0", 400, "malformed"),
        ("context=x&limit=51", 400, "malformed"),
        ("limit=1", 400, "malformed"),
        ("context=x&more=1", 400, "malformed"),
    ] {
        suggest(query).await.refused(status, kind);
    }
    suggest(&format!("context={}", "%F0%9F%98%80".repeat(4096))).await.ok(200);
}

async fn set_importance(who: &Caller, name: &str, importance: f32) {
    let id = who.peek(name).await["id"].as_str().unwrap().to_owned();
    sql::execute(&format!(
        "update skills set importance = {importance} where skill_id = '{id}';
         update user_catalogs c set revision = revision + 1 from skills s
         where s.skill_id = '{id}' and c.tenant_id = s.tenant_id and c.user_id = s.user_id"
    ));
}

#[tokio::test]
async fn a_new_skill_is_returned_with_similar_skills() {
    let World { alice, bob, .. } = &World::new().await;
    let text = "Paints walls and ceilings with a broad brush and emulsion";
    assert_eq!(alice.create(described("paint-wall", text)).await["similar"], json!([]));
    alice.create(described("bake-bread", "Bakes sourdough bread in a cast iron pot")).await;
    let similar = alice.create(described("wall-painting", text)).await["similar"].clone();
    assert_eq!(pluck(&similar, "name"), ["paint-wall"]);
    assert!((0.6..=1.0).contains(&similar[0]["similarity"].as_f64().unwrap()));
    let again = alice.post("/v1/skills", described("wall-painting", "Something else")).await.ok(200);
    assert_eq!(again["similar"], json!([]));
    assert_eq!(bob.create(described("paint-wall", text)).await["similar"], json!([]));
}

/// Acceptance case 28, without its part about jobs: bodies are searched by words and never embedded.
#[tokio::test]
async fn bodies_are_searched_by_words_alone() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("oven");
    body["content"] = json!("Preheat the quagmire to 200 degrees.\n");
    alice.create(body.clone()).await;
    assert_eq!(found(alice, "quagmire").await, ["oven"]);
    body["content"] = json!("Preheat the bathtub to 200 degrees.\n");
    assert_eq!(alice.post("/v1/skills", body).await.ok(200)["version"], 2);
    assert!(found(alice, "quagmire").await.is_empty());
    assert_eq!(found(&alice.at(shared()), "bathtub").await, ["oven"]);
}
