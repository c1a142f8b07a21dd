//! Reflections: what is told of days and weeks, by a chat model that is faked.

use chrono::Timelike;
use knowhow_domain::{Clock, SystemClock};
use knowhow_testing::{FakeServer, Reply, Seen};
use serde_json::{Value, json};

use super::background::chat;
use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{Service, poll_async};
use crate::sql::execute_at;
use crate::talk::Talk;
use crate::worker::{Ground, world};

/// How the prompt of a reflection begins.
const OPENING: &str = "You look back";

/// A model that tells this, of whatever it is asked.
pub(super) fn tells(text: &str, actions: &Value) -> Reply {
    Reply::Says(json!({"text": text, "proposed_actions": actions, "title": "A talk"}).to_string())
}

/// A user where it is noon now, so that no test runs into midnight.
pub(super) async fn at_noon(who: &Caller) {
    let hour = SystemClock.now().hour();
    // The names of these zones count westwards.
    let zone = format!("Etc/GMT{:+}", i64::from(hour) - 12);
    who.put("/v1/learning", json!({"time_zone": zone})).await.ok(200);
}

/// A conversation in which this was said, and which is over.
pub(super) async fn converse(who: &Caller, message: &str) -> Talk {
    let talk = Talk::open(who, json!({"key": uuid::Uuid::now_v7().to_string()})).await;
    talk.say(message).await;
    who.post(&talk.path("/end"), json!({})).await.ok(200);
    talk
}

async fn converse_tainted(who: &Caller, message: &str) {
    let talk = Talk::tainted(who).await;
    talk.say(message).await;
    who.post(&talk.path("/end"), json!({})).await.ok(200);
}

/// Asks for a reflection, and waits until it came to something.
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

/// What was asked for reflections: the rules, and the data.
fn asked(model: &FakeServer) -> Vec<(String, String)> {
    let part = |seen: &Seen, at: usize| seen.body["messages"][at]["content"].as_str().unwrap_or_default().to_owned();
    let all = model.seen();
    let reflections = all.iter().filter(|seen| part(seen, 0).starts_with(OPENING));
    reflections.map(|seen| (part(seen, 0), part(seen, 1))).collect()
}

/// A service with a model, and a tenant with these settings.
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
async fn a_day_is_told_once_from_its_conversations_and_found_by_recall() {
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
    // What it was asked is hers alone, and no skills are shown where no actions are wanted.
    let [(system, data)] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    assert!(system.contains("Look back at the day") && !system.contains("proposed_actions"), "{system}");
    assert!(data.contains("marmot") && !data.contains("Tweety") && !data.contains("\"skills\""), "{data}");
    // It is a memory like others, and in no prompt.
    let found = alice.get("/v1/recall?q=zeppelin").await.ok(200);
    assert_eq!(found["items"][0]["kind"], "reflection", "{found}");
    let listed = alice.get("/v1/memories?kind=reflection&tag=daily").await.ok(200);
    let memory = &listed["items"][0];
    assert_eq!((&memory["id"], &memory["core"]), (&text["memory"], &json!(false)), "{memory}");
    assert_eq!(memory["tags"], json!(["daily", made["period"]]));
    let snapshot = alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert!(!snapshot["text"].as_str().unwrap().contains("zeppelin"));
    // Once is enough.
    let again = alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(200);
    ground.idle();
    assert_eq!((&again, asked(&model).len()), (&made, 1));
    // Another's is another's.
    assert_eq!(bob.get("/v1/reflections").await.ok(200)["items"], json!([]));
    assert!(!bob.get("/v1/recall?q=zeppelin").await.text().contains("Alps"));
    service.check_log();
}

#[tokio::test]
async fn a_quiet_day_is_noted_and_what_may_go_on_is_not_told_yet() {
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
    // Silent for an hour, though not over: what it came to is read from what was said.
    ago(61);
    assert_eq!(reflect(&ground, alice, "daily").await["state"], "made");
    let data: Value = serde_json::from_str(&asked(&model)[0].1).unwrap();
    let told = &data["conversations"][0];
    assert!(told.to_string().contains("badgers"), "{data}");
    assert_eq!((&told["corrections"], &told["notes"]), (&json!(1), &json!(["Not those, the honey ones"])), "{told}");
    service.check_log();
}

#[tokio::test]
async fn what_is_not_to_be_trusted_is_told_apart_and_marked() {
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
    // A mark that comes later reaches what was told of the conversation.
    talk.tell("/taint", json!({"source": "a mail"})).await;
    assert_eq!(pluck_flags(&newest(alice, "daily").await), [true, true]);
    service.check_log();
}

fn pluck_flags(reflection: &Value) -> Vec<bool> {
    reflection["texts"].as_array().unwrap().iter().map(|text| text["tainted"].as_bool().unwrap()).collect()
}

/// The Monday of the last week that is over, or ends today, where the user is.
const MONDAY: &str = "(select (n.today - extract(dow from n.today)::integer - 6) as monday from (
    select (now() at time zone l.time_zone)::date as today from learning l where l.user_id = u.user_id) n)";

/// Notes days of that week: the first ones are told of by these memories, the rest were quiet; one is left out.
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

/// Notes all weeks that ended in the last month, where nothing is noted of them: each is told of by a memory of this text.
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
    // Four or five weeks end in a month, and the last of them may be noted already.
    assert!((3..=5).contains(&noted), "{noted}");
}

#[tokio::test]
async fn a_week_is_told_from_its_days_where_each_is_dealt_with() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("A week of otters.", &json!([]))]);
    let (service, World { alice, .. }) = &house(&ground, &model, plain()).await;
    // Nothing at all is told of that week.
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
    // What is told of first is what is to be trusted.
    let (rules, data) =
        all.iter().find(|(rules, _)| rules.contains("Look back at the month")).expect("the month's question");
    assert!(data.contains("built a dam") && !data.contains("fed on Monday"), "{rules}\n{data}");
    service.check_log();
}

#[tokio::test]
async fn an_answer_of_no_use_keeps_nothing_and_is_tried_three_times() {
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
    // No more of it, though it would be told by now.
    model.replies([tells("Otters live in holts.", &json!([]))]);
    let last = alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(200);
    ground.idle();
    assert_eq!((&last["state"], asked(&model).len()), (&json!("failed"), 3), "{last}");
    assert_eq!(alice.get("/v1/memories?kind=reflection").await.ok(200)["items"], json!([]));
    service.check_log();
}

#[tokio::test]
async fn a_model_that_is_away_costs_no_try_and_a_zone_that_nobody_knows_is_utc() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Status(503, "", "")]);
    let service = ground.serve(&chat(&model.url()));
    let World { alice, .. } = &World::at(&service, &service, json!({"starter_skills": false})).await;
    // No tenant is given such a one; a newer Postgres may know one that an older does not.
    execute_at(&ground.owner, r#"update tenants set settings = settings || '{"time_zone": "Mars/Olympus"}'"#);
    converse(alice, "Tell me where otters live").await;
    // Whatever the hour, today it was.
    let noon = "update sessions set last_message_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'";
    execute_at(&ground.owner, noon);
    alice.post("/v1/reflections", json!({"cadence": "daily"})).await.ok(202);
    // The job that summarizes the conversation waits for the model, so there is always one left.
    let away = poll_async("a failure", async || {
        let now = newest(alice, "daily").await;
        (now["state"] == "failed").then_some(now)
    })
    .await;
    assert_eq!(away["tries"], 0, "{away}");
    assert!(away["reason"].as_str().unwrap().contains("no answer"), "{away}");
    model.replies([tells("Otters live in holts.", &json!([]))]);
    // It is left alone for a moment after that.
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
async fn without_a_model_or_where_the_tenant_wants_none_it_says_so() {
    let ground = Ground::new();
    let service = ground.serve(&[super::background::WITH_WORKER]);
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

/// Twelve skills of an agent's; the names of two that follow each other make an action.
pub(super) async fn agent_skills(world: &World, user: &str) {
    let agent = world.backend().await.acting_for(user);
    for n in 0..13 {
        let description = format!("Does the chore number {n} of the house and says so. Use when it is asked for.");
        let skill = json!({"name": format!("chore-{n}"), "description": description, "triggers": ["a", "b", "c"],
            "summary": "Does a chore", "content": format!("# Chore {n}\n\nDo it.\n")});
        agent.create(skill).await;
    }
}

/// So many actions that each have one skill point at the next; the third names one that there is not.
fn pointing(count: usize) -> Value {
    let name = |n: usize| if n == 2 { "nobody-knows".to_owned() } else { format!("chore-{n}") };
    let action = |n: usize| json!({"op": "see_also", "name": name(n), "add": [format!("chore-{}", n + 1)]});
    json!((0..count).map(action).collect::<Vec<_>>())
}

pub(super) fn with_actions(actions: &str) -> Value {
    json!({"starter_skills": false, "reflection_actions": actions})
}

/// A user's daily with twelve proposed actions, and the run of those that were taken.
async fn reflect_with_actions(ground: &Ground, who: &Caller) -> (Value, Value) {
    let made = reflect(ground, who, "daily").await;
    assert_eq!(made["state"], "made", "{made}");
    let run = match made["run"].as_str() {
        Some(run) => who.get(&format!("/v1/dreams/{run}")).await.ok(200),
        None => Value::Null,
    };
    (made, run)
}

pub(super) fn outcomes(run: &Value) -> Vec<String> {
    pluck(&run["ops"], "outcome")
}

/// Acceptance case 7: of twelve actions ten are taken; the third fails, and the others happen.
#[tokio::test]
async fn actions_are_applied_as_far_as_the_checks_let_them() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &pointing(12))]);
    let (service, world) = &house(&ground, &model, with_actions("ai")).await;
    agent_skills(world, "alice").await;
    converse(&world.alice, "Do the chores of the house, all of them").await;
    ground.idle();
    let (made, run) = reflect_with_actions(&ground, &world.alice).await;
    assert!(made["reason"].as_str().unwrap().starts_with("2 of 12 proposed actions were dropped"), "{made}");
    assert_eq!(
        (&run["pass"], &run["cause"], &run["mode"]),
        (&json!("reflection"), &json!("reflection"), &json!("apply"))
    );
    let expected: Vec<&str> = (0..10).map(|n| if n == 2 { "refused" } else { "applied" }).collect();
    assert_eq!(outcomes(&run), expected, "{run}");
    assert_eq!(world.alice.peek("chore-9").await["see_also"], json!(["chore-10"]));
    assert_eq!(world.alice.peek("chore-10").await["see_also"], json!([]));
    let [(system, data)] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    assert!(system.contains("proposed_actions") && data.contains("chore number 7"), "{system} {data}");
    // And they are taken back like a dream's.
    world.alice.post(&format!("/v1/dreams/{}/undo", run["id"].as_str().unwrap()), json!({})).await.ok(200);
    assert_eq!(world.alice.peek("chore-9").await["see_also"], json!([]));
    service.check_log();
}

#[tokio::test]
async fn a_day_has_room_for_fifty_actions() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &pointing(12))]);
    let (service, world) = &house(&ground, &model, with_actions("ai")).await;
    agent_skills(world, "alice").await;
    for (user, count) in [("alice", 48), ("bob", 50)] {
        // Whoever has not been seen yet has no row.
        converse(if user == "alice" { &world.alice } else { &world.bob }, "Do the chores of the house").await;
        let run = "(select run_id from dream_runs r where r.user_id = u.user_id limit 1)";
        execute_at(
            &ground.owner,
            &format!(
                "insert into dream_runs (tenant_id, user_id, run_id, pass, cause, mode, dry_run, state, started_by, created_at,
                     texts_until)
                 select u.tenant_id, u.user_id, uuidv7(), 'reflection', 'reflection', 'propose', false, 'applied', 'x',
                        now(), now() + interval '1 day' from users u where u.external_id = '{user}'"
            ),
        );
        execute_at(
            &ground.owner,
            &format!(
                "insert into dream_ops (tenant_id, user_id, run_id, position, kind, op, outcome)
                 select u.tenant_id, u.user_id, {run}, n, 'see_also', '{{}}', 'applied'
                 from users u, generate_series(1, {count}) n where u.external_id = '{user}'"
            ),
        );
    }
    ground.idle();
    let (made, run) = reflect_with_actions(&ground, &world.alice).await;
    assert_eq!(outcomes(&run), ["applied", "applied"], "{made} {run}");
    assert!(made["reason"].as_str().unwrap().starts_with("10 of 12 proposed"), "{made}");
    let (made, _) = reflect_with_actions(&ground, &world.bob).await;
    assert_eq!(made["run"], Value::Null, "{made}");
    assert!(made["reason"].as_str().unwrap().starts_with("12 of 12 proposed"), "{made}");
    service.check_log();
}

#[tokio::test]
async fn a_person_decides_where_the_tenant_says_so_and_of_what_is_not_to_be_trusted() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &pointing(3))]);
    let (service, human) = &house(&ground, &model, with_actions("human")).await;
    agent_skills(human, "alice").await;
    converse(&human.alice, "Do the chores of the house").await;
    ground.idle();
    let (_, run) = reflect_with_actions(&ground, &human.alice).await;
    assert_eq!(
        (outcomes(&run).as_slice(), &run["state"]),
        (&["proposed", "proposed", "refused"].map(str::to_owned)[..], &json!("planned"))
    );
    assert_eq!(human.alice.peek("chore-0").await["see_also"], json!([]));

    let ai = World::at(service, service, with_actions("ai")).await;
    at_noon(&ai.alice).await;
    agent_skills(&ai, "alice").await;
    converse_tainted(&ai.alice, "Do the chores of the house").await;
    ground.idle();
    let (made, run) = reflect_with_actions(&ground, &ai.alice).await;
    assert_eq!(pluck_flags(&made), [true]);
    assert_eq!(outcomes(&run), ["waiting", "waiting", "refused"], "{run}");
    assert_eq!(ai.alice.peek("chore-0").await["see_also"], json!([]));

    let none = World::at(service, service, with_actions("none")).await;
    at_noon(&none.alice).await;
    agent_skills(&none, "alice").await;
    converse(&none.alice, "Do the chores of the house").await;
    ground.idle();
    let (made, _) = reflect_with_actions(&ground, &none.alice).await;
    assert_eq!((&made["run"], &made["reason"]), (&Value::Null, &Value::Null), "{made}");
    service.check_log();
}
