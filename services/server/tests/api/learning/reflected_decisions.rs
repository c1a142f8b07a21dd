//! Actions of reflections: applied, limited, and decided by a reviewer.

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use super::reflected::{
    agent_skills, asked, at_noon, converse, converse_tainted, house, outcomes, pluck_flags, reflect, tells,
    with_actions,
};
use crate::background::chat;
use crate::callers::{Caller, World};
use crate::sql::execute_at;
use crate::talk::Talk;
use crate::worker::Ground;

/// Returns `count` actions, each of which adds the next skill to a skill's `see_also`. The third action names a skill
/// that does not exist.
fn pointing(count: usize) -> Value {
    let name = |n: usize| if n == 2 { "nobody-knows".to_owned() } else { format!("chore-{n}") };
    let action = |n: usize| json!({"op": "see_also", "name": name(n), "add": [format!("chore-{}", n + 1)]});
    json!((0..count).map(action).collect::<Vec<_>>())
}

/// Creates a user's daily reflection with proposed actions. Returns the reflection and the run of the accepted
/// actions.
async fn reflect_with_actions(ground: &Ground, who: &Caller) -> (Value, Value) {
    let made = reflect(ground, who, "daily").await;
    assert_eq!(made["state"], "made", "{made}");
    let run = match made["run"].as_str() {
        Some(run) => who.get(&format!("/v1/dreams/{run}")).await.ok(200),
        None => Value::Null,
    };
    (made, run)
}

/// Acceptance case 7: of twelve actions ten are accepted. The third one fails, and the others are applied.
#[tokio::test]
async fn only_actions_that_pass_the_checks_are_applied() {
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
    // The run can be undone like a dream.
    world.alice.post(&format!("/v1/dreams/{}/undo", run["id"].as_str().unwrap()), json!({})).await.ok(200);
    assert_eq!(world.alice.peek("chore-9").await["see_also"], json!([]));
    service.check_log();
}

#[tokio::test]
async fn at_most_fifty_actions_are_accepted_per_day() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &pointing(12))]);
    let (service, world) = &house(&ground, &model, with_actions("ai")).await;
    agent_skills(world, "alice").await;
    for (user, count) in [("alice", 48), ("bob", 50)] {
        // A user's first request creates the row in `users`.
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
async fn actions_wait_for_a_person_if_the_tenant_requires_it_or_if_tainted() {
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

/// A reflection shows the request of each conversation, and its waiting actions are counted and announced.
#[tokio::test]
async fn waiting_actions_are_counted_and_announced() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &pointing(2))]);
    let service = ground.serve(&[chat(&model.url()).to_vec(), vec![("KNOWHOW_PRIVATE_WEBHOOKS", "true")]].concat());
    let world = World::at(&service, &service, with_actions("human")).await;
    at_noon(&world.alice).await;
    let hook = FakeServer::start([Reply::Body(Vec::new())]);
    world.admin.put("/v1/admin/webhook", json!({"url": hook.url()})).await.ok(200);
    agent_skills(&world, "alice").await;
    let talk = converse_long(&world.alice, "THE-REQUEST of the day: do the chores").await;
    ground.idle();
    let (_, run) = reflect_with_actions(&ground, &world.alice).await;
    assert_eq!(run["counts"]["proposed"], 2, "{run}");
    let waiting = world.alice.get("/v1/learning").await.ok(200)["waiting"].clone();
    assert_eq!(waiting, json!({"dreams": 0, "reflections": 2}));
    let [told] = &hook.seen()[..] else { panic!("{} messages", hook.seen().len()) };
    assert_eq!((&told.body["type"], &told.body["data"]["waiting"]), (&json!("reflection.waiting"), &json!(2)));
    let [(_, data)] = &asked(&model)[..] else { panic!("{:?}", asked(&model)) };
    let question: Value = serde_json::from_str(data).unwrap();
    let messages = question["conversations"][0]["messages"].as_array().unwrap();
    assert!(messages[0]["text"].as_str().unwrap().starts_with("THE-REQUEST"), "{talk} {question:#}");
    assert_eq!((messages.len(), &messages[19]["text"]), (20, &json!("reply 9")), "{question:#}");
    service.check_log();
}

/// Creates an ended conversation of ten turns.
async fn converse_long(who: &Caller, message: &str) -> String {
    let talk = Talk::open(who, json!({"tools": "full"})).await;
    for turn in 0..10 {
        talk.say(&if turn == 0 { message.to_owned() } else { format!("message {turn}") }).await;
        talk.tell("/reply", json!({"message": format!("reply {turn}"), "rounds": 1})).await;
    }
    who.post(&talk.path("/end"), json!({})).await.ok(200);
    talk.id
}
