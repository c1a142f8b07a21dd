//! A tenant's webhook, which notifies people of waiting submissions, and servers that misbehave.

use knowhow_testing::{FakeServer, Reply, Seen};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::background::{WITH_WORKER, chat, ring};
use crate::callers::{Caller, World, skill};
use crate::reviewing::{POISON, decide, saying};
use crate::service::poll_async;
use crate::sql::execute_at;
use crate::worker::{Ground, world};

const PRIVATE: (&str, &str) = ("KNOWHOW_PRIVATE_WEBHOOKS", "true");
const PATH: &str = "/v1/admin/webhook";

async fn put(admin: &Caller, body: Value) -> Value {
    admin.send(Method::PUT, PATH).json(&body).await.ok(200)
}

/// Starts a server with these replies, registers it as the tenant's webhook, and returns it with the secret.
async fn listen(admin: &Caller, replies: impl IntoIterator<Item = Reply>) -> (FakeServer, String) {
    let server = FakeServer::start(replies);
    let put = put(admin, json!({"url": server.url()})).await;
    assert_eq!((&put["url"], &put["failures"]), (&json!(server.url()), &json!(0)), "{put}");
    (server, put["secret"].as_str().unwrap().to_owned())
}

/// Proposes a change that waits for review.
async fn hold(alice: &Caller, name: &str) -> Value {
    let sending = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", "unknown");
    sending.json(&saying(name, POISON)).await.ok(202)
}

/// Returns whether a library of the webhook standard accepts the signature of the message.
fn verifies(message: &Seen, secret: &str) -> bool {
    let headers = message.headers.iter().filter(|(name, _)| name.starts_with("webhook-"));
    let headers: HeaderMap = headers
        .map(|(name, value)| (HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap()))
        .collect();
    Webhook::new(secret).unwrap().verify(message.text.as_bytes(), &headers).is_ok()
}

async fn one(server: &FakeServer, number: usize) -> Seen {
    poll_async("the message", async || server.seen().get(number - 1).cloned()).await
}

async fn entries(admin: &Caller, action: &str) -> usize {
    let log = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    log["items"].as_array().unwrap().iter().filter(|entry| entry["action"] == action).count()
}

#[tokio::test]
async fn a_waiting_submission_is_sent_once_signed_and_without_its_text() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER, PRIVATE]);
    let World { alice, admin, .. } = &world(&service).await;
    admin.get(PATH).await.refused(404, "not-found");
    let before = hold(alice, "before").await;
    let (server, secret) = listen(admin, [Reply::Body(Vec::new())]).await;
    let other = world(&service).await;
    let (elsewhere, _) = listen(&other.admin, [Reply::Body(Vec::new())]).await;
    assert!(admin.get(PATH).await.ok(200).get("secret").is_none());
    let waiting = hold(alice, "mail").await;
    let told = one(&server, 1).await;
    assert!(verifies(&told, &secret), "{:?}", told.headers);
    assert_eq!(
        (&told.headers["webhook-id"], &told.headers["content-type"]),
        (&waiting["id"].as_str().unwrap().to_owned(), &"application/json".to_owned())
    );
    let data = &told.body["data"];
    assert_eq!(told.body["type"], "submission.needs_review");
    assert_eq!(
        (&data["submission"], &data["skill"], &data["user"], &data["kind"], &data["tainted"]),
        (&waiting["id"], &json!("mail"), &json!("alice"), &json!("save"), &json!(true)),
        "{data}"
    );
    assert!(!told.text.contains("invoice"), "{}", told.text);
    // The same change is the same submission, and an approved submission needs no message.
    assert_eq!(hold(alice, "mail").await["id"], waiting["id"]);
    alice.post("/v1/submissions", skill("plan")).await.ok(201);
    ground.idle();
    assert_eq!(server.seen().len(), 1);
    assert!(admin.get(PATH).await.ok(200)["delivered_at"].is_string());
    // After a rotation messages are signed with both secrets for a day.
    let rotated = put(admin, json!({"url": server.url(), "rotate_secret": true})).await;
    let newer = rotated["secret"].as_str().unwrap();
    assert_ne!(newer, secret);
    hold(alice, "post").await;
    let told = one(&server, 2).await;
    assert!(verifies(&told, newer) && verifies(&told, &secret));
    assert!(put(admin, json!({"url": server.url()})).await.get("secret").is_none());
    execute_at(&ground.owner, "update webhooks set previous_until = now()");
    hold(alice, "cards").await;
    let told = one(&server, 3).await;
    assert!(verifies(&told, newer) && !verifies(&told, &secret));
    admin.delete(PATH).await.empty(204);
    hold(alice, "gone").await;
    ground.idle();
    assert_eq!(server.seen().len(), 3);
    assert!(elsewhere.seen().is_empty(), "another tenant's");
    assert!(server.seen().iter().all(|seen| !seen.text.contains(before["id"].as_str().unwrap())));
    assert_eq!((entries(admin, "webhook.put").await, entries(admin, "webhook.delete").await), (3, 1));
    service.check_log();
}

#[tokio::test]
async fn a_failed_message_is_retried_unless_the_submission_is_decided() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER, PRIVATE]);
    let World { alice, admin, .. } = &world(&service).await;
    let failures = [Reply::Status(500, "", ""), Reply::Close, Reply::Body(Vec::new())];
    let (server, secret) = listen(admin, failures).await;
    let waiting = hold(alice, "mail").await;
    one(&server, 1).await;
    let failed = poll_async("the failure", async || {
        let webhook = admin.get(PATH).await.ok(200);
        (webhook["failures"] != 0).then_some(webhook)
    })
    .await;
    assert!(failed["last_error"].as_str().unwrap().starts_with("answered 500"), "{failed}");
    ground.idle();
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|told| told.headers["webhook-id"] == waiting["id"].as_str().unwrap()));
    assert!(seen.iter().all(|told| verifies(told, &secret)));
    let webhook = admin.get(PATH).await.ok(200);
    assert_eq!((&webhook["failures"], webhook["last_error"].is_null()), (&json!(0), true), "{webhook}");
    // No message is sent about a submission that has been decided.
    server.replies([Reply::Status(503, "", "")]);
    let decided = hold(alice, "post").await;
    one(&server, 4).await;
    decide(admin, &decided, "reject", json!({"comment": "no"})).await.ok(200);
    server.replies([Reply::Body(Vec::new())]);
    let told = server.seen().len();
    ground.idle();
    assert!(server.seen().len() <= told + 1, "it may have been on its way once more");
    hold(alice, "cards").await;
    ground.idle();
    assert_eq!(server.seen().last().unwrap().body["data"]["skill"], "cards");
}

#[tokio::test]
async fn no_message_goes_to_a_forbidden_address() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let World { alice, admin, .. } = &world(&service).await;
    let inside = FakeServer::start([Reply::Body(Vec::new())]);
    for url in [
        &inside.url(),
        "https://127.0.0.1/",
        "https://localhost/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://user:secret@hooks.example.com/",
        "https://hooks.example.com:22/",
        "ftp://hooks.example.com/",
        "nothing",
    ] {
        admin.send(Method::PUT, PATH).json(&json!({"url": url})).await.invalid("/url", "must");
    }
    admin.get(PATH).await.refused(404, "not-found");
    // An address registered under other settings is checked again before each message.
    put(admin, json!({"url": "https://hooks.example.invalid/secret-path"})).await;
    execute_at(&ground.owner, &format!("update webhooks set url = '{}'", inside.url()));
    let tried = admin.post("/v1/admin/webhook/test", json!({})).await.ok(200);
    assert_eq!(tried["delivered"], false);
    assert!(tried["error"].as_str().unwrap().contains("must be an https URL"), "{tried}");
    hold(alice, "mail").await;
    poll_async("the failure", async || {
        let webhook = admin.get(PATH).await.ok(200);
        (webhook["failures"].as_i64() > Some(1)).then_some(())
    })
    .await;
    assert!(inside.seen().is_empty());
    // The path of an address may be a secret.
    let log = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    assert!(!log.to_string().contains("secret-path") && log.to_string().contains("hooks.example.invalid"), "{log}");
    assert!(!service.log().contains("secret-path"));
}

#[tokio::test]
async fn a_webhook_can_be_tested_and_redirects_are_not_followed() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER, PRIVATE]);
    let World { slug, admin, .. } = &world(&service).await;
    admin.post("/v1/admin/webhook/test", json!({})).await.refused(404, "not-found");
    let other = FakeServer::start([Reply::Body(Vec::new())]);
    let (server, secret) = listen(admin, [Reply::Body(Vec::new())]).await;
    let tried = admin.post("/v1/admin/webhook/test", json!({})).await.ok(200);
    assert_eq!(tried, json!({"delivered": true}));
    let told = one(&server, 1).await;
    assert!(verifies(&told, &secret));
    assert_eq!((&told.body["type"], &told.body["data"]), (&json!("webhook.test"), &json!({"tenant": slug})));
    let location: &'static str = format!("Location: {}\r\n", other.url()).leak();
    server.replies([Reply::Status(307, location, "")]);
    let tried = admin.post("/v1/admin/webhook/test", json!({})).await.ok(200);
    assert!(tried["error"].as_str().unwrap().contains("redirects are not followed"), "{tried}");
    server.replies([Reply::Hang]);
    let tried = admin.post("/v1/admin/webhook/test", json!({})).await.ok(200);
    assert_eq!(tried, json!({"delivered": false, "error": "no answer within 5 s"}));
    assert!(other.seen().is_empty());
    assert_eq!(entries(admin, "webhook.test").await, 3);
}

/// While the model reviews a submission, no message is sent. The message is sent once the submission waits for a
/// person.
#[tokio::test]
async fn a_submission_that_the_model_leaves_to_people_is_sent_then() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Hang]);
    let service = ground.serve(&[chat(&model.url()).as_slice(), &[PRIVATE]].concat());
    let World { alice, admin, .. } = &world(&service).await;
    let (server, _) = listen(admin, [Reply::Body(Vec::new())]).await;
    let late = alice.post("/v1/submissions", skill("late")).await.ok(202);
    assert_eq!(late["state"], "checking");
    poll_async("the model to be asked", async || (!model.seen().is_empty()).then_some(())).await;
    assert!(server.seen().is_empty());
    execute_at(&ground.owner, "update submissions set created_at = created_at - interval '11 minutes'");
    ring(&ground, "review_overdue");
    assert_eq!(one(&server, 1).await.body["data"]["submission"], late["id"]);
    model.replies([Reply::says("no opinion")]);
    let doubted = alice.post("/v1/submissions", skill("doubted")).await.ok(202);
    assert_eq!(one(&server, 2).await.body["data"]["submission"], doubted["id"]);
}

/// The message about the new submission may still be waiting when the model answers.
#[tokio::test]
async fn a_models_opinion_on_a_waiting_submission_sends_no_new_message() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Repeats(r#"{"key": "$KEY", "verdict": "doubt"}"#.into())]);
    let url = model.url();
    let settings = [chat(&url).as_slice(), &[PRIVATE]].concat();
    let service = ground.serve(&[settings.as_slice(), &[("KNOWHOW_WITH_WORKER", "false")]].concat());
    let World { alice, admin, .. } = &world(&service).await;
    let (server, _) = listen(admin, [Reply::Body(Vec::new())]).await;
    let waiting = hold(alice, "mail").await;
    let taken = "delete from graphile_worker._private_jobs where key like '%:notify_submission:%'";
    assert_eq!(execute_at(&ground.owner, taken), 1);
    let _worker = ground.work(&settings);
    poll_async("the model's word", async || {
        let read = alice.get(&format!("/v1/submissions/{}", waiting["id"].as_str().unwrap())).await.ok(200);
        read["checks"].as_array().unwrap().iter().any(|check| check["step"] == "reviewer").then_some(())
    })
    .await;
    ground.idle();
    assert!(server.seen().is_empty());
}
