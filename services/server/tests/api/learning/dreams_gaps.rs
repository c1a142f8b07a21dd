//! Requests that no skill answers: a close skill is patched instead of a new one, and each request is answered once.

use std::sync::{Arc, Mutex};

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use super::dreams_stage::{Dreamer, Stage, plan};
use crate::answers::pluck;
use crate::service::poll_async;

fn create(name: &str, description: &str, evidence: &Value) -> Value {
    json!({"op": "create", "name": name, "description": description, "triggers": ["do it"], "evidence": evidence,
        "body": format!("## Procedure\n\n1. Ask.\n2. Do {name}.\n")})
}

/// Creates two conversations with each of these requests.
async fn requested(stage: &Stage, user: &Dreamer, words: &[&str]) {
    for word in words {
        for day in [3, 2] {
            stage.talked(user, day, &format!("please {word} on day {day}")).await;
        }
    }
    stage.idle(user).await;
}

#[tokio::test]
async fn a_close_skill_is_shown_and_patched_for_a_request() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    let steps: String = (0..8).map(|n| format!("{n}. Step {n}: look at it and say what it shows.\n")).collect();
    let skill = json!({"name": "wishes", "description": "Grants a nearkinwish. Use when asked.", "content": steps});
    user.agent.create(skill).await;
    requested(&stage, &user, &["kinwish"]).await;
    let questions = Arc::new(Mutex::new(Vec::new()));
    let seen = questions.clone();
    stage.says(&user, move |question| -> Reply {
        seen.lock().unwrap().push(question.clone());
        let gap = &question["candidates"]["gaps"][0];
        plan(&json!([{"op": "patch", "name": gap["near"], "version": 1, "evidence": gap["conversations"],
            "edits": [{"old_string": "7. Step 7:", "new_string": "7. For a wish on a day, ask for the day.\n8. Step 7:"}]}]))
    });
    let run = stage.dream(&user, "gaps").await;
    let question = questions.lock().unwrap().pop().unwrap();
    assert_eq!(question["candidates"]["gaps"][0]["near"], "wishes", "{question:#}");
    let shown = question["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == "wishes").unwrap();
    assert!(shown["text"].as_str().unwrap().contains("7. Step 7:"), "{shown:#}");
    assert_eq!(run["state"], "applied", "{run:#}");
    assert!(user.raw("wishes").await.contains("ask for the day"));
    // The request is answered.
    let run = stage.dream(&user, "gaps").await;
    assert_eq!((&run["state"], questions.lock().unwrap().len()), (&json!("skipped"), 0), "{run:#}");
    stage.service.check_log();
}

#[tokio::test]
async fn a_request_becomes_one_skill_and_equal_skills_are_created_once() {
    let stage = Stage::new().await;
    let user = stage.user("ann").await;
    requested(&stage, &user, &["kinwish", "kintax"]).await;
    stage.says(&user, |question| -> Reply {
        let evidence = |at: usize| &question["candidates"]["gaps"][at]["conversations"];
        plan(&json!([
            create("one", "Does kinsame. Use when asked.", evidence(0)),
            create("one-again", "Does another. Use when asked.", evidence(0)),
            create("same", "Does kinsame also. Use when asked.", evidence(1)),
            create("two", "Does a thing of its own. Use when asked.", evidence(1)),
        ]))
    });
    let run = stage.dream(&user, "gaps").await;
    assert_eq!(pluck(&run["ops"], "outcome"), ["applied", "refused", "refused", "applied"], "{run:#}");
    assert!(run["ops"][1]["reasons"][0].as_str().unwrap().contains("operation 1 answers"), "{run:#}");
    assert!(run["ops"][2]["reasons"][0].as_str().unwrap().contains("operation 1 creates"), "{run:#}");
    // The vectors of the new skills are far from the requests, but the requests are answered.
    let run = stage.dream(&user, "gaps").await;
    assert_eq!(run["state"], "skipped", "{run:#}");
    assert_eq!(user.who.get("/v1/dreams/candidates?pass=gaps").await.ok(200)["gaps"], json!([]));
    stage.service.check_log();
}

#[tokio::test]
async fn the_webhook_is_called_once_for_operations_that_wait() {
    let stage = Stage::by_itself(&[("KNOWHOW_PRIVATE_WEBHOOKS", "true")]).await;
    let user = stage.user("ann").await;
    user.who.put("/v1/learning", json!({"gaps": "propose"})).await.ok(200);
    let hook = FakeServer::start([Reply::Body(Vec::new())]);
    stage.world.admin.put("/v1/admin/webhook", json!({"url": hook.url()})).await.ok(200);
    requested(&stage, &user, &["kinwish"]).await;
    stage.says(&user, |question| {
        plan(&json!([create("wishes", "Grants wishes.", &question["candidates"]["gaps"][0]["conversations"])]))
    });
    // A dry run offers nothing.
    let dry = user.who.post("/v1/dreams", json!({"passes": ["gaps"], "dry_run": true})).await.ok(202);
    stage.ended(&user, dry["items"][0]["id"].as_str().unwrap()).await;
    let run = stage.dream(&user, "gaps").await;
    assert_eq!(run["counts"]["proposed"], 1, "{run:#}");
    let told = poll_async("the message", async || hook.seen().first().cloned()).await;
    assert_eq!(told.body["type"], "dream.waiting");
    let data = &told.body["data"];
    assert_eq!(
        (&data["run"], &data["pass"], &data["user"], &data["waiting"], &data["tainted"], &data["tenant"]),
        (&run["id"], &json!("gaps"), &json!("ann"), &json!(1), &json!(false), &json!(stage.world.slug)),
        "{data}"
    );
    assert!(!told.text.contains("wishes"), "{}", told.text);
    assert_eq!(told.headers["webhook-id"], run["id"].as_str().unwrap());
    stage.idle(&user).await;
    assert_eq!(hook.seen().len(), 1);
    stage.service.check_log();
}
