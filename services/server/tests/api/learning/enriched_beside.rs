//! Enrichment with separate words (`discovery`): pinned, reviewed, tainted and changed skills.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use knowhow_testing::{FakeServer, Reply, until};
use reqwest::Method;
use serde_json::{Value, json};

use super::enriched::{GOOD, THIN, agent, discovery, good, questions, raw};
use crate::background::{chat, ring};
use crate::callers::World;
use crate::talk::Talk;
use crate::worker::{Ground, world};

/// Enrichment makes no version of a pinned skill, nor of any skill if the tenant reviews all changes.
#[tokio::test]
async fn pinned_and_reviewed_skills_get_separate_words() {
    let ground = Ground::new();
    let may = Arc::new(AtomicBool::new(false));
    let model = FakeServer::start([Reply::When(may.clone(), GOOD.into())]);
    let service = ground.serve(&chat(&model.url()));
    let pinning = world(&service).await;
    let agent_of_pinning = agent(&pinning).await;
    agent_of_pinning.create(json!({"skill_md": THIN})).await;
    agent_of_pinning.put("/v1/skills/deploy/fields", json!({"pinned": true})).await.ok(200);
    until("the question", || !questions(&model).is_empty()).await;
    may.store(true, Ordering::SeqCst);
    ground.idle();
    ring(&ground, "enrich_stale");
    until("the words", || ground.count("skills where made_by = 'model'") == 1).await;
    ground.idle();
    let now = agent_of_pinning.peek("deploy").await;
    assert_eq!((&now["version"], &now["discovery"]), (&json!(1), &discovery()), "{now}");
    let reviewing = World::at(&service, &service, json!({"starter_skills": false, "review": "all"})).await;
    let agent = agent(&reviewing).await;
    let asked = agent.post("/v1/skills", json!({"skill_md": THIN})).await.ok(202);
    crate::reviewing::decide(&reviewing.admin, &asked, "approve", json!({})).await.ok(200);
    ground.idle();
    let now = agent.peek("deploy").await;
    assert_eq!((&now["version"], &now["discovery"]), (&json!(1), &discovery()), "{now}");
    assert_eq!(
        reviewing
            .admin
            .get("/v1/submissions?state=needs_review")
            .header("Knowhow-Reason", crate::reviewing::WHY)
            .await
            .ok(200)["items"],
        json!([])
    );
}

#[tokio::test]
async fn enriched_versions_of_tainted_skills_are_tainted() {
    let ground = Ground::new();
    let model = FakeServer::start([good()]);
    let service = ground.serve(&chat(&model.url()));
    let world = World::at(&service, &service, json!({"starter_skills": false, "review": "off"})).await;
    let agent = agent(&world).await;
    let save = |name: &str| json!({"skill_md": THIN.replace("deploy", name)});
    agent.send(Method::POST, "/v1/skills").header("Knowhow-Session", "unknown").json(&save("mail")).await.ok(201);
    ground.idle();
    let now = agent.peek("mail").await;
    assert_eq!((&now["version"], &now["tainted"]), (&json!(2), &json!(true)), "{now}");
    let versions = agent.get("/v1/skills/mail/versions").await.ok(200);
    assert_eq!((&versions["items"][0]["change"], &versions["items"][0]["tainted"]), (&json!("enrich"), &json!(true)));
    // Taint that is added later also marks the enriched version. Bob has no tainted text with the same words.
    let talk = Talk::open(&world.bob, json!({"key": "k"})).await;
    world.bob.send(Method::POST, "/v1/skills").header("Knowhow-Session", "k").json(&save("later")).await.ok(201);
    ground.idle();
    assert_eq!(world.bob.peek("later").await["tainted"], false);
    assert_eq!(world.bob.peek("later").await["version"], 2);
    talk.tell("/taint", json!({"source": "page"})).await;
    assert_eq!(world.bob.peek("later").await["tainted"], true);
    service.check_log();
}

/// A tainted version would need review, so enrichment makes no version.
#[tokio::test]
async fn skill_tainted_during_the_question_gets_separate_words() {
    let ground = Ground::new();
    let may = Arc::new(AtomicBool::new(false));
    let model = FakeServer::start([Reply::When(may.clone(), GOOD.into())]);
    let service = ground.serve(&chat(&model.url()));
    let world = world(&service).await;
    let talk = Talk::open(&world.alice, json!({"key": "k"})).await;
    let text = json!({"skill_md": THIN});
    world.alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", "k").json(&text).await.ok(201);
    until("the question", || !questions(&model).is_empty()).await;
    talk.tell("/taint", json!({"source": "page"})).await;
    may.store(true, Ordering::SeqCst);
    ground.idle();
    let now = world.alice.peek("deploy").await;
    assert_eq!((&now["version"], &now["tainted"], &now["discovery"]), (&json!(1), &json!(true), &Value::Null), "{now}");
    ring(&ground, "enrich_stale");
    until("the words", || ground.count("skills where made_by = 'model'") == 1).await;
    let now = world.alice.peek("deploy").await;
    assert_eq!((&now["version"], &now["tainted"], &now["discovery"]), (&json!(1), &json!(true), &discovery()), "{now}");
}

/// Enrichment between an author's load and change is no conflict for the author.
#[tokio::test]
async fn expected_version_stays_valid_after_enrichment() {
    let ground = Ground::new();
    let model = FakeServer::start([good()]);
    let service = ground.serve(&chat(&model.url()));
    let world = world(&service).await;
    let agent = agent(&world).await;
    agent.create(json!({"skill_md": THIN})).await;
    ground.idle();
    // The patch applies to the enriched text.
    let patch = json!({"edits": [{"old_string": "Staging", "new_string": "Staging first"}], "expected_version": 1});
    let patched = agent.patch("/v1/skills/deploy", patch.clone()).await.ok(200);
    assert_eq!((&patched["version"], &patched["triggers"][0]), (&json!(3), &json!("ship it")), "{patched}");
    // A second patch with the old version conflicts, because the first patch changed the skill.
    let other = json!({"edits": [{"old_string": "helm", "new_string": "kubectl"}], "expected_version": 1});
    agent.patch("/v1/skills/deploy", other.clone()).await.refused(409, "version-conflict");
    agent.patch("/v1/skills/deploy", other).header("If-Match", "\"2\"").await;
    let current = agent.peek("deploy").await["version"].as_i64().unwrap();
    // A save replaces the enriched text and is enriched again. The model is asked three times in all, then no more.
    let mut version = current;
    for round in 0..4 {
        let text = THIN.replace("Staging", &format!("Staging {round}"));
        let saved = agent.post("/v1/skills", json!({"skill_md": text, "expected_version": version})).await.ok(200);
        assert_eq!(saved["triggers"], json!([]), "{round}");
        version = saved["version"].as_i64().unwrap();
        ground.idle();
        let now = agent.peek("deploy").await["version"].as_i64().unwrap();
        assert_eq!(now, version + i64::from(round < 2), "{round}");
    }
    assert_eq!(questions(&model).len(), 3);
    // `If-Match` accepts enriched versions as `expected_version` does.
    agent.create(json!({"skill_md": THIN.replace("deploy", "other")})).await;
    ground.idle();
    assert_eq!(agent.peek("other").await["version"], 2);
    let edit = json!({"edits": [{"old_string": "helm", "new_string": "kubectl"}]});
    let patched = agent.patch("/v1/skills/other", edit.clone()).header("If-Match", "\"1\"").await.ok(200);
    assert_eq!((&patched["version"], &patched["unchanged"]), (&json!(3), &json!(false)));
    agent.patch("/v1/skills/other", edit).header("If-Match", "\"0\"").await.refused(412, "version-conflict");
}

#[tokio::test]
async fn repeated_patch_after_enrichment_changes_nothing() {
    let ground = Ground::new();
    let may = Arc::new(AtomicBool::new(false));
    let model = FakeServer::start([Reply::When(may.clone(), GOOD.into())]);
    let service = ground.serve(&chat(&model.url()));
    let world = world(&service).await;
    let agent = agent(&world).await;
    agent.create(json!({"skill_md": THIN})).await;
    let patch = json!({"edits": [{"old_string": "upgrade", "new_string": "upgrade --upgrade"}], "expected_version": 1});
    assert_eq!(agent.patch("/v1/skills/deploy", patch.clone()).await.ok(200)["version"], 2);
    until("the question", || !questions(&model).is_empty()).await;
    may.store(true, Ordering::SeqCst);
    ground.idle();
    // The answer about version 1 was not written over version 2. Version 2 got a question of its own.
    let now = raw(&agent, "deploy").await;
    assert!(now.contains("upgrade --upgrade") && now.contains("zeppelin"), "{now}");
    assert_eq!(agent.peek("deploy").await["version"], 3);
    for again in [patch.clone(), json!({"edits": patch["edits"]})] {
        let again = agent.patch("/v1/skills/deploy", again).await.ok(200);
        assert_eq!((&again["version"], &again["unchanged"]), (&json!(3), &json!(true)));
    }
    assert_eq!(raw(&agent, "deploy").await, now);
    service.check_log();
}
