//! Operations of one run that depend on each other, and runs whose mode is lowered before they end.

use knowhow_testing::Reply;
use serde_json::json;

use super::dreams_stage::{Stage, plan};
use super::dreams_worlds::library::{body, digest};
use crate::answers::pluck;
use crate::sql::execute_at;

/// If a run has changed a skill, its next operation on that skill is no conflict. This also holds if a person applies
/// the operations one by one.
#[tokio::test]
async fn run_archives_into_a_skill_that_it_has_merged_before() {
    let stage = Stage::new().await;
    for (name, mode) in [("ann", "apply"), ("ben", "propose")] {
        let user = stage.user(name).await;
        for name in ["f/a", "f/b", "f/c"] {
            let description = format!("Does kinone for {name}. Use when somebody asks for it.");
            user.agent.create(json!({"name": name, "description": description, "content": body(name)})).await;
        }
        user.who.put("/v1/learning", json!({"consolidate": mode})).await.ok(200);
        stage.idle(&user).await;
        let before = digest(&stage, &user);
        stage.says(&user, |_| {
            let at = |name: &str| json!({"name": name, "version": 1});
            plan(&json!([
                {"op": "merge", "into": "f/c", "sources": [at("f/c"), at("f/b")],
                    "description": "Does kinone for f/a, f/b and f/c. Use for all three.",
                    "body": format!("{}{}{}", body("f/a"), body("f/b"), body("f/c"))},
                {"op": "archive", "name": "f/a", "version": 1, "absorbed_into": "f/c"},
            ]))
        });
        let mut run = stage.dream(&user, "consolidate").await;
        let path = format!("/v1/dreams/{}/apply", run["id"].as_str().unwrap());
        if mode == "propose" {
            assert_eq!(pluck(&run["ops"], "outcome"), ["proposed", "proposed"], "{run:#}");
            user.who.post(&path, json!({"ops": [0]})).await.ok(200);
            run = user.who.post(&path, json!({"ops": [1]})).await.ok(200);
        }
        assert_eq!(pluck(&run["ops"], "outcome"), ["applied", "applied"], "{run:#}");
        assert_eq!(user.who.names().await, ["f/c", &format!("mark-of-{name}")]);
        user.undo(run["id"].as_str().unwrap()).await;
        assert_eq!(digest(&stage, &user), before);
    }
    stage.service.check_log();
}

/// The plan was made in mode `apply`. After the change to `propose` it waits for a person, and the run ends.
#[tokio::test]
async fn plan_waits_for_a_person_if_its_mode_is_lowered() {
    let stage = Stage::by_itself(&[("KNOWHOW_WITH_WORKER", "false")]).await;
    let user = stage.user("ann").await;
    let started = user.who.post("/v1/dreams", json!({"passes": ["gaps"]})).await.ok(202);
    let id = started["items"][0]["id"].as_str().unwrap();
    // The state that a worker leaves if it is killed between the plan and its changes.
    let op = json!({"op": "create", "name": "new", "description": "Does it. Use it.", "body": "Do it.\n"});
    let planned = format!(
        "insert into dream_ops (tenant_id, user_id, run_id, position, kind, op, outcome) \
         select t.tenant_id, t.user_id, t.run_id, 0, 'create', '{op}', 'proposed' from dream_runs t where {}",
        stage.of(&user)
    );
    assert_eq!(execute_at(&stage.ground.owner, &planned), 1);
    user.who.put("/v1/learning", json!({"gaps": "propose"})).await.ok(200);
    let _worker = stage.work(&stage.ground.login());
    let run = stage.ended(&user, id).await;
    assert_eq!((&run["state"], &run["ops"][0]["outcome"]), (&json!("planned"), &json!("proposed")), "{run:#}");
    assert!(run["finished_at"].is_string(), "{run:#}");
    let applied = user.who.post(&format!("/v1/dreams/{id}/apply"), json!({})).await.ok(200);
    assert_eq!(applied["state"], "applied", "{applied:#}");
    stage.service.check_log();
}

/// The tokens of the model's review of changes count towards the tokens of the day.
#[tokio::test]
async fn tokens_of_the_review_are_counted_towards_the_day() {
    let stage = Stage::new().await;
    let mut left = Vec::new();
    for (name, mode) in [("ann", "apply"), ("ben", "propose")] {
        let user = stage.user(name).await;
        user.who.put("/v1/learning", json!({"gaps": mode})).await.ok(200);
        for day in [3, 2] {
            stage.talked(&user, day, &format!("please kinwish on day {day}")).await;
        }
        stage.says(&user, |_| -> Reply {
            plan(&json!([{
                "op": "create", "name": "wishes", "description": "Grants wishes. Use when a wish is made.",
                "triggers": ["a wish"], "body": "Ask, then do it.\n", "evidence": ["s1", "s2"],
            }]))
        });
        let run = stage.dream(&user, "gaps").await;
        assert_eq!(run["ops"][0]["outcome"], if mode == "apply" { "applied" } else { "proposed" }, "{run:#}");
        let learning = user.who.get("/v1/learning").await.ok(200);
        left.push(learning["tokens_left_today"].as_i64().unwrap());
    }
    // Both runs asked the model for a plan. Only Ann's run also asked it for a review.
    assert!(left[0] + 100 < left[1], "{left:?}");
    stage.service.check_log();
}
