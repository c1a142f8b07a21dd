//! Other callers send a request for every operation, with alice's names and ids. The test fails if a documented
//! operation is missing from the list.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use super::stranger_statuses::GOLDEN;
use super::stranger_steps::{Body, Step, walk, walk_of_dreams};
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::examples::learned;
use crate::exchange::zip;
use crate::jobs;

/// Passages of alice's data.
pub const HERS: [&str; 9] = [
    "somebody asks",
    "First this",
    "then this",
    "alpha",
    "the attic",
    "the cellar",
    "night trains",
    "Call me Al",
    "parrots",
];

/// The key of alice's session. Other users may have a session with the same key.
pub(super) const STREAM: &str = "chat-alice";

/// Names and ids for the requests.
#[derive(Clone)]
pub struct Names {
    /// A skill's name or id.
    pub skill: String,
    /// A session's id.
    pub session: String,
    pub(super) memory: String,
    pub(super) example: String,
    pub(super) tenant: String,
    pub(super) user: String,
    pub(super) issuer: String,
    pub(super) key: String,
    pub(super) archived: String,
    pub(super) submission: String,
    pub(super) dream: String,
    pub(super) job: i64,
}

impl Names {
    /// Returns the same names with another skill and another submission.
    pub fn about(&self, skill: &str, submission: &str) -> Self {
        Self { skill: skill.to_owned(), submission: submission.to_owned(), ..self.clone() }
    }
}

async fn take(caller: &Caller, step: &Step) -> Answer {
    let (name, method, path, body) = step;
    let sending = caller.send(method.clone(), path);
    match body {
        Body::None => sending.await,
        Body::Json(value) => sending.json(value).await,
        Body::Once(value) => sending.header("Idempotency-Key", name).json(value).await,
        Body::Bytes => sending.body("application/octet-stream", "stolen").await,
        Body::Form => sending.files(&[("x.zip", &zip(&[("README.md", b"a stray")]))]).await,
    }
}

/// Calls an operation with names and ids that do not exist.
pub async fn take_missing(caller: &Caller, operation: &str) -> Answer {
    let steps = walk(&nobody());
    take(caller, steps.iter().find(|step| step.0 == operation).unwrap()).await
}

/// Sends every request as this caller, and returns the answers.
pub async fn take_all(caller: &Caller, names: &Names) -> Vec<(&'static str, Answer)> {
    let mut answers = Vec::new();
    for step in walk(names) {
        answers.push((step.0, take(caller, &step).await));
    }
    answers
}

async fn first_id(admin: &Caller, list: &str) -> String {
    admin.get(&format!("/v1/admin/{list}")).await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned()
}

/// Creates data of every kind: a skill of alice with three versions and a file, a deleted skill, a session, a memory,
/// a soul, a key and more.
pub async fn furnish(world: &World) -> (Names, String) {
    let alice = &world.alice;
    let id = alice.create(skill("mcp/plan")).await["id"].as_str().unwrap().to_owned();
    alice.replace("mcp/plan", "then that", "then this").await.ok(200);
    let file = "/v1/skills/mcp%2Fplan/resources/references/a.md";
    alice.send(Method::PUT, file).body("text/plain", "alpha").await.ok(200);
    alice.create_all(&["gone"]).await;
    alice.delete("/v1/skills/gone").await.empty(204);
    world.backend().await;
    world.admin.put("/v1/directives/summary", json!({"text": "Write of parrots."})).await.ok(200);
    let (session, memory) = talk(alice).await;
    let load = alice.get("/v1/skills/mcp%2Fplan").header("Knowhow-Session", &session);
    load.await.ok(200);
    let waiting =
        json!({"name": "waiting", "description": "Waits. Use never.", "content": "# Waits\n\nIn the attic.\n"});
    let waiting = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", "nobody-knows-it").json(&waiting);
    let waiting = waiting.await.ok(202)["id"].take();
    let dream = alice.post("/v1/dreams", json!({})).await.ok(202)["items"][0]["id"].take();
    let example = learned(alice, "mcp/plan", &["tidy up the attic today"]).await[0]["id"].take();
    let names = Names {
        skill: "mcp/plan".into(),
        session,
        memory,
        example: example.as_str().unwrap().to_owned(),
        tenant: world.slug.clone(),
        user: "alice".into(),
        issuer: first_id(&world.admin, "issuers").await,
        key: first_id(&world.admin, "keys").await,
        archived: first_id(&world.admin, "archive").await,
        submission: waiting.as_str().unwrap().to_owned(),
        dream: dream.as_str().unwrap().to_owned(),
        job: jobs::enqueue(world, "alice").await,
    };
    (names, id)
}

/// Holds a conversation of alice, and returns its id and the id of a memory.
async fn talk(alice: &Caller) -> (String, String) {
    alice.put("/v1/soul", json!({"text": "Call me Al."})).await.ok(200);
    let memory = json!({"content": "Prefers night trains", "core": true});
    let memory = alice.post("/v1/memories", memory).await.ok(201)["id"].take();
    let session = alice.post("/v1/sessions", json!({"key": STREAM})).await.ok(201)["id"].take();
    let path = format!("/v1/sessions/{}", session.as_str().unwrap());
    alice.post(&format!("{path}/turns"), json!({"message": "tidy up the attic today"})).await.ok(200);
    alice.post(&format!("{path}/reply"), json!({"message": "it is in the cellar"})).await.ok(200);
    (session.as_str().unwrap().to_owned(), memory.as_str().unwrap().to_owned())
}

/// Gives another user a session, a snapshot and a dream, so that later requests create none. The dream's job is in
/// the list of the tenant's jobs from then on.
pub async fn settle(stranger: &Caller) {
    take(stranger, &walk_of_dreams(&nobody())[0]).await.ok(202);
    stranger.post("/v1/sessions", json!({"key": STREAM})).await.ok(201);
    assert!(stranger.names().await.is_empty());
}

fn nobody() -> Names {
    let id = || uuid::Uuid::now_v7().to_string();
    Names {
        skill: "mcp/none".into(),
        session: id(),
        memory: id(),
        example: id(),
        tenant: "no-such-tenant".into(),
        user: "nobody".into(),
        issuer: id(),
        key: id(),
        archived: id(),
        submission: id(),
        dream: id(),
        job: i64::MAX,
    }
}

/// Reads all data of alice and her tenant.
pub async fn inventory(world: &World) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for path in [
        "/v1/skills",
        "/v1/skills/mcp%2Fplan?peek=true",
        "/v1/skills/mcp%2Fplan/versions",
        "/v1/skills/mcp%2Fplan/examples",
        "/v1/skills/export?examples=true",
    ] {
        all.push(world.alice.get(path).await.body);
    }
    for list in ["users", "issuers", "keys", "archive", "jobs"] {
        all.push(world.admin.get(&format!("/v1/admin/{list}")).await.body);
    }
    all.push(world.admin.get("/v1/directives/summary").await.body);
    all.push(world.admin.get("/v1/admin/audit?limit=200&user=alice").await.body);
    // The tenant's totals also grow with the requests of others.
    let mut tenant = world.operator.get(&format!("/v1/admin/tenants/{}", world.slug)).await.ok(200);
    for grows in ["stored", "used"] {
        tenant.as_object_mut().unwrap().remove(grows).unwrap();
    }
    all.push(tenant.to_string().into_bytes());
    let sessions = world.alice.get("/v1/sessions").await;
    let id = sessions.json()["items"][0]["id"].take();
    let path = format!("/v1/sessions/{}", id.as_str().unwrap());
    let [turn, messages] = ["/turns/1", "/messages"].map(|rest| format!("{path}{rest}"));
    for path in [
        &path,
        &turn,
        &messages,
        "/v1/memories",
        "/v1/soul/versions",
        "/v1/conversations",
        "/v1/snapshot",
        "/v1/dreams",
        "/v1/learning",
    ] {
        all.push(world.alice.get(path).await.body);
    }
    all.push(sessions.body);
    all
}

/// Returns the parts of an answer that must not distinguish another user's data from missing data.
fn telling(answer: &Answer) -> (u16, Vec<(String, Vec<u8>)>, String) {
    let own = answer.header("x-request-id").to_owned();
    let mut headers: Vec<(String, Vec<u8>)> = answer
        .headers
        .iter()
        // The connection is closed if the answer was sent before the whole body was read.
        .filter(|(name, _)| !["x-request-id", "date", "connection"].contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    headers.sort();
    let mut text = answer.text().replace(&own, "ID");
    // A new snapshot expires later, and a session that is opened again begins later.
    if let Ok(json) = serde_json::from_str::<Value>(&text) {
        let moments = [&json["expires_at"], &json["started_at"], &json["snapshot"]["expires_at"]];
        for moment in moments.into_iter().filter_map(Value::as_str) {
            text = text.replace(moment, "LATER");
            // A time with whole milliseconds has fewer digits, so lengths may differ. The text itself is compared.
            headers.retain(|(name, _)| name != "content-length");
        }
    }
    (answer.status, headers, text)
}

#[tokio::test]
async fn no_caller_reads_or_changes_another_users_data() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let (theirs, id) = furnish(&world).await;
    let by_id = Names { skill: id, ..theirs.clone() };
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        settle(stranger).await;
    }
    let bad = world.expired();
    let strangers = [&world.anonymous, &bad, &world.bob, &elsewhere.alice, &elsewhere.admin];
    let before = inventory(&world).await;
    let mut seen: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for caller in strangers {
        for ((step, twin), missing) in walk(&theirs).iter().zip(walk(&by_id)).zip(walk(&nobody())) {
            let answer = take(caller, step).await;
            let theirs = HERS.into_iter().chain([theirs.session.as_str()]).find(|words| answer.text().contains(words));
            assert!(theirs.is_none(), "{theirs:?}: {answer}");
            seen.entry(step.0).or_default().push(answer.status);
            assert_eq!(telling(&answer), telling(&take(caller, &missing).await), "{}", step.0);
            assert_eq!(telling(&answer), telling(&take(caller, &twin).await), "{}", step.0);
        }
    }
    assert_eq!(inventory(&world).await, before);
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        assert!(stranger.names().await.is_empty());
    }
    for step in walk(&theirs) {
        seen.entry(step.0).or_default().push(take(&world.read_only, &step).await.status);
    }
    let golden: BTreeMap<&str, Vec<u16>> = GOLDEN.iter().map(|(name, row)| (*name, row.to_vec())).collect();
    for (operation, row) in &seen {
        assert_eq!(Some(row), golden.get(operation), "{operation}");
    }
    assert_eq!(inventory(&world).await[2..], before[2..]);
    assert_eq!(walked(&seen), documented(&world.anonymous).await);
}

fn walked(seen: &BTreeMap<&str, Vec<u16>>) -> BTreeSet<String> {
    seen.keys().map(|operation| (*operation).to_owned()).collect()
}

async fn documented(anybody: &Caller) -> BTreeSet<String> {
    let document = anybody.get("/openapi.json").await.ok(200);
    let items = document["paths"].as_object().unwrap().values();
    items
        .flat_map(|item| item.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap().to_owned())
        .collect()
}
