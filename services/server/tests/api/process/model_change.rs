//! A rolling change of the local model, in which processes with the old and the new model serve the same users.

use std::path::Path;

use serde_json::{Value, json};

use crate::background::{WITH_WORKER, ring};
use crate::callers::Caller;
use crate::examples::{load, messages};
use crate::service::{PATIENCE, Service, poll, poll_async, setting};
use crate::talk::{MAIL, Talk, create_described, names};
use crate::worker::{Ground, world};

const BEFORE: &str = "all-MiniLM-L6-v2-centred";
const AFTER: &str = "minilm-muse-384";
const EVERY: &str = "e5-muse-384";
const REQUEST: &str = "Can you send an email to Bob with the report attached?";
/// Turns sent to each process while vectors are made.
const TURNS: usize = 40;

fn serve(ground: &Ground, folder: &str, model: &str) -> Service {
    start(ground, &[("KNOWHOW_MODEL_DIR", folder), ("KNOWHOW_MODEL", model), WITH_WORKER])
}

fn start(ground: &Ground, more: &[(&str, &str)]) -> Service {
    let login = ground.login();
    let shared = [("KNOWHOW_DATABASE_URL", login.as_str()), ("KNOWHOW_WORKERS", "1")];
    Service::start(&shared.iter().chain(more).copied().collect::<Vec<_>>())
}

async fn find(who: &Caller, message: &str) -> Value {
    let talk = Talk::open(who, json!({"channel": "chat"})).await;
    talk.turn(json!({"message": message, "deadline_ms": 30_000})).await.ok(200)
}

/// Asserts that each turn finds the skill and does not go without a vector.
async fn keep_asking(who: &Caller) {
    for _ in 0..TURNS {
        let turn = find(who, REQUEST).await;
        assert!(names(&turn, "relevant").contains(&"mcp/email".to_owned()), "{turn}");
        assert_eq!(turn["degraded"], Value::Null);
    }
}

#[tokio::test]
async fn no_turn_fails_while_processes_of_two_models_serve_the_same_users() {
    let Some(folder) = setting("KNOWHOW_TEST_MODEL_DIR") else {
        eprintln!("skipped: KNOWHOW_TEST_MODEL_DIR names no model");
        return;
    };
    let ground = Ground::new();
    let mut before = serve(&ground, &folder, "minilm");
    let alice = &world(&before).await.alice;
    create_described(alice, &MAIL).await;
    alice.post("/v1/memories", json!({"content": "Owns a zebra"})).await.ok(201);
    let talk = Talk::long(alice).await;
    talk.say("the quarterly numbers should reach Bob today").await;
    load(alice, &talk.id, "mcp%2Femail").await;
    poll_async("the example", async || messages(alice, "mcp%2Femail").await.pop()).await;
    ground.idle();
    let skills = MAIL.len() as u64;
    let made = |model: &str| {
        let count = |table: &str| ground.count(&format!("{table} where model = '{model}'"));
        (count("skill_embeddings"), count("memory_embeddings"), count("skill_examples"))
    };
    assert_eq!((made(BEFORE), made(AFTER)), ((skills, 1, 1), (0, 0, 0)));

    let after = serve(&ground, &folder, "default");
    let there = &alice.at(&after);
    // Workers of both models take jobs. Those of the old model find nothing to do.
    let look_again = || {
        if ground.count("graphile_worker._private_jobs") == 0 {
            ring(&ground, "embed_stale");
        }
    };
    look_again();
    tokio::join!(keep_asking(alice), keep_asking(there));
    poll("the vectors of the new model", || {
        look_again();
        (made(AFTER).0 == skills).then_some(())
    });
    before.terminate();
    assert!(before.wait(PATIENCE).success());
    poll("everything to have a vector of the new model", || {
        look_again();
        (made(AFTER) == (skills, 1, 1)).then_some(())
    });
    assert_eq!((made(BEFORE).0, made(BEFORE).1), (skills, 1), "of use to processes of the model before");

    // The old model does not know German.
    poll_async("a skill found by a message in another language", async || {
        let turn = find(there, "Schick Bob bitte eine E-Mail mit dem Bericht im Anhang").await;
        (names(&turn, "relevant").first()? == "mcp/email").then_some(())
    })
    .await;
    after.check_log();
}

#[tokio::test]
async fn processes_can_change_to_the_every_language_model() {
    let folder = setting("KNOWHOW_TEST_MODEL_DIR").filter(|folder| Path::new(folder).join("e5").exists());
    let Some(folder) = folder else {
        eprintln!("skipped: no model of every language; python3 -m tools.model every-language");
        return;
    };
    let ground = Ground::new();
    let mut before = serve(&ground, &folder, "default");
    let alice = &world(&before).await.alice;
    create_described(alice, &MAIL).await;
    ground.idle();
    let skills = MAIL.len() as u64;
    let made = |model: &str| ground.count(&format!("skill_embeddings where model = '{model}'"));
    assert_eq!((made(AFTER), made(EVERY)), (skills, 0));

    let after = serve(&ground, &folder, "every-language");
    let there = &alice.at(&after);
    tokio::join!(keep_asking(alice), keep_asking(there));
    before.terminate();
    assert!(before.wait(PATIENCE).success());
    poll("the vectors of every language", || {
        if ground.count("graphile_worker._private_jobs") == 0 {
            ring(&ground, "embed_stale");
        }
        (made(EVERY) == skills).then_some(())
    });
    poll_async("a skill found by a message in Hindi", async || {
        let turn = find(there, "बॉब को रिपोर्ट के साथ एक ईमेल भेज दो").await;
        (names(&turn, "relevant").first()? == "mcp/email").then_some(())
    })
    .await;
    after.check_log();
}

#[test]
fn an_unknown_model_is_refused_at_start() {
    let output = crate::service::knowhow(&["serve"]).env("KNOWHOW_MODEL", "gigantic").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("KNOWHOW_MODEL must be `default`, `minilm` or `every-language`, not \"gigantic\""), "{said}");
}
