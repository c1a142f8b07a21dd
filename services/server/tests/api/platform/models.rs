//! Available, missing and unusable models: the service works without them and reports their state.

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::callers::World;
use crate::cli::doctor::Ground;
use crate::cli::setup::outcome;
use crate::raw;
use crate::service::{Service, knowhow, migrated};
use crate::sessions::recall::with_embeddings;
use crate::talk::Talk;

fn ready(service: &Service) -> Value {
    let answer = raw::try_get(&service.address, "/readyz").unwrap();
    assert_eq!(answer.status, 200);
    serde_json::from_str::<Value>(&answer.body).unwrap()["models"].clone()
}

/// Returns the warnings logged by crates of this project. Libraries also warn about slow statements.
fn warnings(service: &Service) -> Vec<String> {
    let log = service.log();
    let is_own = |line: &&str| line.contains(r#""level":"WARN""#) && line.contains(r#""target":"knowhow"#);
    log.lines().filter(is_own).map(str::to_owned).collect()
}

/// Returns the output of `knowhow doctor` on a separate database, and whether it succeeded.
fn diagnosis(settings: &[(&str, &str)]) -> (String, bool) {
    let ground = Ground::make();
    let (is_well, said) = outcome(&["doctor"], &[settings, &ground.settings()].concat());
    (said, is_well)
}

#[test]
fn without_models_words_and_extracts_are_used() {
    let service = Service::start(&[]);
    assert_eq!(ready(&service), json!({ "embeddings": "none", "chat": "none" }));
    let warnings = warnings(&service);
    assert!(warnings.len() == 1 && warnings[0].contains("found by words only"), "{warnings:?}");
    let (said, is_well) = diagnosis(&[]);
    assert!(is_well && said.contains("embeddings: none;") && said.contains("chat model: none;"), "{said}");
}

#[test]
fn an_unusable_model_folder_is_reported() {
    let settings = [("KNOWHOW_MODEL_DIR", "/nonexistent")];
    let service = Service::start(&settings);
    assert_eq!(ready(&service)["embeddings"], "broken");
    let warnings = warnings(&service);
    assert!(warnings.len() == 1 && warnings[0].contains("/nonexistent/config.json is missing"), "{warnings:?}");
    let (said, is_well) = diagnosis(&settings);
    assert!(!is_well && said.contains("wrong: /nonexistent/config.json is missing"), "{said}");
}

#[test]
fn model_servers_count_as_ready_until_they_are_asked() {
    let good = FakeServer::start([Reply::Vectors(384), Reply::says("Yes.")]);
    let bad = FakeServer::start([Reply::Vectors(3), Reply::Status(401, "", "sk-secret")]);
    let settings = |url| {
        [
            ("KNOWHOW_MODEL_DIR", "/nonexistent"),
            ("KNOWHOW_EMBEDDINGS_URL", url),
            ("KNOWHOW_EMBEDDINGS_KEY", "sk-secret"),
            ("KNOWHOW_EMBEDDINGS_MODEL", "embed-it"),
            ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "384"),
            ("KNOWHOW_CHAT_URL", url),
            ("KNOWHOW_CHAT_KEY", "sk-secret"),
            ("KNOWHOW_CHAT_MODEL", "chat-it"),
        ]
    };
    let (good, bad) = (good.url(), bad.url());
    let service = Service::start(&settings(&bad));
    assert_eq!(ready(&service), json!({ "embeddings": "ready", "chat": "ready" }));
    assert!(warnings(&service).is_empty() && !service.log().contains("sk-secret"));
    let (said, is_well) = diagnosis(&settings(&good));
    assert!(is_well && said.contains("embeddings: embed-it@384, 384 numbers\nchat model: chat-it\n"), "{said}");
    let (said, is_well) = diagnosis(&settings(&bad));
    assert!(!is_well && !said.contains("sk-secret"), "{said}");
    assert!(said.contains("a vector of 3 numbers instead of 384") && said.contains("401: Unauthorized"), "{said}");
}

/// Turns with the default deadline are enough to detect that the server hangs. Turns with a shorter deadline do not
/// count.
#[tokio::test]
async fn a_hanging_model_server_is_paused() {
    let fake = FakeServer::start([Reply::Hang]);
    let service = with_embeddings(&fake);
    let World { alice, .. } = &World::new().await;
    let talk = Talk { who: alice.at(&service), ..Talk::long(alice).await };
    // Warms up the process, so that only the model server causes delays.
    talk.say("👍").await;
    for turn in 0..12 {
        assert_eq!(ready(&service)["embeddings"], "ready");
        let mut body = json!({ "message": format!("striped horses, as many as {turn} of them") });
        if turn < 7 {
            body["deadline_ms"] = json!(60);
        }
        assert_eq!(talk.turn(body).await.ok(200)["degraded"], json!(["embedding"]));
    }
    assert_eq!(ready(&service)["embeddings"], "paused");
    let asked = fake.seen().len();
    assert_eq!(talk.say("are there any more striped horses?").await["degraded"], json!(["embedding"]));
    assert_eq!(fake.seen().len(), asked);
}

#[test]
fn an_invalid_model_setting_prevents_the_start() {
    migrated();
    for settings in [
        &[("KNOWHOW_CHAT_URL", "localhost:8000"), ("KNOWHOW_CHAT_MODEL", "chat-it")][..],
        &[("KNOWHOW_EMBEDDINGS_URL", "http://localhost"), ("KNOWHOW_EMBEDDINGS_MODEL", "embed-it")],
    ] {
        let output = knowhow(&["serve"]).envs(settings.iter().copied()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("KNOWHOW_") && said.contains("e.g."), "{said}");
        assert!(diagnosis(settings).0.contains("wrong: "));
    }
}
