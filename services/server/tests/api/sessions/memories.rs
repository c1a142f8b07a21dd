//! Memories: stored, listed, deleted, and recalled by words and meaning.

use futures_util::future::join_all;
use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World};
use crate::service::keeper;
use crate::sessions::recall::{escape, with_embeddings};
use crate::sql;
use crate::talk::described;

async fn remember(who: &Caller, content: &str) -> Value {
    who.post("/v1/memories", json!({"content": content})).await.ok(201)
}

async fn recalled(who: &Caller, q: &str) -> Value {
    who.get(&format!("/v1/recall?q={}", escape(q))).await.ok(200)["items"].clone()
}

#[tokio::test]
async fn a_memory_is_stored_as_it_was_sent() {
    let World { alice, bob, .. } = &World::new().await;
    let plain = remember(alice, "  Prefers trains\nto \u{1F600} planes \u{1}").await;
    let expected =
        ["content", "core", "created_at", "id", "importance", "kind", "session", "tags", "tainted", "version"];
    assert_eq!(members(&plain), expected);
    assert_eq!(
        (&plain["kind"], &plain["importance"], &plain["core"]),
        (&json!("semantic"), &json!(0.5), &json!(false))
    );
    let full = json!({
        "kind": "episodic", "content": "Went to Rome", "importance": 1.0, "tags": ["travel", "Größe"], "core": true,
        "session": "no such one",
    });
    let kept = alice.post("/v1/memories", full.clone()).await.ok(201);
    for member in full.as_object().unwrap().keys() {
        assert_eq!(kept[member], full[member], "{member}");
    }
    assert_eq!(kept["tainted"], true);
    let listed = alice.at(keeper()).get("/v1/memories").await.ok(200);
    assert_eq!(listed, json!({"items": [kept, plain], "next_cursor": null}));
    assert_eq!(bob.get("/v1/memories").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn memories_are_listed_newest_first() {
    let World { alice, .. } = &World::new().await;
    for n in 0..9 {
        let kind = ["semantic", "episodic", "reflection"][n % 3];
        let body = json!({"content": format!("m{n}"), "kind": kind, "tags": [format!("t{}", n % 2)], "core": n > 6});
        alice.post("/v1/memories", body).await.ok(201);
    }
    let list =
        async |query: &str| pluck(&alice.get(&format!("/v1/memories?{query}")).await.ok(200)["items"], "content");
    assert_eq!(list("kind=episodic").await, ["m7", "m4", "m1"]);
    assert_eq!(list("tag=t1&limit=2").await, ["m7", "m5"]);
    assert_eq!(list("core=true").await, ["m8", "m7"]);
    assert_eq!(list("core=false&kind=reflection&tag=t0").await, ["m2"]);
    assert_eq!(list("tag=none").await, Vec::<String>::new());
    let (mut paged, mut query) = (Vec::new(), "limit=4".to_owned());
    loop {
        let page = alice.get(&format!("/v1/memories?{query}")).await.ok(200);
        paged.extend(pluck(&page["items"], "content"));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("limit=4&cursor={cursor}");
    }
    assert_eq!(paged, (0..9).rev().map(|n| format!("m{n}")).collect::<Vec<_>>());
    for bad in ["limit=0", "limit=201", "cursor=x", "kind=skill", "core=1", "tag=%00", "tag=a%00", "more=1"] {
        alice.get(&format!("/v1/memories?{bad}")).await.refused(400, "malformed");
    }
}

#[tokio::test]
async fn a_deleted_memory_is_gone() {
    let world = World::new().await;
    let World { alice, bob, .. } = &world;
    let id = remember(alice, "Owns a zebra").await["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/memories/{id}");
    for stranger in [bob, &world.other_tenant().await] {
        stranger.delete(&path).await.refused(404, "not-found");
    }
    for nothing in ["x", "%00", &uuid::Uuid::now_v7().to_string()] {
        alice.delete(&format!("/v1/memories/{nothing}")).await.refused(404, "not-found");
    }
    alice.delete(&path).header("Idempotency-Key", "d").await.empty(204);
    alice.delete(&path).header("Idempotency-Key", "d").await.empty(204);
    alice.delete(&path).await.refused(404, "not-found");
    assert_eq!(recalled(alice, "zebra").await, json!([]));
    assert_eq!(alice.get("/v1/memories").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn malformed_memories_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let save = |body: Value| alice.post("/v1/memories", body);
    for content in ["", " \n", &"x".repeat(8_001)] {
        save(json!({"content": content})).await.invalid("/content", "8000");
    }
    save(json!({"content": "x".repeat(501), "core": true})).await.invalid("/content", "500");
    for importance in [json!(-0.1), json!(1.1), json!(1e39)] {
        save(json!({"content": "x", "importance": importance})).await.refused(422, "invalid");
    }
    for tags in
        [vec!["t".to_owned(); 33], vec![String::new()], vec!["t".repeat(101)], vec!["a\0b".into()], vec!["a\nb".into()]]
    {
        save(json!({"content": "x", "tags": tags})).await.invalid("/tags", "32");
    }
    for session in ["", "a\0b", &"s".repeat(256)] {
        save(json!({"content": "x", "session": session})).await.invalid("/session", "255");
    }
    for wrong in
        [json!({}), json!({"content": 7}), json!({"content": "x", "kind": "skill"}), json!({"content": "x", "id": "y"})]
    {
        save(wrong).await.refused(422, "invalid");
    }
    assert_eq!(alice.get("/v1/memories").await.ok(200)["items"], json!([]));
    for most in [
        json!({"content": "\u{1F600}".repeat(8_000)}),
        json!({"content": "\u{1F600}".repeat(500), "core": true}),
        json!({"content": "x", "tags": vec!["\u{1F600}".repeat(100); 32], "importance": 0, "session": "s".repeat(255)}),
    ] {
        save(most).await.ok(201);
    }
}

#[tokio::test]
async fn the_memories_scope_is_required() {
    let world = World::new().await;
    for path in ["/v1/memories", "/v1/recall?q=x", "/v1/soul", "/v1/soul/versions"] {
        world.read_only.get(path).await.refused(403, "forbidden");
        world.anonymous.get(path).await.refused(401, "unauthenticated");
    }
    let key = json!({"name": "memory", "scopes": ["memories"]});
    let key = world.admin.post("/v1/admin/keys", key).await.ok(201);
    let backend = world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("alice");
    world.alice.create(described("zebra", "Feeds a zebra")).await;
    remember(&backend, "Owns a zebra").await;
    // Recalling skills requires another scope.
    assert_eq!(pluck(&recalled(&backend, "zebra").await, "kind"), ["semantic"]);
    assert_eq!(recalled(&world.alice, "zebra").await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_memory_sent_twice_is_stored_once() {
    let World { alice, .. } = &World::new().await;
    let send = |content: &str| alice.post("/v1/memories", json!({"content": content})).header("Idempotency-Key", "k");
    let answers = join_all((0..20).map(|_| send("Owns a zebra").into_future())).await;
    let first = answers[0].ok(201);
    assert!(answers.iter().all(|answer| answer.ok(201) == first));
    send("Owns two").await.refused(422, "idempotency-mismatch");
    assert_eq!(alice.get("/v1/memories").await.ok(200)["items"], json!([first]));
}

#[tokio::test]
async fn core_memories_are_limited_to_32() {
    let World { alice, .. } = &World::new().await;
    let core = |n: usize| alice.post("/v1/memories", json!({"content": format!("m{n}"), "core": true}));
    for n in 0..32 {
        core(n).await.ok(201);
    }
    let full = core(32).await.refused(429, "quota-exceeded");
    assert!(full["detail"].as_str().unwrap().contains("32 of them core"));
    remember(alice, "Not core").await;
    let first =
        alice.get("/v1/memories?core=true&limit=1").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    alice.delete(&format!("/v1/memories/{first}")).await.empty(204);
    core(33).await.ok(201);
}

#[tokio::test]
async fn memories_and_skills_are_recalled_together() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create(described("pack-suitcase", "Packs suitcases for a journey")).await;
    remember(alice, "Packs only one suitcase for any journey, however long").await;
    remember(alice, "Likes tea").await;
    let episode = json!({"kind": "episodic", "content": "Lost a suitcase in Rome", "core": true});
    alice.post("/v1/memories", episode).await.ok(201);
    let items = recalled(alice, "which suitcases for the journey?").await;
    let mut kinds = pluck(&items, "kind");
    let scores: Vec<f64> = items.as_array().unwrap().iter().map(|item| item["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (0.0..=1.0).contains(score)), "{items}");
    kinds.sort_unstable();
    assert_eq!(kinds, ["episodic", "semantic", "skill"]);
    let skill = items.as_array().unwrap().iter().find(|item| item["kind"] == "skill").unwrap();
    assert_eq!(members(skill), ["content", "excluded", "id", "kind", "name", "reason", "score", "tainted"]);
    assert_eq!((&skill["name"], &skill["content"]), (&json!("pack-suitcase"), &json!("Packs suitcases for a journey")));
    let one = alice.get("/v1/recall?q=suitcase&limit=1").await.ok(200);
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    let episodes = alice.get("/v1/recall?q=suitcase&kind=episodic").await.ok(200);
    assert_eq!(pluck(&episodes["items"], "content"), ["Lost a suitcase in Rome"]);
    for q in ["xyzzy", "the of and", "?!", "\u{1F600}"] {
        assert_eq!(recalled(alice, q).await, json!([]), "{q}");
    }
    assert_eq!(recalled(bob, "suitcase").await, json!([]));
    let long = "x".repeat(4_097);
    for bad in [
        "",
        "q=",
        "q=%20",
        "q=%00",
        "q=x&limit=0",
        "q=x&limit=51",
        "q=x&kind=skill",
        "q=x&more=1",
        &format!("q={long}"),
    ] {
        alice.get(&format!("/v1/recall?{bad}")).await.refused(400, "malformed");
    }
    assert_eq!(alice.peek("pack-suitcase").await["times_used"], 0);
}

/// Any inflected form of a word finds the memory, in any language. This includes words that share their stem with a
/// stop word.
#[tokio::test]
async fn memories_are_found_by_their_words() {
    let World { alice, .. } = &World::new().await;
    for content in [
        "Prefers trains to planes",
        "Любит чёрный кофе по утрам",
        "每天早上喝绿茶",
        "コーヒーが好き",
        "Écrit des résumés",
        "Pays invoices on Fridays, invites the others",
    ] {
        remember(alice, content).await;
    }
    for (q, start) in [
        ("a train", "Prefers"),
        ("TRAINS", "Prefers"),
        ("черного кофе", "Любит"),
        ("绿茶", "每天"),
        ("コーヒー", "コーヒー"),
        ("resume", "Écrit"),
        ("invoicing", "Pays"),
        ("others", "Pays"),
    ] {
        let items = recalled(alice, q).await;
        assert!(items[0]["content"].as_str().is_some_and(|content| content.starts_with(start)), "{q}: {items}");
    }
}

/// With a model, a memory without a common word is found by its meaning. If the model fails, the memory is found by
/// its words.
#[tokio::test]
async fn memories_are_found_by_their_meaning() {
    let fake = FakeServer::start([Reply::Vectors(3)]);
    let service = with_embeddings(&fake);
    let World { alice, .. } = &World::new().await;
    let near = alice.at(&service);
    let kept = remember(&near, "Owns a zebra").await;
    // A process without a model saved this memory, so it is found by its words alone.
    remember(alice, "Owns a horse").await;
    let items = recalled(&near, "striped pet").await;
    assert_eq!(pluck(&items, "content"), ["Owns a zebra"]);
    assert!(items[0]["reason"].as_str().unwrap().contains("meaning"));
    assert_eq!(pluck(&recalled(&near, "horse").await, "content")[0], "Owns a horse");
    assert_eq!(recalled(alice, "striped pet").await, json!([]));
    fake.replies([Reply::Status(500, "", "{}")]);
    assert_eq!(pluck(&recalled(&near, "my zebra").await, "content"), ["Owns a zebra"]);
    remember(&near, "Feeds the zebra at noon").await;
    assert_eq!(recalled(&near, "zebra noon").await.as_array().unwrap().len(), 2);
    let id = kept["id"].as_str().unwrap();
    alice.delete(&format!("/v1/memories/{id}")).await.empty(204);
    assert_eq!(sql::execute(&format!("update memory_embeddings set model = model where memory_id = '{id}'")), 0);
}
