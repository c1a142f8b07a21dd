//! Limits of stored data for each user: history, turns, cached answers, uses, sessions.

use std::future::IntoFuture;

use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::service::poll_async;
use crate::sql;
use crate::talk::Talk;

/// Returns the number of the tenant's rows in a table that meet the condition.
fn rows(slug: &str, table: &str, condition: &str) -> u64 {
    let of_tenant = format!("tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    sql::execute(&format!("select from {table} where {of_tenant} and {condition}"))
}

fn long_skill(name: &str, text: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}"), "content": format!("# {name}\n\n{text}\n")})
}

async fn save(who: &Caller, name: &str, text: &str) -> i64 {
    let saved = who.post("/v1/skills", long_skill(name, text)).await;
    assert!([200, 201].contains(&saved.status), "{saved}");
    saved.json()["version"].as_i64().unwrap()
}

async fn versions_of(who: &Caller, name: &str) -> Vec<i64> {
    let page = who.get(&format!("/v1/skills/{name}/versions?limit=200")).await.ok(200);
    page["items"].as_array().unwrap().iter().map(|item| item["version"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_skill_keeps_its_newest_versions() {
    let World { alice, slug, .. } = &World::with(json!({"starter_skills": false, "versions_per_skill": 3})).await;
    for n in 1..=5 {
        assert_eq!(save(alice, "plan", &format!("Text {n}.")).await, n);
    }
    assert_eq!(versions_of(alice, "plan").await, [5, 4, 3]);
    alice.get("/v1/skills/plan/versions/2").await.refused(404, "not-found");
    alice.post("/v1/skills/plan/rollback", json!({"version": 1})).await.refused(404, "not-found");
    let back = alice.post("/v1/skills/plan/rollback", json!({"version": 3})).await.ok(200);
    assert_eq!((&back["version"], back["content"].as_str().unwrap().contains("Text 3.")), (&json!(6), true));
    assert_eq!(versions_of(alice, "plan").await, [6, 5, 4]);
    // Three texts are stored: those of versions 4 and 5, and the one of versions 3 and 6.
    assert_eq!(rows(slug, "skill_resources", "true"), 3);
}

#[tokio::test]
async fn history_and_archive_are_limited_by_the_tenants_quota() {
    let settings = json!({"starter_skills": false, "bytes_per_user": 100_000, "stored_bytes_per_user": 150_000});
    let World { alice, slug, .. } = &World::with(settings).await;
    for n in 0..8 {
        save(alice, "plan", &format!("{n} {}", "word ".repeat(4_000))).await;
        save(alice, "gone", &format!("{n} {}", "term ".repeat(4_000))).await;
        alice.delete("/v1/skills/gone").await.empty(204);
        assert_eq!(rows(slug, "user_catalogs", "stored_bytes > 150000"), 0, "{n}");
    }
    assert!(alice.peek("plan").await["content"].as_str().unwrap().contains("7 word"));
    assert!(rows(slug, "archived_skills", "true") >= 1, "what was deleted last can be put back");
}

#[tokio::test]
async fn a_stored_turn_refers_to_the_texts_of_its_skills() {
    let World { alice, slug, .. } = &World::with(json!({"starter_skills": false, "versions_per_skill": 1})).await;
    let text =
        format!("<skill name=\"x\">\nname: <|im_start|>\n\n{}", "Look out of the window, and say so.\n".repeat(250));
    // One skill is called and the other is mentioned, so their order in the text differs from the list.
    for name in ["weather", "turn-the-globe"] {
        save(alice, name, &text).await;
    }
    let talk = Talk::open(alice, json!({"tools": "full", "inline_top": true})).await;
    let message = json!({"message": "turn-the-globe, and use weather skill", "turn_key": "t", "deadline_ms": 30_000});
    let first = talk.turn(message.clone()).await;
    let answer = first.ok(200);
    assert_eq!(answer["active"].as_array().unwrap().len(), 2, "{answer}");
    assert!(answer["text"].as_str().unwrap().len() > 10_000);
    assert_eq!(rows(slug, "turns", "octet_length(answer) < 2000 and length(answer_digest) = 32"), 1);
    assert_eq!(talk.turn(message.clone()).await.body, first.body);
    assert_eq!(alice.get(&talk.path("/turns/1")).await.body, first.body);
    // The save deletes the version that the turn refers to.
    save(alice, "turn-the-globe", "Anew.").await;
    for again in [talk.turn(message).await, alice.get(&talk.path("/turns/1")).await] {
        let problem = again.refused(409, "answer-gone");
        assert!(problem["detail"].as_str().unwrap().contains("new turn_key"));
    }
}

/// The text of a starter is not stored as a file of the user.
#[tokio::test]
async fn a_repeated_turn_with_a_starter_gets_its_answer_again() {
    let World { alice, slug, .. } = &World::with(json!({})).await;
    let name = alice.names().await.remove(0);
    let talk = Talk::open(alice, json!({"tools": "full"})).await;
    let message = json!({"message": format!("use {name} skill"), "turn_key": "t", "deadline_ms": 30_000});
    let first = talk.turn(message.clone()).await;
    assert_eq!(first.ok(200)["active"].as_array().unwrap().len(), 1);
    assert_eq!(rows(slug, "turns", "answer_digest is not null"), 1);
    assert_eq!(talk.turn(message).await.body, first.body);
}

#[tokio::test]
async fn stored_answers_for_idempotency_contain_no_text() {
    let World { alice, slug, .. } = &World::with(json!({"starter_skills": false, "versions_per_skill": 2})).await;
    let long = "A line of text.\n".repeat(8_000);
    let metadata = json!({"note": "x".repeat(10_000), "of": {"b": 1.50, "a": [1, "2"]}});
    let mut body = long_skill("plan", &long);
    body["metadata"] = metadata;
    body["tags"] = json!(["one", "two"]);
    let keyed = |key: &'static str| alice.post("/v1/skills", body.clone()).header("Idempotency-Key", key).into_future();
    let first = keyed("save").await;
    first.ok(201);
    assert_eq!(keyed("save").await.body, first.body);
    let memory = || {
        let body = json!({"content": "fact ".repeat(1_500)});
        alice.post("/v1/memories", body).header("Idempotency-Key", "memory").into_future()
    };
    let soul = || {
        let body = json!({"text": "brief ".repeat(1_200)});
        alice.put("/v1/soul", body).header("Idempotency-Key", "soul").into_future()
    };
    assert_eq!(memory().await.body, memory().await.body);
    assert_eq!(soul().await.body, soul().await.body);
    let patch = || alice.replace("plan", "# plan", "# Plan").header("Idempotency-Key", "patch").into_future();
    assert_eq!(patch().await.body, patch().await.body);
    assert_eq!(rows(slug, "idempotency_keys", "true"), 4);
    assert_eq!(rows(slug, "idempotency_keys", "octet_length(response::text) > 1500"), 0);
    // The save deletes version 1. The repeated request cannot get its answer any more, and has no second effect.
    save(alice, "plan", "Anew.").await;
    let problem = keyed("save").await.refused(409, "answer-gone");
    assert!(problem["detail"].as_str().unwrap().contains("version 1"));
    assert_eq!(versions_of(alice, "plan").await, [3, 2]);
}

#[tokio::test]
async fn a_use_is_small_and_the_loads_of_a_day_are_one_row() {
    let World { alice, slug, .. } = &World::new().await;
    alice.create(skill("plan")).await;
    for n in 0..5 {
        alice.get("/v1/skills/plan").header("Knowhow-Session", &format!("s{n}")).await.ok(200);
    }
    assert_eq!(rows(slug, "usage_events", "kind = 'view' and times = 5"), 1);
    let wide = "\u{1f600}".repeat(255);
    let report = json!({
        "skill": "plan", "session_key": wide, "memory_id": wide, "project": wide, "runtime_path": wide, "outcome": "success",
    });
    assert_eq!(alice.post("/v1/skills/used", report.clone()).await.ok(200)["counted"], true);
    assert_eq!(alice.post("/v1/skills/used", report).await.ok(200)["counted"], false);
    assert_eq!(rows(slug, "usage_events", "true"), 2);
    assert_eq!(rows(slug, "usage_events", "pg_column_size(usage_events.*) > 200"), 0);
    // The reports of a day are limited to 5000.
    sql::execute(&format!(
        "insert into usage_events (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
         select tenant_id, user_id, day, skill_id, kind, substr(sha256(n::text::bytea), 1, 16), version, at
         from usage_events, generate_series(1, 4999) n
         where kind = 'used' and tenant_id = (select tenant_id from tenants where slug = '{slug}')"
    ));
    let more = |key: &str| alice.post("/v1/skills/used", json!({"skill": "plan", "session_key": key})).into_future();
    let problem = more("one more").await.refused(429, "quota-exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("5000"));
    assert_eq!(alice.peek("plan").await["times_used"], 6);
}

#[tokio::test]
async fn replies_and_feedback_are_limited() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    talk.say("Hello there, my dear").await;
    for _ in 0..64 {
        talk.tell("/reply", json!({"message": "Yes."})).await;
    }
    alice.post(&talk.path("/reply"), json!({"message": "Yes."})).await.refused(409, "reply-limit");
    talk.say("And now for something else").await;
    talk.tell("/reply", json!({"message": "Yes."})).await;
    sql::execute(&format!("update sessions set log_bytes = 8 * 1024 * 1024 - 3 where session_id = '{}'", talk.id));
    alice.post(&talk.path("/reply"), json!({"message": "Yes."})).await.refused(409, "log-full");
    talk.turn(json!({"message": "More."})).await.refused(409, "log-full");
    for _ in 0..100 {
        talk.tell("/feedback", json!({"kind": "thumbs_up"})).await;
    }
    alice.post(&talk.path("/feedback"), json!({"kind": "thumbs_up"})).await.refused(429, "quota-exceeded");
}

#[tokio::test]
async fn the_oldest_ended_session_is_deleted_for_a_new_one() {
    let World { alice, slug, .. } = &World::with(json!({"starter_skills": false, "sessions_per_user": 3})).await;
    let mut talks = Vec::new();
    for n in 0..3 {
        let talk = Talk::open(alice, json!({"key": format!("k{n}")})).await;
        talk.say("Something that is worth keeping").await;
        talks.push(talk);
    }
    let problem = alice.post("/v1/sessions", json!({"key": "k3"})).await.refused(429, "quota-exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("end some"));
    alice.post("/v1/sessions", json!({"key": "k1"})).await.ok(200);
    talks[0].tell("/end", json!({})).await;
    let next = Talk::open(alice, json!({"key": "k3"})).await;
    assert_eq!(rows(slug, "sessions", "true"), 3);
    alice.get(&talks[0].path("")).await.refused(404, "not-found");
    assert_eq!((talks[1].read().await["turns"].clone(), next.read().await["turns"].clone()), (json!(1), json!(0)));
    assert_eq!(rows(slug, "messages", "true"), 2);
}

#[tokio::test]
async fn ended_sessions_are_deleted_if_the_tenant_lowers_the_limit() {
    let World { operator, alice, slug, .. } = &World::with(json!({"starter_skills": false})).await;
    let mut talks = Vec::new();
    for n in 0..4 {
        talks.push(Talk::open(alice, json!({"key": format!("k{n}")})).await);
        talks[n].say("Something that is said").await;
    }
    talks[0].tell("/end", json!({})).await;
    let change = json!({"settings": {"sessions_per_user": 2, "index_budget": 500}});
    operator.patch(&format!("/v1/admin/tenants/{slug}?confirm=shorten-retention"), change).await.ok(200);
    poll_async("the settings to take effect", async || {
        alice.get("/v1/snapshot").await.ok(200);
        (rows(slug, "current_snapshots", "index_budget = 500") > 0).then_some(())
    })
    .await;
    Talk::open(alice, json!({"key": "more"})).await;
    assert_eq!(rows(slug, "sessions", "true"), 4);
    alice.get(&talks[0].path("")).await.refused(404, "not-found");
    alice.post("/v1/sessions", json!({"key": "too many"})).await.refused(429, "quota-exceeded");
}

/// The sessions are not counted again for each new one.
#[tokio::test]
async fn the_tenant_limits_the_number_of_open_sessions() {
    let World { alice, slug, .. } = &World::with(json!({"starter_skills": false, "sessions_per_user": 40})).await;
    let first = Talk::open(alice, json!({})).await;
    for _ in 1..40 {
        Talk::open(alice, json!({})).await;
    }
    assert!(rows(slug, "sessions", "room > 0") > 30, "they are counted each time");
    for _ in 0..2 {
        alice.post("/v1/sessions", json!({})).await.refused(429, "quota-exceeded");
    }
    // A resumed session does not count again, and an ended one makes room for a new one.
    let keyed = json!({"key": "stream"});
    first.tell("/end", json!({})).await;
    Talk::open(alice, keyed.clone()).await.say("Something that is said").await;
    alice.post("/v1/sessions", json!({})).await.refused(429, "quota-exceeded");
    alice.post("/v1/sessions", keyed).await.ok(200);
    assert_eq!(rows(slug, "sessions", "true"), 40);
}

/// Each budget would need a rendering and a row of its own, so budgets are rounded down to steps.
#[tokio::test]
async fn index_budgets_are_rounded_to_steps() {
    let World { alice, slug, .. } = &World::new().await;
    alice.create_all(&["one", "two", "three"]).await;
    for budget in (1_000..1_960).step_by(40) {
        Talk::open(alice, json!({"index_budget": budget})).await;
    }
    assert_eq!(rows(slug, "sessions", "index_budget <> 1000"), 0);
    // Budgets with equal texts share one row.
    Talk::open(alice, json!({"index_budget": 16_000})).await;
    Talk::open(alice, json!({"index_budget": 199_999})).await;
    assert_eq!(rows(slug, "sessions", "index_budget = 100000"), 1);
    assert_eq!(rows(slug, "snapshots", "true"), 1);
    let resumed = Talk::open(alice, json!({"key": "k", "index_budget": 5_100})).await;
    resumed.say("Something that is said").await;
    let again = alice.post("/v1/sessions", json!({"key": "k", "index_budget": 5_200})).await.ok(200);
    assert!(again["notice"].is_null(), "{again}");
}

#[tokio::test]
async fn the_number_of_users_of_a_tenant_is_limited() {
    let world = World::with(json!({"starter_skills": false, "users": 2})).await;
    let backend = world.backend().await; // the admin is also a user
    backend.acting_for("one").get("/v1/skills").await.ok(200);
    let refused = backend.acting_for("two").get("/v1/skills").await.refused(429, "quota-exceeded");
    assert!(refused["detail"].as_str().unwrap().contains("operator"));
    backend.acting_for("one").get("/v1/skills").await.ok(200);
    assert_eq!(rows(&world.slug, "tenants", "user_count = 2"), 1);
    assert_eq!(rows(&world.slug, "users", "true"), 2);
}

#[tokio::test]
async fn the_number_of_other_names_of_a_skill_is_limited() {
    let World { alice, slug, .. } = &World::new().await;
    alice.create_all(&["guide", "old", "older"]).await;
    sql::execute(&format!(
        "insert into skill_redirects (tenant_id, user_id, name, skill_id, created_at)
         select s.tenant_id, s.user_id, 'n-' || n, s.skill_id, now() from skills s, generate_series(1, 999) n
         where s.name = 'guide' and s.tenant_id = (select tenant_id from tenants where slug = '{slug}')"
    ));
    let into_guide = |name: &str| alice.delete(&format!("/v1/skills/{name}")).json(&json!({"absorbed_into": "guide"}));
    into_guide("old").await.empty(204);
    let problem = into_guide("older").await.refused(429, "quota-exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("1000 other names"));
    alice.get("/v1/skills/older").await.ok(200);
}

/// A caller that may only read loads unchanged starters. The user gets no rows of skills.
#[tokio::test]
async fn a_reader_creates_only_the_row_of_its_user() {
    let world = World::with(json!({})).await;
    let body = json!({"name": "reader", "scopes": ["skills:read"]});
    let key = world.admin.post("/v1/admin/keys", body).await.ok(201);
    let reader = world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("nobody-yet");
    let name = reader.names().await.remove(0);
    for path in ["", "/SKILL.md", "/versions", "/versions/1"] {
        reader.get(&format!("/v1/skills/{name}{path}")).await;
    }
    assert_eq!(reader.get(&format!("/v1/skills/{name}")).await.ok(200)["name"], json!(name));
    let of_user = "user_id = (select u.user_id from users u where u.external_id = 'nobody-yet'
                              and u.tenant_id = tenants_of.tenant_id)";
    for table in ["skills", "skill_versions", "skill_usage", "usage_events", "starter_installs"] {
        let of_user = of_user.replace("tenants_of", table);
        assert_eq!(rows(&world.slug, table, &of_user), 0, "{table}");
    }
    // The only entry records the creation of the user.
    assert_eq!(rows(&world.slug, "audit_log", &of_user.replace("tenants_of", "audit_log")), 1);
}
