//! Examples: listed, removed, moved, exported, imported and embedded.

use knowhow_testing::{FakeServer, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::examples::{OSLO, ROME, examples, learned, load, messages};
use crate::exchange::{unzip, zip};
use crate::service::{PATIENCE, poll};
use crate::sessions::recall::with_embeddings;
use crate::sql;
use crate::talk::Talk;
use crate::worker::{Ground, world};

const FILE: &str = "knowhow-examples.jsonl";

/// Teaches a skill these messages, in a new session.
async fn teach(who: &Caller, skill: &str, said: &[&str]) {
    let talk = Talk::long(who).await;
    let mut all = messages(who, skill).await;
    for message in said {
        talk.say(message).await;
        load(who, &talk.id, skill).await;
        all.insert(0, (*message).to_owned());
        learned(who, skill, &all.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
}

async fn import(who: &Caller, files: &[(&str, &[u8])]) -> Value {
    who.send(Method::POST, "/v1/skills/import").files(files).await.ok(200)
}

fn lines(lines: &[(&str, &str)]) -> Vec<u8> {
    let line =
        |(skill, message): &(&str, &str)| format!("{{\"skill\":{},\"message\":{}}}\n", json!(skill), json!(message));
    lines.iter().map(line).collect::<String>().into_bytes()
}

#[tokio::test]
async fn examples_are_paged_and_removed() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/trips", "rides"]).await;
    let said = [ROME, OSLO, "and what about a weekend in Paris"];
    let file = lines(&said.map(|message| ("mcp/trips", message)));
    assert_eq!(import(alice, &[(FILE, &file)]).await["examples"]["added"], 3);
    let page = alice.get("/v1/skills/mcp%2Ftrips/examples?limit=2").await.ok(200);
    assert_eq!(pluck(&page["items"], "message"), [said[2], said[1]]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = alice.get(&format!("/v1/skills/mcp%2Ftrips/examples?limit=2&cursor={cursor}")).await.ok(200);
    assert_eq!((pluck(&rest["items"], "message"), &rest["next_cursor"]), (vec![ROME.to_owned()], &Value::Null));
    assert_eq!(messages(alice, "trips").await.len(), 3, "by its last segment");
    for bad in ["limit=0", "limit=201", "cursor=x"] {
        alice.get(&format!("/v1/skills/rides/examples?{bad}")).await.refused(400, "malformed");
    }
    alice.get("/v1/skills/none/examples").await.refused(404, "not-found");
    let id = rest["items"][0]["id"].as_str().unwrap();
    for (skill, example) in
        [("rides", id), ("mcp%2Ftrips", "x"), ("mcp%2Ftrips", "00000000-0000-0000-0000-000000000000"), ("trips", id)]
    {
        let path = format!("/v1/skills/{skill}/examples/{example}");
        alice.delete(&path).await.refused(404, "not-found");
    }
    let remove = || alice.delete(&format!("/v1/skills/mcp%2Ftrips/examples/{id}"));
    remove().header("Idempotency-Key", "k").await.empty(204);
    remove().header("Idempotency-Key", "k").await.empty(204);
    remove().await.refused(404, "not-found");
    assert_eq!(messages(alice, "mcp/trips").await, [said[2], said[1]]);
    alice.delete("/v1/skills/mcp%2Ftrips/examples").await.empty(204);
    alice.delete("/v1/skills/mcp%2Ftrips/examples").await.empty(204);
    assert!(messages(alice, "mcp/trips").await.is_empty());
    assert_eq!(alice.peek("mcp/trips").await["version"], 1);
}

/// Examples are not part of a skill's text. They survive its changes and move with the skill.
#[tokio::test]
async fn examples_move_with_their_skill() {
    let world = World::new().await;
    let World { alice, admin, .. } = &world;
    alice.create_all(&["old", "new"]).await;
    teach(alice, "old", &[ROME, OSLO]).await;
    teach(alice, "new", &[OSLO]).await;
    alice.replace("old", "First", "Last").await.ok(200);
    alice.post("/v1/skills/old/rollback", json!({"version": 1})).await.ok(200);
    assert_eq!(messages(alice, "old").await, [OSLO, ROME]);
    alice.delete("/v1/skills/old").json(&json!({"absorbed_into": "new"})).await.empty(204);
    let mut all = messages(alice, "new").await;
    all.sort_unstable();
    assert_eq!(all, [OSLO, ROME]);
    let used = Talk::long(alice).await;
    let message = "is there a boat from Kiel on Monday";
    used.say(message).await;
    load(alice, &used.id, "old").await;
    learned(alice, "new", &[message, OSLO, ROME]).await;
    alice.delete("/v1/skills/new").await.empty(204);
    let rows = format!("select from skill_examples where message = '{message}'");
    assert_eq!(sql::execute(&rows), 0, "nothing is left of it");
    let entry = admin.get("/v1/admin/archive").await.ok(200)["items"][0].clone();
    assert!(!entry.to_string().contains("Kiel"));
    let restore = format!("/v1/admin/archive/{}/restore", entry["id"].as_str().unwrap());
    admin.post(&restore, json!({"reason": "by mistake"})).await.ok(200);
    assert!(messages(alice, "new").await.is_empty());
}

#[tokio::test]
async fn examples_are_exported_only_on_request() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["mcp/trips", "rides"]).await;
    let nothing = alice.get("/v1/skills/export?examples=true").await.body;
    assert_eq!(nothing, alice.get("/v1/skills/export").await.body);
    teach(alice, "rides", &[ROME]).await;
    assert_eq!(import(alice, &[(FILE, &lines(&[("mcp/trips", OSLO)]))]).await["examples"]["added"], 1);
    let without = unzip(&alice.get("/v1/skills/export").await.body);
    assert!(without.iter().all(|(path, _)| path != FILE));
    let archive = alice.get("/v1/skills/export?examples=true").await.body;
    assert_eq!(archive, alice.get("/v1/skills/export?examples=true").await.body);
    let (_, file) = unzip(&archive).into_iter().find(|(path, _)| path == FILE).unwrap();
    assert_eq!(String::from_utf8(file.clone()).unwrap().lines().count(), 2);
    assert_eq!(file, lines(&[("mcp/trips", OSLO), ("rides", ROME)]));
    let report = import(bob, &[("skills.zip", &archive)]).await;
    assert_eq!(
        (&report["created"], &report["strays"], &report["examples"]["added"]),
        (&json!(2), &json!([]), &json!(2))
    );
    assert_eq!(
        (messages(bob, "rides").await, messages(bob, "mcp/trips").await),
        (vec![ROME.into()], vec![OSLO.into()])
    );
    assert_eq!(bob.get("/v1/skills/export?examples=true").await.body, archive);
    let again = import(bob, &[("skills.zip", &archive)]).await;
    assert_eq!((&again["unchanged"], &again["examples"]["unchanged"]), (&json!(2), &json!(2)));
    alice.get("/v1/skills/export?examples=2").await.refused(400, "malformed");
}

#[tokio::test]
async fn an_import_reports_bad_lines_by_number() {
    let World { alice, .. } = &World::new().await;
    let long = "x".repeat(301);
    let file = [
        lines(&[("rides", ROME), ("none", ROME)]),
        b"{\"skill\": \"rides\"}\n\n\xff\xfe\n".to_vec(),
        lines(&[
            ("rides", "👍"),
            ("rides", &long),
            ("rides", "a\0b and then some more"),
            ("rides", OSLO),
            ("rides", OSLO),
        ]),
    ]
    .concat();
    let skill_md = b"---\nname: rides\ndescription: Rides.\n---\nbody\n";
    let archive = zip(&[(FILE, &file), ("rides/SKILL.md", skill_md), ("rides/knowhow-examples.jsonl", b"its own")]);
    let report = import(alice, &[("skills.zip", &archive)]).await;
    assert_eq!((&report["created"], &report["failed"]), (&json!(1), &json!(0)), "{report}");
    let examples = &report["examples"];
    assert_eq!((&examples["added"], &examples["unchanged"], &examples["failed"]), (&json!(2), &json!(1), &json!(6)));
    let mut refused: Vec<i64> =
        examples["refused"].as_array().unwrap().iter().map(|line| line["line"].as_i64().unwrap()).collect();
    refused.sort_unstable();
    assert_eq!(refused, [2, 3, 5, 6, 7, 8], "{examples}");
    assert_eq!(examples["refused"][0]["path"], FILE);
    assert_eq!(messages(alice, "rides").await, [OSLO, ROME]);
    // An import in a tainted session adds no examples.
    let talk = Talk::long(alice).await;
    talk.tell("/taint", json!({"source": "a mail"})).await;
    let brought = alice.send(Method::POST, "/v1/skills/import").header("Knowhow-Session", &talk.id);
    let file = lines(&[("rides", "what a mail says about the trains")]);
    let report = brought.files(&[(FILE, &file)]).await.ok(200);
    assert_eq!((&report["examples"]["added"], &report["examples"]["failed"]), (&json!(0), &json!(1)));
    assert_eq!(messages(alice, "rides").await, [OSLO, ROME]);
}

fn vector(numbers: [f32; 3]) -> Reply {
    Reply::body(&json!({"data": [{"index": 0, "embedding": numbers}]}).to_string())
}

/// A message with nearly the same meaning confirms the existing example.
#[tokio::test]
async fn near_copies_confirm_one_example() {
    let fake = FakeServer::start([vector([1.0, 0.0, 0.0])]);
    let service = with_embeddings(&fake);
    let world = World::new().await;
    world.alice.create_all(&["trips"]).await;
    let alice = &world.alice.at(&service);
    let talk = Talk::long(alice).await;
    for (message, said, count, confirmations) in [
        (ROME, [1.0, 0.0, 0.0], 1, 1),
        ("I want to go to Rome with the night train", [0.97, 0.2, 0.0], 1, 2),
        (OSLO, [0.8, 0.6, 0.0], 2, 1),
        ("to Oslo with wife and kids, at low cost", [0.8, 0.58, 0.1], 2, 2),
        ("something else altogether, like a poem", [0.0, 0.0, 1.0], 3, 1),
    ] {
        fake.replies([vector(said)]);
        talk.say(message).await;
        load(alice, &talk.id, "trips").await;
        crate::service::poll_async(message, async || {
            let examples = examples(alice, "trips").await;
            (examples.len() == count && examples[0]["confirmations"] == confirmations).then_some(())
        })
        .await;
    }
    assert_eq!(messages(alice, "trips").await, ["something else altogether, like a poem", OSLO, ROME]);
    assert!(fake.seen().len() <= 5, "the turn's own vector is taken");
}

/// A job makes the vectors that the turn could not provide, and makes all of them again for another model.
#[tokio::test]
async fn the_worker_embeds_examples() {
    const WITH_WORKER: (&str, &str) = ("KNOWHOW_WITH_WORKER", "true");
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Vectors(3)]);
    let url = model.url();
    let with = |name: &'static str| {
        [
            WITH_WORKER,
            ("KNOWHOW_EMBEDDINGS_URL", url.as_str()),
            ("KNOWHOW_EMBEDDINGS_MODEL", name),
            ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "3"),
        ]
    };
    let ring = |task: &str| {
        sql::execute_at(&ground.owner, &format!("select graphile_worker.add_job('{task}', 'null'::json)"));
    };
    let mut before = ground.serve(&with("one"));
    let alice = &world(&before).await.alice;
    alice.create(skill("trips")).await;
    alice.create(skill("rides")).await;
    // The message is stored cut, so the vector of the turn does not fit.
    teach_long(alice).await;
    import(alice, &[(FILE, &lines(&[("rides", ROME)]))]).await;
    let vectors = |model: &str| ground.count(&format!("skill_examples where model = '{model}@3'"));
    ground.idle();
    assert_eq!((vectors("one"), ground.count("skill_examples")), (2, 2));
    assert_eq!(ground.count("user_catalogs where examples_revision >= 2"), 1);
    let after = ground.serve(&with("two"));
    before.terminate();
    before.wait(PATIENCE);
    ring("embed_stale");
    poll("the vectors", || (vectors("two") == 2).then_some(()));
    // The periodic job deletes only examples that were not confirmed for a year.
    sql::execute_at(
        &ground.owner,
        "update skill_examples set confirmed_at = now() - interval '366 days' where turn is null",
    );
    ring("prune");
    poll("the old one to go", || (ground.count("skill_examples") == 1).then_some(()));
    assert!(messages(&alice.at(&after), "rides").await.is_empty());
    after.check_log();
}

async fn teach_long(who: &Caller) {
    let talk = Talk::long(who).await;
    talk.say(&format!("go to Rome {}", "and then further south ".repeat(30))).await;
    load(who, &talk.id, "trips").await;
    crate::service::poll_async("the example", async || messages(who, "trips").await.pop()).await;
}
