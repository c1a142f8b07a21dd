//! Jobs in the admin API.

use knowhow_domain::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::World;
use crate::sql;

/// Enqueues a job of an unknown task for a user of the world's tenant, and returns the job's id.
pub async fn enqueue(world: &World, user: &str) -> i64 {
    let about = uuid::Uuid::now_v7();
    let made = sql::execute(&format!(
        "select app.enqueue_for(t.tenant_id, u.user_id, 'test_unknown', '{{}}', '{about}')
         from tenants t join users u on u.tenant_id = t.tenant_id
         where t.slug = '{}' and u.external_id = '{user}'",
        world.slug
    ));
    assert_eq!(made, 1);
    world.admin.get("/v1/admin/jobs?limit=1").await.ok(200)["items"][0]["id"].as_i64().unwrap()
}

/// Sets columns of a job as a worker would.
fn pretend(job: i64, set: &str) {
    assert_eq!(sql::execute(&format!("update graphile_worker._private_jobs set {set} where id = {job}")), 1);
}

async fn list(world: &World, query: &str) -> Value {
    world.admin.get(&format!("/v1/admin/jobs?{query}")).await.ok(200)["items"].clone()
}

#[tokio::test]
async fn an_admin_lists_the_jobs_of_the_tenant_and_their_states() {
    let world = World::new().await;
    for caller in [&world.alice, &world.bob] {
        caller.names().await;
    }
    assert_eq!(list(&world, "").await, json!([]));
    let (first, second, third) =
        (enqueue(&world, "alice").await, enqueue(&world, "bob").await, enqueue(&world, "alice").await);
    let jobs = list(&world, "").await;
    assert_eq!(pluck(&jobs, "id"), [third, second, first].map(|id| id.to_string()));
    assert_eq!(pluck(&jobs, "user"), ["alice", "bob", "alice"]);
    let expected = [
        "attempts",
        "created_at",
        "id",
        "key",
        "last_error",
        "max_attempts",
        "run_at",
        "state",
        "task",
        "tenant",
        "user",
    ];
    assert_eq!(members(&jobs[0]), expected);
    assert_eq!((&jobs[0]["task"], &jobs[0]["state"]), (&json!("test_unknown"), &json!("waiting")));
    assert!(jobs[0]["key"].as_str().unwrap().starts_with("test_unknown:"));

    pretend(first, "attempts = max_attempts, last_error = 'TaskError(\"the model is away\")'");
    pretend(second, "attempts = 1, run_at = now() + interval '1 hour', last_error = 'TaskPanic(\"select 1\")'");
    pretend(third, "attempts = 1, locked_at = now(), locked_by = 'a test'");
    for (state, job) in [("dead", first), ("failed", second), ("running", third)] {
        assert_eq!(pluck(&list(&world, &format!("state={state}")).await, "id"), [job.to_string()]);
    }
    assert_eq!(list(&world, "state=waiting").await, json!([]));
    assert_eq!(list(&world, "state=dead").await[0]["last_error"], "the model is away");
    assert_eq!(list(&world, "state=failed").await[0]["last_error"], "the worker stopped while running the job");

    let page = world.admin.get("/v1/admin/jobs?limit=2").await.ok(200);
    let next = format!("/v1/admin/jobs?limit=2&cursor={}", page["next_cursor"].as_str().unwrap());
    let rest = world.admin.get(&next).await.ok(200);
    assert_eq!((pluck(&rest["items"], "id"), &rest["next_cursor"]), (vec![first.to_string()], &Value::Null));
    for bad in ["state=gone", "state=", "cursor=x", "limit=0"] {
        world.admin.get(&format!("/v1/admin/jobs?{bad}")).await.refused(400, "malformed");
    }
    world.alice.get("/v1/admin/jobs").await.refused(403, "forbidden");
    let by_operator = world.operator.get(&format!("/v1/admin/jobs?tenant={}", world.slug)).await.ok(200);
    assert_eq!(by_operator["items"], list(&world, "").await);
}

#[tokio::test]
async fn an_admin_retries_and_discards_only_jobs_of_the_tenant() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    world.alice.names().await;
    let (dead, running) = (enqueue(&world, "alice").await, enqueue(&world, "alice").await);
    pretend(dead, "attempts = 1, max_attempts = 1, last_error = 'TaskError(\"no\")'");
    pretend(running, "attempts = 1, locked_at = now(), locked_by = 'a test'");
    let (retry, discard) =
        (|job: i64| format!("/v1/admin/jobs/{job}/retry"), |job: i64| format!("/v1/admin/jobs/{job}"));
    for stranger in [&elsewhere.admin, &world.operator] {
        stranger.send(reqwest::Method::POST, &retry(dead)).await.refused(404, "not-found");
        stranger.delete(&discard(dead)).await.refused(404, "not-found");
    }
    for bad in ["x", "1.5", "99999999999999999999"] {
        world.admin.delete(&format!("/v1/admin/jobs/{bad}")).await.refused(400, "malformed");
    }
    world.admin.send(reqwest::Method::POST, &retry(running)).await.refused(409, "job-running");
    world.admin.delete(&discard(running)).await.refused(409, "job-running");

    world.admin.send(reqwest::Method::POST, &retry(dead)).await.empty(204);
    let again = &list(&world, "state=waiting").await[0];
    assert_eq!((&again["id"], &again["attempts"], &again["max_attempts"]), (&json!(dead), &json!(0), &json!(10)));
    world.admin.delete(&discard(dead)).await.empty(204);
    world.admin.delete(&discard(dead)).await.refused(404, "not-found");
    assert_eq!(pluck(&list(&world, "").await, "id"), [running.to_string()]);
    let audit = world.admin.get("/v1/admin/audit?limit=2").await.ok(200)["items"].clone();
    assert_eq!(pluck(&audit, "action"), ["job.discard", "job.retry"]);
    assert_eq!((&audit[0]["target"], &audit[0]["detail"]["job"]), (&json!("test_unknown"), &json!(dead)));
}

#[tokio::test]
async fn an_operator_without_a_tenant_lists_the_jobs_of_the_system() {
    let world = World::new().await;
    world.alice.names().await;
    let of_tenant = enqueue(&world, "alice").await;
    let about = uuid::Uuid::now_v7();
    sql::execute(&format!("select app.enqueue_for(null, null, 'test_unknown', '{{}}', '{about}')"));
    let jobs = world.operator.get("/v1/admin/jobs?limit=200").await.ok(200)["items"].clone();
    let ours = |job: &&Value| job["key"] == json!(format!("test_unknown:{about}"));
    let job = jobs.as_array().unwrap().iter().find(ours).unwrap();
    assert_eq!((&job["user"], &job["state"]), (&Value::Null, &json!("waiting")));
    assert_eq!(job["tenant"], Value::Null);
    assert!(!pluck(&jobs, "id").contains(&of_tenant.to_string()));
    let path = format!("/v1/admin/jobs/{}", job["id"]);
    world.admin.delete(&path).await.refused(404, "not-found");
    world.operator.delete(&path).await.empty(204);
}

#[tokio::test]
async fn jobs_are_counted_by_task_state_and_age() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    for caller in [&world.alice, &world.bob, &elsewhere.alice] {
        caller.names().await;
    }
    let (first, second, third) =
        (enqueue(&world, "alice").await, enqueue(&world, "bob").await, enqueue(&world, "alice").await);
    enqueue(&elsewhere, "alice").await;
    pretend(first, "attempts = max_attempts");
    pretend(second, "attempts = 1, run_at = now() + interval '1 hour', created_at = now() - interval '2 hours'");
    pretend(third, "run_at = now() - interval '10 minutes'");
    let queues = world.admin.get("/v1/admin/queues").await.ok(200)["items"].clone();
    let queue = queues.as_array().unwrap().iter().find(|queue| queue["task"] == "test_unknown").unwrap();
    let counts = ["waiting", "running", "failed", "dead"].map(|state| queue[state].as_i64().unwrap());
    assert_eq!(counts, [1, 0, 1, 1], "{queue}");
    let late = queue["late_s"].as_i64().unwrap();
    assert!((600..1200).contains(&late), "{queue}");
    let oldest: chrono::DateTime<chrono::Utc> = queue["oldest_at"].as_str().unwrap().parse().unwrap();
    assert!((SystemClock.now() - oldest).num_minutes() >= 119, "{queue}");
    let theirs = elsewhere.admin.get("/v1/admin/queues").await.ok(200)["items"].clone();
    assert_eq!(pluck(&theirs, "task"), ["test_unknown"]);
    assert_eq!(theirs[0]["waiting"], 1);
    // An operator without a tenant gets the counts of all tenants.
    let all = world.operator.get("/v1/admin/queues").await.ok(200)["items"].clone();
    let queue = all.as_array().unwrap().iter().find(|queue| queue["task"] == "test_unknown").unwrap();
    assert!(queue["waiting"].as_i64().unwrap() >= 2, "{queue}");
    world.alice.get("/v1/admin/queues").await.refused(403, "forbidden");
    for job in [first, second, third] {
        world.admin.delete(&format!("/v1/admin/jobs/{job}")).await.empty(204);
    }
}
