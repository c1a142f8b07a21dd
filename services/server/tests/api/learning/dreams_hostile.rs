//! Hostile and broken answers of a chat model over HTTP, with dreams that apply everything they may. Protected skills
//! stay unchanged, no skill is lost, no run gets stuck, and later runs succeed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use knowhow_testing::Reply;
use serde::Deserialize;
use serde_json::{Value, json};

use super::dreams_stage::{Dreamer, Stage, plan};
use crate::sql::execute_at;

#[derive(Deserialize)]
struct Suite {
    skills: Vec<Given>,
    answers: Vec<Case>,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    source: String,
    pinned: bool,
    description: String,
    body: String,
}

#[derive(Clone, Deserialize)]
struct Case {
    what: String,
    /// The expected error, or the expected outcome of each operation as one letter.
    is: String,
    pass: Option<String>,
    answer: Value,
}

impl Case {
    /// Returns the response body of the model's server.
    fn body(&self) -> Vec<u8> {
        let message = json!({"role": "assistant", "content": self.text()});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).to_string().into_bytes()
    }

    fn text(&self) -> String {
        match &self.answer {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(part).collect(),
            plan => plan.to_string(),
        }
    }
}

fn part(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        repeated => repeated["repeat"].as_str().unwrap().repeat(repeated["times"].as_u64().unwrap() as usize),
    }
}

fn suite() -> Suite {
    let mut suite: Suite =
        serde_json::from_str(include_str!("../../../../domain/src/learning/dream/hostile.json")).unwrap();
    suite.answers.extend(unstorable());
    suite
}

/// Returns answers that parse but contain text that Postgres cannot store.
fn unstorable() -> Vec<Case> {
    let archive = |reason: &str, into: &str| json!({"op": "archive", "name": "ship-web", "version": 1, "absorbed_into": into, "reason": reason});
    let create = |body: &str, evidence: &str| json!({"op": "create", "name": "new-one", "description": "Does it.", "body": body, "evidence": ["s1", evidence]});
    let long = "z".repeat(900_000);
    let case = |what: &str, pass: Option<&str>, op: Value| Case {
        what: what.to_owned(),
        is: "r".to_owned(),
        pass: pass.map(str::to_owned),
        answer: json!({ "ops": [op] }),
    };
    let edits = json!([{"old_string": "wait 30s", "new_string": "wait\0 30s"}]);
    vec![
        case("a zero byte in a reason", None, archive("because\0of it", "nowhere")),
        case(
            "a zero byte in an edit",
            Some("optimize"),
            json!({"op": "patch", "name": "mine", "version": 1, "edits": edits}),
        ),
        case("a zero byte in a body", Some("gaps"), create("Ask, then\0do it.", "s2")),
        case("a zero byte in the evidence", Some("gaps"), create("Ask, then do it.", "s2\0")),
        case("a reason of nearly a megabyte", None, archive(&long, "nowhere")),
    ]
}

/// Creates a user with the suite's skills, all of them old, and two conversations with the same request.
async fn cast(stage: &Stage, name: &str, skills: &[Given]) -> Dreamer {
    let user = stage.user(name).await;
    for given in skills {
        let writer = if given.source == "agent" { &user.agent } else { &user.who };
        // Two skills share a word that gives them similar vectors.
        let kin = if given.name.ends_with("-web") { " For kinweb." } else { "" };
        let description = format!("{}{kin}", given.description);
        writer.create(json!({"name": given.name, "description": description, "content": given.body})).await;
        if given.pinned {
            user.who.put(&format!("/v1/skills/{}/fields", given.name), json!({"pinned": true})).await.ok(200);
        }
        let of = format!("{} and name = '{}'", stage.of(&user), given.name);
        let set = format!(
            "update skills t set source = '{}', created_at = now() - interval '30 days' where {of}",
            given.source
        );
        assert_eq!(execute_at(&stage.ground.owner, &set), 1);
    }
    // A tainted skill, which the questions do not show.
    user.agent.create(json!({"name": "hidden", "description": "Says how.", "content": "Hidden.\n"})).await;
    let of = format!("{} and name = 'hidden'", stage.of(&user));
    assert_eq!(execute_at(&stage.ground.owner, &format!("update skills t set tainted = true where {of}")), 1);
    for (days, message) in [(3, "please kinrequest"), (2, "do kinrequest for me")] {
        stage.talked(&user, days, message).await;
    }
    stage.idle(&user).await;
    user
}

fn is_protected(given: &Given) -> bool {
    given.pinned || given.source != "agent"
}

async fn texts(user: &Dreamer, skills: &[Given]) -> Vec<(String, Value)> {
    let mut texts = Vec::new();
    let protected = skills.iter().filter(|given| is_protected(given)).map(|given| given.name.as_str());
    for name in protected.chain(["hidden"]) {
        let skill = user.who.peek(name).await;
        texts.push((user.raw(name).await, json!([skill["name"], skill["version"], skill["pinned"], skill["source"]])));
    }
    texts
}

/// A case and the response body with its answer.
struct Written {
    case: Case,
    body: Vec<u8>,
}

/// Runs a dream that gets this answer. Returns whether it applied no operation.
async fn put(stage: &Stage, user: &Dreamer, skills: &[Given], written: &Written) -> bool {
    let Written { case, body } = written;
    let what = &case.what;
    stage.forget_runs(user);
    let asked = Arc::new(Mutex::new(0));
    let (counted, answer) = (asked.clone(), body.clone());
    stage.says(user, move |_| {
        *counted.lock().unwrap() += 1;
        Reply::Body(answer.clone())
    });
    let before = texts(user, skills).await;
    let run = stage.dream(user, case.pass.as_deref().unwrap_or("consolidate")).await;
    assert_eq!(*asked.lock().unwrap(), 1, "{what}: {run:#}");
    assert_eq!(texts(user, skills).await, before, "{what}");
    // Each skill exists, or its name returns the skill that absorbed it.
    for given in skills {
        let found = user.who.peek(&given.name).await;
        assert!(found["name"] == given.name || found["moved_from"] == given.name, "{what}: {found}");
    }
    let state = run["state"].as_str().unwrap();
    let counts = |outcome: &str| run["counts"][outcome].as_i64().unwrap();
    let is_read = case.is.chars().all(|letter| "awr".contains(letter));
    match is_read {
        false => assert_eq!((state, counts("refused")), ("failed", 0), "{what}: {run:#}"),
        true if case.is.is_empty() => assert_eq!(state, "skipped", "{what}: {run:#}"),
        true => {
            assert_eq!(run["ops"].as_array().unwrap().len(), case.is.len(), "{what}: {run:#}");
            if case.is.chars().all(|letter| letter == 'r') {
                assert_eq!((state, counts("refused")), ("failed", case.is.len() as i64), "{what}: {run:#}");
            }
            assert!(["failed", "planned", "partly", "applied"].contains(&state), "{what}: {run:#}");
        }
    }
    counts("applied") == 0
}

const LANES: usize = 4;

#[tokio::test]
async fn no_answer_changes_protected_skills_or_loses_a_skill() {
    let Suite { skills, answers } = suite();
    assert!(answers.len() >= 76);
    // Builds the bodies once, because some are large.
    let answers: Vec<Written> = answers.into_iter().map(|case| Written { body: case.body(), case }).collect();
    let stage = Stage::new().await;
    let lane = async |lane: usize| {
        let mut user = cast(&stage, &format!("u{lane}"), &skills).await;
        let mut changed = 0;
        for (at, case) in answers.iter().enumerate().filter(|(at, _)| at % LANES == lane) {
            if !put(&stage, &user, &skills, case).await {
                // The next case needs a user with all skills.
                user = cast(&stage, &format!("u{lane}-{at}"), &skills).await;
                changed += 1;
            }
        }
        changed
    };
    let changed: usize = join_all((0..LANES).map(lane)).await.iter().sum();
    assert!(changed > 0, "what is allowed is applied");
    stage.service.check_log();
}

/// Returns a merge of the two similar skills.
fn merge() -> Value {
    json!([{
        "op": "merge", "into": "deploy-web", "sources": [{"name": "deploy-web", "version": 1}, {"name": "ship-web", "version": 1}],
        "description": "Says how.", "body": "Run `npm ci` and `npm run build`, then wait 30s.", "reason": "both say so",
    }])
}

#[tokio::test]
async fn a_broken_answer_fails_its_run_and_three_failures_pause_the_pass() {
    let stage = Stage::new().await;
    let Suite { skills, .. } = suite();
    let (user, other) = (cast(&stage, "troubled", &skills).await, cast(&stage, "other", &skills).await);
    let before = texts(&user, &skills).await;
    let state = async |user: &Dreamer| {
        let learning = user.who.get("/v1/learning").await.ok(200);
        let pass =
            learning["passes"].as_array().unwrap().iter().find(|pass| pass["pass"] == "consolidate").unwrap().clone();
        (pass["failures"].as_i64().unwrap(), !pass["paused_at"].is_null())
    };
    let cut = r#"{"choices": [{"message": {"content": "{\"ops\": []"}, "finish_reason": "length"}]}"#;
    let replies = [
        Reply::Huge,
        Reply::body("garbage"),
        Reply::body("{}"),
        Reply::body(cut),
        Reply::Status(400, "", "context length"),
    ];
    for (at, reply) in replies.into_iter().enumerate() {
        stage.forget_runs(&user);
        stage.says(&user, move |_| reply.clone());
        let run = stage.dream(&user, "consolidate").await;
        assert_eq!((&run["state"], &run["ops"]), (&json!("failed"), &json!([])), "{at}: {run:#}");
        assert!(run["reason"].as_str().unwrap().contains("gave no answer"), "{at}: {run:#}");
        let failures = i64::try_from(at).unwrap() + 1;
        assert_eq!(state(&user).await, (failures, failures >= 3));
    }
    assert_eq!(texts(&user, &skills).await, before);
    // Dreams of other users succeed as soon as the client calls the model again.
    stage.says(&other, |_| plan(&merge()));
    crate::service::poll_async("the model to be asked again", async || {
        stage.forget_runs(&other);
        (stage.dream(&other, "consolidate").await["state"] == "applied").then_some(())
    })
    .await;
    // A user can resume a paused pass. A requested run also runs while the pass is paused, and its plan resumes the
    // pass.
    stage.forget_runs(&user);
    assert!(state(&user).await.1);
    user.who.put("/v1/learning", json!({"resume": ["consolidate"]})).await.ok(200);
    assert_eq!(state(&user).await, (0, false));
    stage.set(&user, "dream_passes", "failures = 3, paused_at = now()");
    stage.says(&user, |_| plan(&merge()));
    let run = stage.dream(&user, "consolidate").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    assert_eq!(state(&user).await, (0, false));
    stage.service.check_log();
}

/// The run waits for the model and then asks it. No failure is counted, no pass is paused, and no token is taken.
#[tokio::test]
async fn an_outage_of_the_model_delays_a_run_and_is_no_failure() {
    let stage = Stage::new().await;
    let Suite { skills, .. } = suite();
    let user = cast(&stage, "patient", &skills).await;
    let learning = async || {
        let learning = user.who.get("/v1/learning").await.ok(200);
        (learning["passes"][1]["failures"].clone(), learning["tokens_left_today"].as_i64().unwrap())
    };
    for reply in [Reply::Status(500, "", ""), Reply::Half, Reply::Hang] {
        stage.forget_runs(&user);
        let before = learning().await.1;
        let is_down = Arc::new(AtomicBool::new(true));
        let down = is_down.clone();
        stage.says(&user, move |_| if down.load(Ordering::SeqCst) { reply.clone() } else { plan(&json!([])) });
        let started = user.who.post("/v1/dreams", json!({"passes": ["consolidate"]})).await.ok(202);
        let id = started["items"][0]["id"].as_str().unwrap().to_owned();
        let waiting = crate::service::poll_async("the outage", async || {
            let run = user.who.get(&format!("/v1/dreams/{id}")).await.ok(200);
            run["reason"].is_string().then_some(run)
        })
        .await;
        assert_eq!((&waiting["state"], &waiting["tokens"]), (&json!("queued"), &json!(0)), "{waiting:#}");
        assert!(waiting["reason"].as_str().unwrap().ends_with("it will be tried again"), "{waiting:#}");
        assert_eq!(learning().await, (json!(0), before));
        is_down.store(false, Ordering::SeqCst);
        let run = stage.ended(&user, &id).await;
        assert_eq!((&run["state"], &run["reason"]), (&json!("skipped"), &json!("there are no proposals")), "{run:#}");
        assert_eq!(learning().await.0, 0);
    }
    // A run that has waited for hours ends without a failure.
    stage.forget_runs(&user);
    stage.says(&user, |_| Reply::Status(503, "", ""));
    let started = user.who.post("/v1/dreams", json!({"passes": ["consolidate"]})).await.ok(202);
    stage.set(&user, "dream_runs", "created_at = t.created_at - interval '4 hours'");
    let run = stage.ended(&user, started["items"][0]["id"].as_str().unwrap()).await;
    assert!(run["state"] == "skipped" && run["reason"].as_str().unwrap().contains("gave no answer"), "{run:#}");
    assert_eq!(learning().await.0, 0);
    stage.service.check_log();
}
