//! Reflections: summaries of days, weeks and months by a fake chat model.

use knowhow_testing::{FakeServer, Reply, Seen};
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::background::chat;
use crate::callers::{Caller, World};
use crate::service::{Service, poll_async};
use crate::sql::execute_at;
use crate::talk::Talk;
use crate::worker::{Ground, world};
use crate::zone::zone_at;

/// The beginning of the system prompt of a reflection.
const OPENING: &str = "You look back";

/// Returns a model's answer with this text and these actions, which fits every question.
pub(super) fn tells(text: &str, actions: &Value) -> Reply {
    Reply::Says(json!({"text": text, "proposed_actions": actions, "title": "A talk"}).to_string())
}

/// Sets a time zone in which it is noon now.
pub(super) async fn at_noon(who: &Caller) {
    who.put("/v1/learning", json!({"time_zone": zone_at(12)})).await.ok(200);
}

/// Creates an ended conversation with this message.
pub(super) async fn converse(who: &Caller, message: &str) -> Talk {
    let talk = Talk::open(who, json!({"key": uuid::Uuid::now_v7().to_string()})).await;
    talk.say(message).await;
    who.post(&talk.path("/end"), json!({})).await.ok(200);
    talk
}

pub(super) async fn converse_tainted(who: &Caller, message: &str) {
    let talk = Talk::tainted(who).await;
    talk.say(message).await;
    who.post(&talk.path("/end"), json!({})).await.ok(200);
}

/// Requests a reflection, waits until the queue is empty, and returns the reflection.
pub(super) async fn reflect(ground: &Ground, who: &Caller, cadence: &str) -> Value {
    let begun = who.post("/v1/reflections", json!({"cadence": cadence})).await.ok(202);
    assert_eq!((&begun["cadence"], &begun["state"]), (&json!(cadence), &json!("queued")), "{begun}");
    ground.idle();
    newest(who, cadence).await
}

async fn newest(who: &Caller, cadence: &str) -> Value {
    let page = who.get(&format!("/v1/reflections?cadence={cadence}")).await.ok(200);
    page["items"][0].clone()
}

/// Returns the questions about reflections: system prompt and data.
pub(super) fn asked(model: &FakeServer) -> Vec<(String, String)> {
    let part = |seen: &Seen, at: usize| seen.body["messages"][at]["content"].as_str().unwrap_or_default().to_owned();
    let all = model.seen();
    let reflections = all.iter().filter(|seen| part(seen, 0).starts_with(OPENING));
    reflections.map(|seen| (part(seen, 0), part(seen, 1))).collect()
}

/// Starts a service with this model, and creates a tenant with these settings.
pub(super) async fn house(ground: &Ground, model: &FakeServer, settings: Value) -> (Service, World) {
    let service = ground.serve(&chat(&model.url()));
    let world = World::at(&service, &service, settings).await;
    at_noon(&world.alice).await;
    at_noon(&world.bob).await;
    (service, world)
}

fn plain() -> Value {
    json!({"starter_skills": false})
}

#[tokio::test]
async fn a_day_is_reflected_once_from_its_conversations_and_recalled() {
    let ground = Ground::new();
    let model =
        FakeServer::start([tells("Alice wants to cross the Alps by zeppelin.\u{7} The price is open.", &json!([]))]);
    let (service, World { alice, bob, .. }) = &house(&ground, &model, plain()).await;
    converse(bob, "My canary is called Tweety-4711").await;
    converse(alice, "I want to cross the Alps, what does a marmot eat").await;
    ground.idle();
    let made = reflect(&ground, alice, "daily").await;
    assert_eq!((&made["state"], &made["reason"], &made["tries"]), (&json!("made"), &Value::Null, &json!(0)), "{made}");
    let [text] = made["texts"].as_array().unwrap().as_slice() else { panic!("{made}") };
    assert_eq!(text["text"], "Alice wants to cross the Alps by zeppelin. The price is open.");
    assert_eq!((&text["tainted"], &made["run"]), (&json!(false), &Value::Null));
    assert!(made["tokens"].as_i64().unwrap() > 0, "{made}");
    // The question contains only Alice's data. It contains no skills, because the tenant wants no actions.
    let [(system, data)] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    assert!(system.contains("Look back at the day") && !system.contains("proposed_actions"), "{system}");
    assert!(data.contains("marmot") && !data.contains("Tweety") && !data.contains("\"skills\""), "{data}");
    // The reflection is a memory that recall finds, but the snapshot does not contain it.
    let found = alice.get("/v1/recall?q=zeppelin").await.ok(200);
    assert_eq!(found["items"][0]["kind"], "reflection", "{found}");
    let listed = alice.get("/v1/memories?kind=reflection&tag=daily").await.ok(200);
    let memory = &listed["items"][0];
    assert_eq!((&memory["id"], &memory["core"]), (&text["memory"], &json!(false)), "{memory}");
    assert_eq!(memory["tags"], json!(["daily", made["period"]]));
    let snapshot = alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert!(!snapshot["text"].as_str().unwrap().contains("zeppelin"));
    // A second request returns the existing reflection.
    let again = alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(200);
    ground.idle();
    assert_eq!((&again, asked(&model).len()), (&made, 1));
    // Bob sees nothing of Alice's reflection.
    assert_eq!(bob.get("/v1/reflections").await.ok(200)["items"], json!([]));
    assert!(!bob.get("/v1/recall?q=zeppelin").await.text().contains("Alps"));
    service.check_log();
}

#[tokio::test]
async fn a_quiet_day_is_recorded_and_open_conversations_are_left_out() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Something happened.", &json!([]))]);
    let (service, World { alice, .. }) = &house(&ground, &model, plain()).await;
    let quiet = reflect(&ground, alice, "daily").await;
    assert_eq!((&quiet["state"], &quiet["texts"]), (&json!("quiet"), &json!([])), "{quiet}");
    assert!(quiet["reason"].as_str().unwrap().contains("no conversation"), "{quiet}");
    let talk = Talk::open(alice, json!({"key": "k"})).await;
    talk.say("Tell me of badgers, and at length").await;
    talk.tell("/feedback", json!({"kind": "correction", "note": "Not those, the honey ones"})).await;
    assert_eq!(reflect(&ground, alice, "daily").await["state"], "quiet");
    assert!(asked(&model).is_empty());
    let ago = |minutes: u32| {
        let moved = format!("update sessions set last_message_at = now() - interval '{minutes} minutes'");
        execute_at(&ground.owner, &moved);
    };
    ago(59);
    assert_eq!(reflect(&ground, alice, "daily").await["state"], "quiet");
    // After an hour without messages an open conversation is included, and the question contains its messages.
    ago(61);
    assert_eq!(reflect(&ground, alice, "daily").await["state"], "made");
    let data: Value = serde_json::from_str(&asked(&model)[0].1).unwrap();
    let told = &data["conversations"][0];
    assert!(told.to_string().contains("badgers"), "{data}");
    assert_eq!((&told["corrections"], &told["notes"]), (&json!(1), &json!(["Not those, the honey ones"])), "{told}");
    service.check_log();
}

#[tokio::test]
async fn tainted_conversations_get_a_separate_tainted_text() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("The user asked about otters.", &json!([]))]);
    let (service, World { alice, .. }) = &house(&ground, &model, plain()).await;
    let talk = converse(alice, "Tell me where otters live").await;
    converse_tainted(alice, "Remember the canary Tweety-4711").await;
    ground.idle();
    let made = reflect(&ground, alice, "daily").await;
    assert_eq!(pluck_flags(&made), [false, true], "{made}");
    let [clean, tainted] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    assert!(clean.1.contains("otters") && !clean.1.contains("Tweety"), "{}", clean.1);
    assert!(tainted.1.contains("Tweety") && !tainted.1.contains("otters"), "{}", tainted.1);
    let marked = alice.get("/v1/memories?kind=reflection&tainted=true").await.ok(200);
    assert_eq!(pluck(&marked["items"], "id"), [made["texts"][1]["memory"].as_str().unwrap()]);
    // Taint that is added later to the conversation also marks the text about it.
    talk.tell("/taint", json!({"source": "a mail"})).await;
    assert_eq!(pluck_flags(&newest(alice, "daily").await), [true, true]);
    service.check_log();
}

pub(super) fn pluck_flags(reflection: &Value) -> Vec<bool> {
    reflection["texts"].as_array().unwrap().iter().map(|text| text["tainted"].as_bool().unwrap()).collect()
}

/// SQL for the Monday of the last week that has ended or ends today, in the user's time zone.
const MONDAY: &str = "(select (n.today - extract(dow from n.today)::integer - 6) as monday from (
    select (now() at time zone l.time_zone)::date as today from learning l where l.user_id = u.user_id) n)";

/// Inserts daily reflections for that week. The first days get memories with the given texts; the other days are
/// quiet. Day `without` gets no reflection.
async fn note_week(ground: &Ground, who: &Caller, told: &[&str], without: Option<usize>) {
    for day in (0..7).filter(|day| Some(*day) != without) {
        let memory = match told.get(day) {
            Some(text) => {
                let memory = json!({"kind": "reflection", "content": text});
                let session = if text.contains("Tweety") { "unknown" } else { "" };
                let mut sending = who.post("/v1/memories", memory);
                if !session.is_empty() {
                    sending = sending.header("Knowhow-Session", session);
                }
                format!("array['{}'::uuid]", sending.await.ok(201)["id"].as_str().unwrap())
            }
            None => "'{}'::uuid[]".to_owned(),
        };
        let state = if told.len() > day { "made" } else { "quiet" };
        execute_at(
            &ground.owner,
            &format!(
                "insert into reflections (tenant_id, user_id, reflection_id, cadence, period, state, memory_ids, created_at,
                     finished_at, texts_until)
                 select u.tenant_id, u.user_id, gen_random_uuid(), 'daily', {MONDAY} + {day}, '{state}', {memory}, now(), now(),
                        now() + interval '1 day'
                 from users u where u.external_id = 'alice'"
            ),
        );
    }
}

/// Inserts a weekly reflection, with a memory of this text, for each week that ended last month and has none.
async fn note_month(ground: &Ground, who: &Caller, told: &str) {
    let memory = who.post("/v1/memories", json!({"kind": "reflection", "content": told})).await.ok(201);
    let noted = execute_at(
        &ground.owner,
        &format!(
            "insert into reflections (tenant_id, user_id, reflection_id, cadence, period, state, memory_ids, created_at,
                 finished_at, texts_until)
             select l.tenant_id, l.user_id, gen_random_uuid(), 'weekly', day::date - 6, 'made', array['{}'::uuid], now(), now(),
                    now() + interval '1 day'
             from users u
             join learning l on l.tenant_id = u.tenant_id and l.user_id = u.user_id
             cross join date_trunc('month', now() at time zone l.time_zone) as month (first)
             cross join generate_series(month.first - interval '1 month', month.first - interval '1 day', interval '1 day') as day
             where u.external_id = 'alice' and extract(dow from day) = 0
             on conflict do nothing",
            memory["id"].as_str().unwrap()
        ),
    );
    // Four or five weeks end in a month, and the last of them may have a reflection already.
    assert!((3..=5).contains(&noted), "{noted}");
}

#[tokio::test]
async fn weekly_reflection_requires_a_reflection_of_each_day() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("A week of otters.", &json!([]))]);
    let (service, World { alice, .. }) = &house(&ground, &model, plain()).await;
    // No day of the week has a reflection.
    let quiet = reflect(&ground, alice, "weekly").await;
    assert_eq!(quiet["state"], "quiet", "{quiet}");
    note_week(&ground, alice, &["Otters were fed on Monday.", "On Tuesday the canary Tweety sang."], Some(4)).await;
    execute_at(
        &ground.owner,
        &format!(
            "insert into reflections (tenant_id, user_id, reflection_id, cadence, period, state, reason, created_at, texts_until)
             select u.tenant_id, u.user_id, gen_random_uuid(), 'daily', {MONDAY} + 4, 'failed', 'no', now(), now()
             from users u where u.external_id = 'alice'"
        ),
    );
    let skipped = reflect(&ground, alice, "weekly").await;
    assert_eq!((&skipped["state"], &skipped["texts"]), (&json!("skipped"), &json!([])), "{skipped}");
    assert!(skipped["reason"].as_str().unwrap().ends_with("is missing") && asked(&model).is_empty(), "{skipped}");
    execute_at(&ground.owner, "update reflections set state = 'quiet', finished_at = now() where state = 'failed'");
    let made = reflect(&ground, alice, "weekly").await;
    assert_eq!((&made["state"], pluck_flags(&made)), (&json!("made"), vec![false, true]), "{made}");
    let [clean, tainted] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    assert!(clean.0.contains("Look back at the week"), "{}", clean.0);
    assert!(clean.1.contains("fed on Monday") && !clean.1.contains("Tweety"), "{}", clean.1);
    assert!(tainted.1.contains("Tweety") && !tainted.1.contains("Monday"), "{}", tainted.1);
    note_month(&ground, alice, "The otters built a dam.").await;
    let month = reflect(&ground, alice, "monthly").await;
    assert_eq!((&month["state"], &month["texts"][0]["text"]), (&json!("made"), &json!("A week of otters.")), "{month}");
    let all = asked(&model);
    // The trusted data comes in the first question.
    let (rules, data) =
        all.iter().find(|(rules, _)| rules.contains("Look back at the month")).expect("the month's question");
    assert!(data.contains("built a dam") && !data.contains("fed on Monday"), "{rules}\n{data}");
    service.check_log();
}

#[tokio::test]
async fn unusable_answers_store_nothing_and_stop_after_three_tries() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::says("It was a lovely day, and that is all.")]);
    let (service, World { alice, .. }) = &house(&ground, &model, plain()).await;
    converse(alice, "Tell me where otters live").await;
    ground.idle();
    let garbage = [r#"{"text": "Otters li"#, r#"{"text": "  "}"#, "<think>{\"text\": \"Otters\"}"];
    for (tries, answer) in (1..).zip(garbage) {
        model.replies([Reply::says(answer)]);
        let failed = reflect(&ground, alice, "daily").await;
        assert_eq!((&failed["state"], &failed["tries"]), (&json!("failed"), &json!(tries)), "{answer}: {failed}");
        assert!(!failed["reason"].as_str().unwrap().is_empty() && failed["texts"] == json!([]), "{failed}");
    }
    // After three tries the model is not asked again, although its answer would now be valid.
    model.replies([tells("Otters live in holts.", &json!([]))]);
    let last = alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(200);
    ground.idle();
    assert_eq!((&last["state"], asked(&model).len()), (&json!("failed"), 3), "{last}");
    assert_eq!(alice.get("/v1/memories?kind=reflection").await.ok(200)["items"], json!([]));
    service.check_log();
}

#[tokio::test]
async fn unavailable_model_costs_no_try_and_unknown_time_zone_is_utc() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Status(503, "", "")]);
    let service = ground.serve(&chat(&model.url()));
    let World { alice, .. } = &World::at(&service, &service, json!({"starter_skills": false})).await;
    // A tenant cannot set an unknown zone. But a newer Postgres may know a zone that an older one does not.
    execute_at(&ground.owner, r#"update tenants set settings = settings || '{"time_zone": "Mars/Olympus"}'"#);
    converse(alice, "Tell me where otters live").await;
    // Moves the conversation to the start of the day in UTC, so that it belongs to today at any hour.
    let noon = "update sessions set last_message_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'";
    execute_at(&ground.owner, noon);
    alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(202);
    // The job that summarizes the conversation waits for the model, so the queue is never empty.
    let away = poll_async("a failure", async || {
        let now = newest(alice, "daily").await;
        (now["state"] == "failed").then_some(now)
    })
    .await;
    assert_eq!(away["tries"], 0, "{away}");
    assert!(away["reason"].as_str().unwrap().contains("no answer"), "{away}");
    model.replies([tells("Otters live in holts.", &json!([]))]);
    // The service waits a moment before it tries again.
    let made = poll_async("a reflection", async || {
        let now = newest(alice, "daily").await;
        if now["state"] == "failed" {
            alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(202);
        }
        (now["state"] == "made").then_some(now)
    });
    assert_eq!(made.await["texts"][0]["text"], "Otters live in holts.");
    service.check_log();
}

#[tokio::test]
async fn reflections_are_refused_without_a_model_or_if_disabled() {
    let ground = Ground::new();
    let service = ground.serve(&[crate::background::WITH_WORKER]);
    let World { alice, read_only, .. } = &world(&service).await;
    let daily = json!({"cadence": "daily"});
    let problem = alice.post("/v1/reflections", daily.clone()).await.refused(409, "no-model");
    assert!(problem["detail"].as_str().unwrap().contains("no chat model"), "{problem}");
    assert_eq!(alice.get("/v1/reflections").await.ok(200)["items"], json!([]));
    read_only.get("/v1/reflections").await.refused(403, "forbidden");
    read_only.post("/v1/reflections", daily.clone()).await.refused(403, "forbidden");
    alice.post("/v1/reflections", json!({"cadence": "hourly"})).await.invalid("/cadence", "daily");
    let off = json!({"starter_skills": false, "reflections": false});
    let none = World::at(&service, &service, off).await;
    none.alice.post("/v1/reflections", daily).await.refused(409, "reflections-off");
    service.check_log();
}

/// Creates thirteen skills of an agent, `chore-0` to `chore-12`.
pub(super) async fn agent_skills(world: &World, user: &str) {
    let agent = world.backend().await.acting_for(user);
    for n in 0..13 {
        let description = format!("Does the chore number {n} of the house and says so. Use when it is asked for.");
        let skill = json!({"name": format!("chore-{n}"), "description": description, "triggers": ["a", "b", "c"],
            "summary": "Does a chore", "content": format!("# Chore {n}\n\nDo it.\n")});
        agent.create(skill).await;
    }
}

pub(super) fn with_actions(actions: &str) -> Value {
    json!({"starter_skills": false, "reflection_actions": actions})
}

pub(super) fn outcomes(run: &Value) -> Vec<String> {
    pluck(&run["ops"], "outcome")
}
