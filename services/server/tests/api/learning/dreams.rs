//! Dreams with a fake chat model: they create, merge, improve and link skills, and every change can be undone.

use knowhow_testing::{FakeServer, Reply, Seen};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::background::{chat, ring};
use crate::callers::{Caller, World};
use crate::service::{Service, login_url_of, poll_async, setting};
use crate::sql::execute_at;
use crate::talk::Talk;
use crate::worker::Ground;
use crate::zone::zone_at;

/// A service with the sentence model and a fake chat model.
pub struct Night {
    // Declared before `ground`, so that the service stops before its database is dropped.
    pub service: Service,
    pub ground: Ground,
    pub model: FakeServer,
    pub world: World,
    /// Alice with the scope to review her own skills.
    pub alice: Caller,
}

impl Night {
    pub async fn begin(settings: Value) -> Self {
        let ground = Ground::new();
        let model = FakeServer::start([Reply::says(r#"{"ops": []}"#)]);
        let folder = setting("KNOWHOW_TEST_MODEL_DIR").expect("the folder of the sentence model");
        let (login, url) = (login_url_of(ground.owner.clone()), model.url());
        let mut with = vec![
            ("KNOWHOW_DATABASE_URL", login.as_str()),
            ("KNOWHOW_MODEL_DIR", folder.as_str()),
            ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000"),
            ("KNOWHOW_WORKERS", "1"),
        ];
        with.extend(chat(&url));
        let service = Service::start(&with);
        let mut all = json!({"starter_skills": false, "enrich": false, "users_review": true});
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let world = World::at(&service, &service, all).await;
        let alice = world.scoped("alice", "skills:read skills:write sessions memories review");
        Self { ground, model, service, world, alice }
    }

    /// Returns an agent that acts for Alice. Dreams may change the skills of an agent.
    pub async fn agent(&self) -> Caller {
        self.world.backend().await.acting_for("alice")
    }

    /// Sets the model's answer to questions of dreams. The model approves every review, and all other questions get
    /// the same answer.
    pub fn says(&self, answer: &Value) {
        let plan = Reply::says(&answer.to_string());
        let ok = Reply::Repeats(r#"{"key": "$KEY", "verdict": "ok", "reasons": []}"#.into());
        let choose = move |seen: &Seen| if asks_for_plan(seen) { plan.clone() } else { ok.clone() };
        self.model.replies([Reply::chosen(choose)]);
    }

    /// Runs a pass now and returns its finished run.
    pub async fn dream(&self, pass: &str) -> Value {
        self.dream_as(json!({"passes": [pass]})).await
    }

    pub async fn dream_as(&self, body: Value) -> Value {
        self.ground.idle();
        let started = self.alice.post("/v1/dreams", body).await.ok(202);
        let id = started["items"][0]["id"].as_str().unwrap().to_owned();
        self.ended(&id).await
    }

    /// Waits until a run has ended and returns it.
    pub async fn ended(&self, id: &str) -> Value {
        poll_async("the dream to end", async || {
            let run = self.alice.get(&format!("/v1/dreams/{id}")).await.ok(200);
            (run["state"] != "queued").then_some(run)
        })
        .await
    }

    /// Creates a conversation that began with this message `days` days ago.
    pub async fn talked(&self, who: &Caller, days: u32, message: &str) -> Talk {
        let talk = Talk::long(who).await;
        talk.say(message).await;
        let since = format!("now() - interval '{days} days'");
        let of = format!("where session_id = '{}'", talk.id);
        let set = format!("update sessions set started_at = {since}, last_message_at = {since} {of}");
        assert_eq!(execute_at(&self.ground.owner, &set), 1);
        talk
    }
}

/// Returns whether the request asks for the plan of a dream, and not for a review or another job.
fn asks_for_plan(seen: &Seen) -> bool {
    let question = seen.body["messages"][1]["content"].as_str().unwrap_or_default();
    serde_json::from_str::<Value>(question).is_ok_and(|question| question["pass"].is_string())
}

const BILLING: &str = "## When to Use\n\nThe user asks about an invoice.\n\n## Procedure\n\n1. Open `billing show`.\n2. Compare \
                       with the contract at https://example.com/contracts.\n3. Write back within 2 days.\n";
const INVOICES: &str = "## When to Use\n\nA question about an invoice comes.\n\n## Procedure\n\n1. Run `invoice get ID`.\n2. Tell the \
                        amount and the due date.\n3. Offer 3 ways to pay.\n";

fn skill(name: &str, description: &str, content: &str) -> Value {
    json!({"name": name, "description": description, "content": content})
}

/// Creates two similar skills of an agent, and three others.
pub async fn overlapping(agent: &Caller) {
    agent
        .create(skill(
            "billing",
            "Answers questions about invoices and bills. Use when a customer asks about an invoice.",
            BILLING,
        ))
        .await;
    agent
        .create(skill(
            "invoices",
            "Answers questions about invoices and bills. Use when a customer asks about a bill.",
            INVOICES,
        ))
        .await;
    for (name, about) in [
        ("trips", "Plans trips by train through Europe. Use when somebody wants to travel."),
        ("dinner", "Cooks dinner for guests. Use when people come to eat."),
        ("garden", "Waters the garden in summer. Use when it does not rain."),
    ] {
        agent
            .create(skill(name, about, "## Procedure\n\n1. Do it as always, with care and in time for everybody.\n"))
            .await;
    }
}

pub fn merge(version: u32) -> Value {
    json!({"ops": [{
        "op": "merge", "into": "billing",
        "sources": [{"name": "billing", "version": version}, {"name": "invoices", "version": 1}],
        "description": "Answers questions about invoices and bills. Use when a customer asks about an invoice or a bill.",
        "body": "## When to Use\n\nThe user asks about an invoice.\n\n## Procedure\n\n1. Open `billing show`, or run `invoice get ID`.\n\
                 2. Compare with the contract at https://example.com/contracts.\n3. Tell the amount and the due date.\n\
                 4. Offer 3 ways to pay.\n5. Write back within 2 days.\n",
        "reason": "both answer the same questions",
    }]})
}

async fn state(who: &Caller) -> Vec<(String, String, i64)> {
    let mut all = Vec::new();
    for name in who.names().await {
        let raw = who.get(&format!("/v1/skills/{name}/SKILL.md")).await.text();
        let used = who.peek(&name).await["times_used"].as_i64().unwrap();
        all.push((name, raw, used));
    }
    all
}

#[tokio::test]
async fn similar_skills_are_merged_and_the_merge_is_undone() {
    let night = Night::begin(json!({"dreams": {"consolidate": "apply"}})).await;
    let (alice, agent) = (&night.alice, night.agent().await);
    overlapping(&agent).await;
    for name in ["billing", "invoices", "invoices"] {
        alice.get(&format!("/v1/skills/{name}")).await.ok(200);
    }
    night.ground.idle();
    let before = state(alice).await;
    let found = alice.get("/v1/dreams/candidates?pass=consolidate").await.ok(200);
    assert_eq!(found["overlaps"][0]["skills"], json!(["billing", "invoices"]), "{found}");
    night.says(&merge(1));
    let run = night.dream("consolidate").await;
    assert_eq!((&run["state"], &run["counts"]["applied"]), (&json!("applied"), &json!(1)), "{run:#}");
    // The name `invoices` returns `billing`, which has the uses of both skills.
    let billing = alice.peek("billing").await;
    assert_eq!((&billing["version"], &billing["times_used"]), (&json!(2), &json!(3)), "{billing}");
    assert_eq!(alice.peek("invoices").await["moved_from"], "invoices");
    assert!(
        run["ops"][0]["diff"].as_str().unwrap().contains("+1. Open `billing show`, or run `invoice get ID`."),
        "{run}"
    );
    let versions = alice.get("/v1/skills/billing/versions").await.ok(200);
    assert_eq!((&versions["items"][0]["change"], &versions["items"][0]["actor"]), (&json!("merge"), &json!("dream")));
    let id = run["id"].as_str().unwrap();
    let undone = alice.send(Method::POST, &format!("/v1/dreams/{id}/undo")).await.ok(200);
    assert_eq!((&undone["state"], &undone["ops"][0]["undo"]), (&json!("undone"), &json!("undone")), "{undone:#}");
    assert_eq!(state(alice).await, before);
    let again = alice.send(Method::POST, &format!("/v1/dreams/{id}/undo")).await.ok(200);
    assert_eq!(again["ops"][0]["undo"], "undone");
    // The model is not asked about skills again whose merge was undone.
    night.says(&merge(3));
    let run = night.dream("consolidate").await;
    assert_eq!((&run["state"], &run["ops"], &run["tokens"]), (&json!("skipped"), &json!([]), &json!(0)), "{run:#}");
    assert_eq!(state(alice).await, before);
    night.service.check_log();
}

/// A reviewer must see the whole change.
#[tokio::test]
async fn diff_shows_invisible_characters() {
    let night = Night::begin(json!({})).await;
    let agent = night.agent().await;
    overlapping(&agent).await;
    night.ground.idle();
    let mut hidden = merge(1);
    hidden["ops"][0]["body"] = json!(hidden["ops"][0]["body"].as_str().unwrap().replace("Tell", "Te\u{200b}ll"));
    night.says(&hidden);
    let run = night.dream("consolidate").await;
    let op = &run["ops"][0];
    assert!(["proposed", "waiting"].contains(&op["outcome"].as_str().unwrap()), "{run:#}");
    assert!(op["diff"].as_str().unwrap().contains("+3. Te<U+200B>ll the amount"), "{run:#}");
    night.service.check_log();
}

#[tokio::test]
async fn undo_keeps_later_edits_of_a_merged_skill() {
    let night = Night::begin(json!({"dreams": {"consolidate": "apply"}})).await;
    let (alice, agent) = (&night.alice, night.agent().await);
    overlapping(&agent).await;
    night.ground.idle();
    night.says(&merge(1));
    let run = night.dream("consolidate").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    alice.replace("billing", "Offer 3 ways to pay.", "Offer 4 ways to pay.").await.ok(200);
    let edited = alice.get("/v1/skills/billing/SKILL.md").await.text();
    // Takes the name of the absorbed skill.
    alice.create(skill("invoices", "Prints invoices on paper. Use when somebody wants paper.", INVOICES)).await;
    let undone = alice.send(Method::POST, &format!("/v1/dreams/{}/undo", run["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(undone["ops"][0]["undo"], "kept", "{undone:#}");
    assert!(undone["ops"][0]["undo_reason"].as_str().unwrap().contains("invoices-restored"), "{undone:#}");
    assert_eq!(alice.get("/v1/skills/billing/SKILL.md").await.text(), edited);
    assert!(alice.peek("invoices-restored").await["content"].as_str().unwrap().contains("invoice get ID"));
    night.service.check_log();
}

#[tokio::test]
async fn repeated_requests_become_a_skill_that_a_person_approves() {
    let night = Night::begin(json!({})).await;
    let alice = &night.alice;
    for (days, message) in [
        (9, "Please cancel my gym membership for me"),
        (7, "I want to cancel the membership at my gym, please"),
        (5, "can you cancel my gym membership?"),
        (4, "What will the weather be like in Oslo tomorrow?"),
        (3, "Tell me how many ounces are in a pound of flour"),
        (2, "Which of my bills is due at the end of the month?"),
    ] {
        night.talked(alice, days, message).await;
    }
    let found = alice.get("/v1/dreams/candidates?pass=gaps").await.ok(200);
    let gap = &found["gaps"][0];
    assert_eq!(gap["requests"].as_array().unwrap().len(), 3, "{found:#}");
    assert!(pluck(&found["terms"], "term").contains(&"membership".to_owned()), "{found:#}");
    night.says(&json!({"ops": [{
        "op": "create", "name": "cancel-membership",
        "description": "Cancels a membership or subscription for the user. Use when the user wants out of a gym, club or plan.",
        "triggers": ["cancel my membership", "cancel the gym", "end my subscription"],
        "body": "## When to Use\n\nThe user wants to cancel a membership.\n\n## Procedure\n\n1. Find the contract.\n2. Check the term \
                 of notice.\n3. Write the cancellation and have the user confirm it.\n",
        "evidence": ["s1", "s2"], "reason": "asked for three times",
    }]}));
    let run = night.dream("gaps").await;
    assert_eq!((&run["state"], &run["ops"][0]["outcome"]), (&json!("planned"), &json!("proposed")), "{run:#}");
    assert!(run["ops"][0]["diff"].as_str().unwrap().contains("+2. Check the term of notice."), "{run:#}");
    assert!(alice.names().await.is_empty());
    let path = format!("/v1/dreams/{}", run["id"].as_str().unwrap());
    // An agent cannot approve the dream.
    let agent = night.agent().await;
    agent.post(&format!("{path}/apply"), json!({})).await.refused(403, "forbidden");
    let applied = alice.post(&format!("{path}/apply"), json!({"ops": [0]})).await.ok(200);
    assert_eq!(
        (&applied["state"], &applied["ops"][0]["outcome"]),
        (&json!("applied"), &json!("applied")),
        "{applied:#}"
    );
    let made = alice.peek("cancel-membership").await;
    assert_eq!((&made["source"], &made["version"], &made["tainted"]), (&json!("dream"), &json!(1), &json!(false)));
    alice.post(&format!("{path}/apply"), json!({})).await.refused(409, "decided");
    // The question contains the conversations as data.
    let asked = night.model.seen();
    let question =
        asked.iter().map(|seen| seen.body["messages"][1]["content"].as_str().unwrap()).find(|q| q.contains("\"gaps\""));
    assert!(question.unwrap().contains("cancel my gym membership?"), "{question:?}");
    let undone = alice.send(Method::POST, &format!("{path}/undo")).await.ok(200);
    assert_eq!(undone["ops"][0]["undo"], "undone");
    assert!(alice.names().await.is_empty());
    night.service.check_log();
}

#[tokio::test]
async fn a_failing_skill_is_patched_and_undo_reverts_only_the_patch() {
    let night = Night::begin(json!({"dreams": {"optimize": "apply"}})).await;
    let (alice, agent) = (&night.alice, night.agent().await);
    let body = "## Procedure\n\n1. Ask for the order number.\n2. Refund to the card.\n3. Send a receipt by mail.\n\n## Verification\n\nThe \
                customer has the money back.\n";
    agent.create(skill("refunds", "Refunds an order. Use when a customer wants the money back.", body)).await;
    let talk = night.talked(alice, 2, "use refunds: I want my money back for order 17").await;
    let note = json!({"kind": "correction", "note": "refund to the account the customer names, not to the card"});
    talk.tell("/feedback", note).await;
    night.ground.idle();
    let found = alice.get("/v1/dreams/candidates?pass=optimize").await.ok(200);
    assert_eq!(found["at_risk"][0]["skill"], "refunds", "{found:#}");
    night.says(&json!({"ops": [{
        "op": "patch", "name": "refunds", "version": 1, "evidence": ["s1"], "reason": "the user corrected it",
        "edits": [{"old_string": "2. Refund to the card.", "new_string": "2. Refund to the account that the customer names, by default the card."}],
    }]}));
    let run = night.dream("optimize").await;
    assert_eq!(run["state"], "applied", "{run:#}");
    assert!(alice.peek("refunds").await["content"].as_str().unwrap().contains("the account that the customer names"));
    alice.replace("refunds", "has the money back", "has the money back within 3 days").await.ok(200);
    let undone = alice.send(Method::POST, &format!("/v1/dreams/{}/undo", run["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(undone["ops"][0]["undo"], "merged", "{undone:#}");
    let now = alice.peek("refunds").await["content"].as_str().unwrap().to_owned();
    assert!(now.contains("2. Refund to the card.") && now.contains("within 3 days"), "{now}");
    night.service.check_log();
}

/// A reply that spends the budget of rounds counts against the skills of its conversation, as a correction does.
#[tokio::test]
async fn skill_of_a_session_with_a_spent_budget_is_at_risk_and_in_the_question() {
    let night = Night::begin(json!({"dreams": {"optimize": "apply"}})).await;
    let (alice, agent) = (&night.alice, night.agent().await);
    let body = "## Procedure\n\n1. Look the order up in all three systems.\n2. Refund to the card.\n3. Send a receipt by mail.\n\n## \
                Verification\n\nThe customer has the money back, and the three systems say so.\n";
    agent.create(skill("refunds", "Refunds an order. Use when a customer wants the money back.", body)).await;
    let talked = async |rounds: u32| {
        let talk = Talk::long(alice).await;
        talk.say("use refunds: I want my money back for order 17").await;
        talk.tell("/reply", json!({"message": "The money is on its way.", "rounds": rounds})).await;
        let over = "update sessions set last_message_at = now() - interval '1 day'";
        assert_eq!(execute_at(&night.ground.owner, &format!("{over} where session_id = '{}'", talk.id)), 1);
        night.ground.idle();
        talk
    };
    let at_risk = async || alice.get("/v1/dreams/candidates?pass=optimize").await.ok(200)["at_risk"].take();
    talked(9).await;
    assert_eq!(at_risk().await, json!([]));
    let talk = talked(10).await;
    let risk = at_risk().await[0].take();
    assert_eq!((&risk["skill"], &risk["over_budget"], &risk["corrections"]), (&json!("refunds"), &json!(1), &json!(0)));
    assert_eq!(risk["bad_sessions"], json!([talk.id]));
    night.says(&json!({"ops": []}));
    night.dream("optimize").await;
    let asked = night.model.seen();
    let question = asked.iter().map(|seen| seen.body["messages"][1]["content"].as_str().unwrap());
    let told = question.filter(|question| question.contains("\"budgets_spent\":1")).count();
    assert_eq!(told, 1);
    night.service.check_log();
}

#[tokio::test]
async fn night_runs_once_and_skips_unchanged_input() {
    let night = Night::begin(json!({})).await;
    let (alice, agent) = (&night.alice, night.agent().await);
    overlapping(&agent).await;
    night.talked(alice, 0, "Where is my order with the blue shoes?").await;
    night.ground.idle();
    alice.put("/v1/learning", json!({"time_zone": zone_at(4)})).await.ok(200);
    let runs = async || alice.get("/v1/dreams").await.ok(200)["items"].as_array().unwrap().clone();
    let model_asked = || night.model.seen().iter().filter(|seen| seen.text.contains("families_without_guide")).count();
    for _ in 0..2 {
        ring(&night.ground, "dream_nights");
        night.ground.idle();
        let all = runs().await;
        assert_eq!(all.len(), 3, "{all:#?}");
        assert!(all.iter().all(|run| run["cause"] == "night" && run["state"] == "skipped"), "{all:#?}");
    }
    let asked = model_asked();
    assert_eq!(asked, 1);
    let run = night.dream("consolidate").await;
    assert_eq!(
        (&run["state"], &run["reason"]),
        (&json!("skipped"), &json!("the inputs have not changed since the last run")),
        "{run:#}"
    );
    assert_eq!(model_asked(), asked);
    alice.put("/v1/learning", json!({"time_zone": "Mars/Olympus"})).await.refused(422, "invalid");
    night.service.check_log();
}
