//! Jobs of the worker for conversations, snapshots and index lines, observed through the API.

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::service::{PATIENCE, poll_async};
use crate::sql::execute_at;
use crate::talk::{Talk, described};
use crate::worker::{Ground, world};

pub const WITH_WORKER: (&str, &str) = ("KNOWHOW_WITH_WORKER", "true");

/// Enqueues a periodic job so that it runs now.
pub fn ring(ground: &Ground, task: &str) {
    execute_at(&ground.owner, &format!("select graphile_worker.add_job('{task}', 'null'::json)"));
}

/// Waits until the latest conversation has a summary made by `made_by`, and returns the summary.
async fn summary(who: &Caller, made_by: &str) -> Value {
    poll_async("a summary", async || {
        let page = who.get("/v1/conversations").await.ok(200);
        let summary = page["items"].as_array()?.first()?["summary"].clone();
        (summary["made_by"] == made_by).then_some(summary)
    })
    .await
}

pub fn chat(url: &str) -> [(&str, &str); 3] {
    [WITH_WORKER, ("KNOWHOW_CHAT_URL", url), ("KNOWHOW_CHAT_MODEL", "fake")]
}

#[tokio::test]
async fn a_conversation_is_summarized_by_extraction_without_a_model() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let alice = &world(&service).await.alice;
    let talk = Talk::open(alice, json!({"key": "k", "channel": "sms"})).await;
    talk.say("I prefer trains to planes. Book one to Rome?").await;
    alice.post(&talk.path("/end"), json!({})).await.ok(200);
    let summary = &summary(alice, "extract").await;
    assert_eq!(summary["title"], "I prefer trains to planes");
    assert_eq!(summary["preferences"], json!(["I prefer trains to planes."]));
    let next = alice.post("/v1/sessions", json!({"key": "k"})).await.ok(201);
    let mut previous = next["previous_summary"].clone();
    assert_eq!(previous.as_object_mut().unwrap().remove("tainted"), Some(json!(false)));
    assert!(previous.as_object_mut().unwrap().remove("text").unwrap().as_str().unwrap().contains("trains to planes"));
    assert_eq!(&previous, summary);
    let refreshed = alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert!(refreshed["text"].as_str().unwrap().contains("## Recent Conversations\n\n- 20"));
    let found = alice.get("/v1/conversations?q=preferring+a+train").await.ok(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    service.check_log();
}

#[tokio::test]
async fn a_silent_conversation_ends_and_a_model_summarizes_it() {
    let ground = Ground::new();
    let says = json!({"title": "A trip to Rome", "topics": ["Rome"], "decisions": ["Go by train"], "pending": []});
    let model = FakeServer::start([Reply::Status(500, "", "")]);
    let url = model.url();
    let service = ground.serve(&chat(&url));
    let alice = &world(&service).await.alice;
    let talk = Talk::open(alice, json!({"key": "k", "channel": "chat"})).await;
    talk.say("Book a train to Rome for me, please").await;
    let silent = |hours: u32| {
        let since = format!("now() - interval '{hours} hours'");
        execute_at(&ground.owner, &format!("update sessions set started_at = {since}, last_message_at = {since}"));
        ring(&ground, "end_sessions");
    };
    silent(23);
    ground.idle();
    assert!(talk.read().await["ended_at"].is_null(), "there may be other streams");
    silent(25);
    // While the model fails, the summary is extracted from the messages.
    assert_eq!(summary(alice, "extract").await["title"], "Book a train to Rome for me, please");
    model.replies([Reply::says(&format!("<think>hm</think>```json\n{says}\n```"))]);
    ground.idle();
    let summary = summary(alice, "model").await;
    assert_eq!(summary["title"], "A trip to Rome");
    assert_eq!((&summary["decisions"], &summary["preferences"]), (&json!(["Go by train"]), &json!([])));
    assert!(!talk.read().await["ended_at"].is_null());
    let asked = model.seen().last().unwrap().body.to_string();
    assert!(asked.contains("Book a train to Rome"), "{asked}");
    service.check_log();
}

#[tokio::test]
async fn a_corrected_memory_of_a_conversation_stays_when_its_summary_is_made_again() {
    let ground = Ground::new();
    let says = json!({"title": "A trip to Rome", "topics": ["Rome"], "decisions": ["Go by train"], "pending": []});
    let model = FakeServer::start([Reply::Status(500, "", "")]);
    let service = ground.serve(&chat(&model.url()));
    let alice = &world(&service).await.alice;
    alice.create(described("book-train", "Books trains. Use when somebody wants a train.")).await;
    let talk = Talk::open(alice, json!({"key": "k", "channel": "chat"})).await;
    talk.say("Please use book-train for a trip to Rome").await;
    alice.post(&talk.path("/end"), json!({})).await.ok(200);
    summary(alice, "extract").await;
    let memories = async || alice.get("/v1/memories?tag=conversation").await.ok(200)["items"].clone();
    let made = poll_async("the memory", async || memories().await.get(0).cloned()).await;
    let path = format!("/v1/memories/{}", made["id"].as_str().unwrap());
    let corrected = alice.patch(&path, json!({"content": "Wants the night train to Rome"})).await.ok(200);
    model.replies([Reply::says(&says.to_string())]);
    summary(alice, "model").await;
    ground.idle();
    assert_eq!(memories().await, json!([corrected]));
}

#[tokio::test]
async fn conversations_end_by_themselves_after_their_tenants_gap() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let (hasty, patient) =
        (json!({"session_gap_minutes": 2}), json!({"channels": {"sms": {"session_gap_minutes": 600}}}));
    let worlds = [World::at(&service, &service, hasty).await, World::at(&service, &service, patient).await];
    let mut talks = Vec::new();
    for world in &worlds {
        for channel in ["sms", "chat"] {
            let talk = Talk::open(&world.alice, json!({"key": channel, "channel": channel})).await;
            talk.say("Book a train to Rome for me, please").await;
            talks.push(talk);
        }
    }
    let ended = async |minutes: u32| {
        let since = format!("now() - interval '{minutes} minutes'");
        execute_at(&ground.owner, &format!("update sessions set started_at = {since}, last_message_at = {since}"));
        ring(&ground, "end_sessions");
        ground.idle();
        let mut ended = Vec::new();
        for talk in &talks {
            ended.push(!talk.read().await["ended_at"].is_null());
        }
        ended
    };
    assert_eq!(ended(1).await, [false, false, false, false]);
    assert_eq!(ended(3).await, [true, false, false, false]);
    assert_eq!(ended(599).await, [true, false, false, false]);
    assert_eq!(ended(601).await, [true, false, true, false]);
    assert_eq!(ended(24 * 60 + 1).await, [true, true, true, true]);
    service.check_log();
}

#[tokio::test]
async fn a_model_writes_the_index_line_if_the_author_gave_none() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::says("Sends \"letters\" by pigeon when nothing else works.")]);
    let url = model.url();
    let service = ground.serve(&chat(&url));
    let alice = &world(&service).await.alice;
    let line = async |name: &str| {
        let skill = alice.peek(name).await;
        (skill["summary"].as_str().unwrap().to_owned(), skill["summary_by"].as_str().unwrap().to_owned())
    };
    alice.create(skill("own")).await;
    let mut given = skill("given");
    given["summary"] = json!("The author's line");
    alice.create(given).await;
    let made = poll_async("the line", async || Some(line("own").await).filter(|line| line.1 == "model")).await;
    assert!(made.0.starts_with("Sends") && made.0.contains("pigeon"), "{made:?}");
    assert_eq!(line("given").await, ("The author's line".into(), "author".into()));
    let listed = alice.get("/v1/skills?prefix=own").await.ok(200);
    assert_eq!(listed["items"][0]["summary"], made.0.as_str());
    assert_eq!(alice.peek("own").await["version"], 1);
    let snapshot = alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert!(snapshot["text"].as_str().unwrap().contains(&format!("- own: {}", made.0)));
    // A change of tags and triggers keeps the model's line, because the line describes the skill's purpose.
    let change = json!({"tags": ["bird"], "triggers": ["coo"]});
    let answered = alice.put("/v1/skills/own/fields", change).await.ok(200);
    assert_eq!((&answered["summary"], &answered["summary_by"]), (&json!(made.0), &json!("model")));
    ground.idle();
    assert_eq!(line("own").await, made);
    // If the model's answer is unusable, the extracted line is stored with `summary_by: extract`.
    model.replies([Reply::body("garbage")]);
    alice.replace("own", "First", "Last").await.ok(200);
    ground.idle();
    assert_eq!(line("own").await.1, "extract");
    service.check_log();
}

/// A new model makes its own vectors of existing skills and memories. The vectors of the old model stay.
#[tokio::test]
async fn a_new_model_embeds_skills_and_memories() {
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
    let mut before = ground.serve(&with("one"));
    let alice = &world(&before).await.alice;
    alice.create(skill("walls")).await;
    alice.post("/v1/memories", json!({"content": "Owns a zebra"})).await.ok(201);
    ground.idle();
    let vectors = |table: &str, model: &str| ground.count(&format!("{table} where model like '{model}%'"));
    assert_eq!((vectors("skill_embeddings", "one"), vectors("memory_embeddings", "one")), (1, 1));
    let after = ground.serve(&with("two"));
    assert_eq!(alice.at(&after).get("/v1/recall?q=striped+pet").await.ok(200)["items"], json!([]));
    before.terminate();
    before.wait(PATIENCE);
    ring(&ground, "embed_stale");
    crate::service::poll("the vectors", || {
        ((vectors("skill_embeddings", "two"), vectors("memory_embeddings", "two")) == (1, 1)).then_some(())
    });
    assert_eq!((vectors("skill_embeddings", "one"), vectors("memory_embeddings", "one")), (1, 1), "of use elsewhere");
    let found = alice.at(&after).get("/v1/recall?q=striped+pet").await.ok(200);
    assert!(crate::answers::pluck(&found["items"], "content").contains(&"Owns a zebra".to_owned()), "{found}");
    // After the skill has changed, its vector of the old model is deleted.
    alice.at(&after).put("/v1/skills/walls/fields", json!({"triggers": ["paint"]})).await.ok(200);
    ground.idle();
    assert_eq!((vectors("skill_embeddings", "one"), vectors("skill_embeddings", "two")), (0, 1));
    after.check_log();
}

#[tokio::test]
async fn snapshots_of_active_users_are_rendered_before_they_expire() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let alice = &world(&service).await.alice;
    alice.create_all(&["one"]).await;
    let before = alice.get("/v1/snapshot").await.ok(200);
    alice.create_all(&["two"]).await;
    assert_eq!(alice.get("/v1/snapshot").await.ok(200)["stale_skills"], json!(["two"]));
    let age = |rendered: &str, used: &str| {
        execute_at(
            &ground.owner,
            &format!(
                "update current_snapshots set rendered_at = now() - interval '{rendered}', used_at = now() - interval '{used}'"
            ),
        );
    };
    let rendered = || ground.count("current_snapshots where rendered_at > now() - interval '1 minute'") > 0;
    age("20 minutes", "1 hour");
    ring(&ground, "render_snapshots");
    ground.idle();
    assert!(!rendered(), "it is not due yet");
    age("29 minutes", "25 hours");
    ring(&ground, "render_snapshots");
    ground.idle();
    assert!(!rendered(), "its user is not active");
    age("29 minutes", "1 hour");
    ring(&ground, "render_snapshots");
    crate::service::poll("the snapshot", || rendered().then_some(()));
    let after = alice.get("/v1/snapshot").await.ok(200);
    assert_ne!(before["sha256"], after["sha256"]);
    assert_eq!(after["stale_skills"], json!([]));
    assert!(after["text"].as_str().unwrap().contains("- two"));
    assert_eq!(
        ground.count("current_snapshots where used_at < now() - interval '50 minutes'"),
        0,
        "reading is activity"
    );
    service.check_log();
}

/// The job reads due snapshots in pages.
#[tokio::test]
async fn one_run_renews_all_due_snapshots() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    world(&service).await.alice.get("/v1/snapshot").await.ok(200);
    // 2,100 copies with other index budgets, all due.
    execute_at(
        &ground.owner,
        "insert into current_snapshots (tenant_id, user_id, index_budget, form, snapshot_id, revision, rendered_by, rendered_at, used_at)
         select tenant_id, user_id, 1000000 + n, form, snapshot_id, revision, rendered_by, now() - interval '29 minutes', now()
         from current_snapshots cross join generate_series(1, 2100) n",
    );
    ring(&ground, "render_snapshots");
    ground.idle();
    assert_eq!(ground.count("current_snapshots where rendered_at < now() - interval '20 minutes'"), 0);
    service.check_log();
}

#[tokio::test]
async fn sessions_and_messages_past_retention_are_deleted() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let alice = &world(&service).await.alice;
    for key in ["old", "new"] {
        let talk = Talk::open(alice, json!({"key": key})).await;
        talk.say("Something was said here, at length").await;
        alice.post(&talk.path("/end"), json!({})).await.ok(200);
    }
    alice.post("/v1/sessions", json!({"key": "never used"})).await.ok(201);
    ground.idle();
    execute_at(&ground.owner, "update sessions set ended_at = now() - interval '91 days' where key = 'old'");
    execute_at(&ground.owner, "update sessions set started_at = now() - interval '8 days' where key = 'never used'");
    ring(&ground, "prune");
    crate::service::poll("the sessions to go", || (ground.count("sessions") == 1).then_some(()));
    assert_eq!((ground.count("messages"), ground.count("turns")), (1, 1));
    assert_eq!(ground.count("conversation_summaries"), 2, "summaries stay");
    service.check_log();
}

/// Cosines computed from vectors in memory and cosines computed by the database rank alike.
#[tokio::test]
async fn vectors_in_memory_and_in_the_database_rank_alike() {
    let ground = Ground::new();
    let in_memory = ground.serve(&[WITH_WORKER]);
    let in_database = ground.serve(&[("KNOWHOW_CATALOGUE_VECTORS", "0")]);
    let alice = &world(&in_memory).await.alice;
    for n in 0..12 {
        let mut body = skill(&format!("skill-{n}"));
        body["description"] = json!(format!("Paints walls {}", "with care ".repeat(n)));
        alice.create(body).await;
    }
    ground.idle();
    assert_eq!(ground.count("skill_embeddings"), 12);
    for q in ["paint the walls of my house", "with care", "something else altogether, of some length", "walls"] {
        let path = format!("/v1/skills?q={}", q.replace(' ', "+"));
        let ranked = async |who: Caller| {
            // If a busy machine cannot embed the question within its deadline, a search uses words alone. So the test
            // retries.
            let items = poll_async("a search by meaning", async || {
                let items = who.get(&path).await.ok(200)["items"].clone();
                let is_by_meaning = |item: &Value| item["reason"].as_str().unwrap().contains("meaning");
                items.as_array().unwrap().iter().all(is_by_meaning).then_some(items)
            })
            .await;
            let scores = items.as_array().unwrap().iter().map(|i| i["score"].as_f64().unwrap()).collect::<Vec<_>>();
            (crate::answers::pluck(&items, "name"), scores)
        };
        let (here, there) = (ranked(alice.clone()).await, ranked(alice.at(&in_database)).await);
        assert_eq!(here.0, there.0, "{q}");
        assert!(here.1.iter().zip(&there.1).all(|(a, b)| (a - b).abs() < 1e-3), "{q}: {here:?} {there:?}");
    }
}
