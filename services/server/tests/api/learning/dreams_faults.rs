//! Faults while dreams are applied or undone, and concurrent changes. Each change is made completely or not at all,
//! and a repeated request has the same result.

use std::cell::Cell;
use std::future::IntoFuture;

use futures_util::future::{join, join_all};
use knowhow_testing::{Wire, until};
use serde_json::{Value, json};

use super::dreams_stage::{Dreamer, Stage, plan};
use super::dreams_worlds::library::{Digest, body, digest};
use crate::sql::{column_at, execute_at};
use crate::worker::Ground;

/// For each skill its name, the word that makes vectors similar, and the name in its text.
const SKILLS: [(&str, &str, &str); 5] = [
    ("f/a", "kinone", "f/a"),
    ("f/b", "kinone", "f/b"),
    ("f/c", "kintwo", "kintwo"),
    ("f/d", "kintwo", "kintwo"),
    ("f/e", "it", "f/e"),
];
const APART: (&str, &str) = ("KNOWHOW_WITH_WORKER", "false");

/// Creates a user with five skills, and a plan that merges two of them, archives one and adds links to another.
async fn cast(stage: &Stage, name: &str, mode: &str) -> Dreamer {
    let user = stage.user(name).await;
    for (name, kin, text) in SKILLS {
        let description = format!("Does {kin} for {text}. Use when somebody asks for it.");
        user.agent.create(json!({"name": name, "description": description, "content": body(text)})).await;
    }
    user.who.get("/v1/skills/f%2Fb").await.ok(200);
    user.who.put("/v1/skills/f%2Fb/relations/requires/f%2Fd", json!(null)).await;
    user.who.put("/v1/learning", json!({"consolidate": mode, "optimize": mode})).await.ok(200);
    let age = "created_at = timestamptz '2026-01-01' + interval '1 day' * (hashtext(t.name) % 30)";
    stage.set(&user, "skills", age);
    stage.idle(&user).await;
    stage.says(&user, |_| {
        let at = |name: &str| json!({"name": name, "version": 1});
        plan(&json!([
            {"op": "merge", "into": "f/a", "sources": [at("f/a"), at("f/b")], "description": "Does kinone for f/a and f/b. Use for both.",
                "body": format!("{}{}", body("f/a"), body("f/b"))},
            {"op": "archive", "name": "f/c", "version": 1, "absorbed_into": "f/d"},
            {"op": "see_also", "name": "f/e", "add": ["f/a", "f/d"]},
        ]))
    });
    user
}

fn path(run: &Value, verb: &str) -> String {
    format!("/v1/dreams/{}/{verb}", run["id"].as_str().unwrap())
}

/// Sends a request until it is answered, over a connection that is cut after some round trips. Returns whether it was
/// cut.
async fn insist(wire: &Wire, user: &Dreamer, path: &str, look: impl FnOnce()) -> bool {
    let first = user.who.post(path, json!({})).attempt().await;
    let was_cut = wire.is_cut();
    if was_cut {
        look();
        wire.mend();
        crate::service::poll_async("the service to find its database again", async || {
            let again = user.who.post(path, json!({})).attempt().await?;
            // If the lost request succeeded, the repeated one may be refused as decided.
            [200, 409].contains(&again.status).then_some(())
        })
        .await;
    } else {
        wire.mend();
        let first = first.unwrap();
        assert_eq!(first.status, 200, "{first}");
    }
    was_cut
}

/// Cuts the database connection after every `step`th round trip of applying and of undoing.
async fn lose_the_database(step: usize) {
    let ground = Ground::new();
    let wire = Wire::to(&ground.login());
    let stage = Stage::by(ground, &wire.url, &[APART]).await;
    let _worker = stage.work(&stage.ground.login());
    let (mut expected, mut cuts) = (None, 0);
    for loses_answer in [false, true] {
        let mut is_over = false;
        for flights in (1..40).step_by(step) {
            if is_over {
                break;
            }
            let cut = |wire: &Wire| if loses_answer { wire.lose_answer_to(flights) } else { wire.cut_after(flights) };
            let user = cast(&stage, &format!("u{flights}-{loses_answer}"), "propose").await;
            let first = digest(&stage, &user);
            // `see_also` changes no instructions, so it is applied without a person.
            let run = stage.dream(&user, "consolidate").await;
            assert_eq!((&run["counts"]["applied"], &run["counts"]["proposed"]), (&json!(1), &json!(2)), "{run:#}");
            let before = digest(&stage, &user);
            let look = |one: &Digest, other: Option<&Digest>| {
                let now = digest(&stage, &user);
                let is_whole = now == *one || other.is_none_or(|other| now == *other);
                assert!(is_whole, "half of it is there, {flights} {loses_answer}: {now:#?}");
            };
            cut(&wire);
            let applied = insist(&wire, &user, &path(&run, "apply"), || look(&before, expected.as_ref())).await;
            let after = digest(&stage, &user);
            let known = expected.get_or_insert_with(|| after.clone());
            assert_eq!(after, *known, "applied, {flights} {loses_answer}");
            assert_eq!(stage.ended(&user, run["id"].as_str().unwrap()).await["counts"]["applied"], 3);
            cut(&wire);
            let undone = insist(&wire, &user, &path(&run, "undo"), || look(&after, Some(&first))).await;
            assert_eq!(digest(&stage, &user), first, "undone, {flights} {loses_answer}");
            cuts += usize::from(applied) + usize::from(undone);
            is_over = !applied && !undone;
        }
        assert!(is_over, "it was always cut off");
    }
    assert!(cuts * step > 12, "{cuts}");
    stage.service.check_log();
}

#[tokio::test]
async fn apply_and_undo_are_atomic_when_the_database_is_lost() {
    lose_the_database(7).await;
}

#[tokio::test]
#[ignore = "minutes: make test-dreams"]
async fn apply_and_undo_are_atomic_if_the_database_is_lost_anywhere() {
    lose_the_database(1).await;
}

#[tokio::test]
async fn undo_of_an_edited_skill_makes_one_submission_if_the_database_is_lost() {
    let ground = Ground::new();
    let wire = Wire::to(&ground.login());
    let stage = Stage::by(ground, &wire.url, &[APART]).await;
    let _worker = stage.work(&stage.ground.login());
    let mut cuts = 0;
    for flights in (2..40).step_by(3) {
        let user = cast(&stage, &format!("u{flights}"), "apply").await;
        stage.says(&user, |_| {
            let edits = json!([{"old_string": "Second of f/a.", "new_string": "Second of f/a, now mended."}]);
            plan(&json!([{"op": "patch", "name": "f/a", "version": 1, "edits": edits}]))
        });
        let run = stage.dream(&user, "optimize").await;
        assert_eq!(run["state"], "applied", "{run:#}");
        user.who.replace("f/a", "Second of f/a", "Second, said by a person, of f/a").await.ok(200);
        let edited = user.raw("f/a").await;
        wire.cut_after(flights);
        let was_cut = insist(&wire, &user, &path(&run, "undo"), || ()).await;
        let undone = user.undo(run["id"].as_str().unwrap()).await;
        assert_eq!(undone["ops"][0]["undo"], "kept", "{undone:#}");
        assert_eq!(user.raw("f/a").await, edited);
        let waiting = user.who.get("/v1/submissions?state=needs_review").await.ok(200);
        let ids: Vec<&Value> = waiting["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(ids, [&undone["ops"][0]["undo_submission"]], "{flights}: {undone:#}");
        cuts += usize::from(was_cut);
        if !was_cut {
            break;
        }
    }
    assert!((2..12).contains(&cuts), "{cuts}");
    stage.service.check_log();
}

/// Kills the worker after every `step`th round trip.
async fn kill_the_worker(step: usize) {
    let stage = Stage::by_itself(&[APART]).await;
    let login = stage.ground.login();
    let expected = {
        let _worker = stage.work(&login);
        let user = cast(&stage, "whole", "apply").await;
        let before = digest(&stage, &user);
        let run = stage.dream(&user, "consolidate").await;
        assert_eq!(run["counts"]["applied"], 3, "{run:#}");
        let after = digest(&stage, &user);
        assert_ne!(after, before);
        after
    };
    let ended = Cell::new(false);
    for flights in (8..100).step_by(step) {
        let user = {
            let _worker = stage.work(&login);
            cast(&stage, &format!("u{flights}"), "apply").await
        };
        let before = digest(&stage, &user);
        let wire = Wire::to(&login);
        let started = user.who.post("/v1/dreams", json!({"passes": ["consolidate"]})).await.ok(202);
        let id = started["items"][0]["id"].as_str().unwrap();
        let mut worker = stage.work(&wire.url);
        wire.cut_after(flights);
        let left = format!("select r.state from dream_runs r where r.run_id = '{id}' and r.state = 'queued'");
        until("the worker to be cut off, or done", || {
            ended.set(column_at(&stage.ground.owner, &left).is_empty());
            wire.is_cut() || ended.get()
        })
        .await;
        worker.kill();
        // A job that finds the connection cut before the kill may log an error.
        worker.errors();
        let now = digest(&stage, &user);
        assert!(now == before || now == expected, "half of it is there, {flights}: {now:#?}");
        let _next = stage.work(&login);
        stage.ground.idle();
        let run = stage.ended(&user, id).await;
        assert_eq!((&run["state"], digest(&stage, &user) == expected), (&json!("applied"), true), "{flights}: {run:#}");
        if ended.get() && !wire.is_cut() {
            return;
        }
        // A worker that has ended the run asks for other jobs, so its connection may be cut after the end of the run.
    }
}

#[tokio::test]
async fn next_worker_finishes_the_run_of_a_killed_worker() {
    kill_the_worker(16).await;
}

#[tokio::test]
#[ignore = "minutes: make test-dreams"]
async fn next_worker_finishes_the_run_of_a_worker_killed_anywhere() {
    kill_the_worker(2).await;
}

const TIMES: usize = 4;

/// Creates users, each with a run that has proposed operations.
async fn waiting(stage: &Stage) -> Vec<(Dreamer, Value, Digest)> {
    let mut users = Vec::new();
    for n in 0..TIMES {
        let user = cast(stage, &format!("u{n}"), "propose").await;
        let before = digest(stage, &user);
        let run = stage.dream(&user, "consolidate").await;
        users.push((user, run, before));
    }
    users
}

#[tokio::test]
async fn concurrent_apply_and_concurrent_undo_take_effect_once() {
    let stage = Stage::new().await;
    for (user, run, before) in waiting(&stage).await {
        let ask = |verb: &str| user.who.post(&path(&run, verb), json!({}));
        let both = join(ask("apply").into_future(), ask("apply").into_future()).await;
        let statuses = [both.0.status, both.1.status];
        assert!(statuses.contains(&200) && statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        let versions = user.who.get("/v1/skills/f%2Fa/versions").await.ok(200)["items"].as_array().unwrap().len();
        assert_eq!(versions, 2);
        let (one, other) = join(ask("undo").into_future(), ask("undo").into_future()).await;
        assert_eq!(one.ok(200)["ops"], other.ok(200)["ops"]);
        assert_eq!(digest(&stage, &user), before);
        let versions = user.who.get("/v1/skills/f%2Fa/versions").await.ok(200)["items"].as_array().unwrap().len();
        assert_eq!(versions, 3);
    }
    stage.service.check_log();
}

#[tokio::test]
async fn undo_concurrent_with_apply_undoes_all_operations() {
    let stage = Stage::new().await;
    for (user, run, before) in waiting(&stage).await {
        user.who.post(&path(&run, "apply"), json!({"ops": [0]})).await.ok(200);
        let rest = user.who.post(&path(&run, "apply"), json!({}));
        let (undone, applied) =
            join(user.who.post(&path(&run, "undo"), json!({})).into_future(), rest.into_future()).await;
        undone.ok(200);
        assert!([200, 409].contains(&applied.status), "{applied}");
        assert_eq!(digest(&stage, &user), before);
        // Whichever request came first, no operation can be decided any more.
        let run = stage.ended(&user, run["id"].as_str().unwrap()).await;
        assert_eq!(run["state"], "undone", "{run:#}");
        assert_eq!((&run["counts"]["waiting"], &run["counts"]["proposed"]), (&json!(0), &json!(0)), "{run:#}");
        for verb in ["apply", "reject"] {
            user.who.post(&path(&run, verb), json!({})).await.refused(409, "decided");
        }
        // The operations are not proposed again.
        stage.set(&user, "dream_passes", "fingerprint = null");
        let again = stage.dream(&user, "consolidate").await;
        assert_eq!((&again["state"], &again["counts"]["refused"]), (&json!("skipped"), &json!(3)), "{again:#}");
    }
    stage.service.check_log();
}

#[tokio::test]
async fn edit_concurrent_with_apply_takes_effect_before_or_after_it() {
    let stage = Stage::new().await;
    let mut ends = [0, 0];
    for (user, run, _) in waiting(&stage).await {
        let edit = user.who.replace("f/a", "First of f/a", "First, as a person says, of f/a");
        let (applied, edited) =
            join(user.who.post(&path(&run, "apply"), json!({})).into_future(), edit.into_future()).await;
        edited.ok(200);
        let run = applied.ok(200);
        let raw = user.raw("f/a").await;
        assert!(raw.contains("First, as a person says, of f/a"), "{raw}");
        let outcome = run["ops"][0]["outcome"].as_str().unwrap();
        assert_eq!(raw.contains("First of f/b"), outcome == "applied", "{run:#}");
        assert_eq!(user.who.peek("f/b").await["name"], if outcome == "applied" { "f/a" } else { "f/b" });
        assert_eq!(
            (&run["ops"][1]["outcome"], &run["ops"][2]["outcome"]),
            (&json!("applied"), &json!("applied")),
            "{run:#}"
        );
        ends[usize::from(outcome == "applied")] += 1;
        assert_eq!(run["state"], ["partly", "applied"][usize::from(outcome == "applied")], "{run:#}");
    }
    println!("edited first {}, applied first {}", ends[0], ends[1]);
    stage.service.check_log();
}

#[tokio::test]
async fn nothing_is_archived_after_the_tenant_disables_the_archive() {
    let stage = Stage::new().await;
    let user = cast(&stage, "u", "propose").await;
    let before = digest(&stage, &user);
    let run = stage.dream(&user, "consolidate").await;
    let set = "update tenants set settings = settings || '{\"archive_days\": 0}'";
    assert!(execute_at(&stage.ground.owner, set) > 0);
    // A process that has not cached the tenant.
    let other = stage.ground.serve(&[]);
    let applied = user.who.at(&other).post(&path(&run, "apply"), json!({})).await.ok(200);
    let outcomes: Vec<&Value> = applied["ops"].as_array().unwrap().iter().map(|op| &op["outcome"]).collect();
    assert_eq!(outcomes, ["refused", "refused", "applied"], "{applied:#}");
    assert!(applied["ops"][0]["reasons"][0].as_str().unwrap().contains("no archive"), "{applied:#}");
    let mut after = digest(&stage, &user);
    after.insert("f/e".to_owned(), before["f/e"].clone());
    assert_eq!(after, before);
    other.check_log();
}

#[tokio::test]
async fn run_processed_by_two_workers_ends_once() {
    let stage = Stage::new().await;
    let users = join_all((0..3).map(async |n| cast(&stage, &format!("u{n}"), "apply").await)).await;
    for user in &users {
        let started = user.who.post("/v1/dreams", json!({"passes": ["consolidate"]})).await.ok(202);
        let id = started["items"][0]["id"].as_str().unwrap();
        // Enqueues the job again, as if its worker was presumed dead.
        let again = format!(
            "select app.enqueue_for(tenant_id, user_id, 'dream', jsonb_build_object('run_id', run_id), run_id || '-again')
             from dream_runs where run_id = '{id}'"
        );
        execute_at(&stage.ground.owner, &again);
        let run = stage.ended(user, id).await;
        stage.ground.idle();
        let later = stage.ended(user, id).await;
        assert_eq!((&later["state"], &later["ops"]), (&json!("applied"), &run["ops"]), "{later:#}");
        let versions = user.who.get("/v1/skills/f%2Fa/versions").await.ok(200)["items"].as_array().unwrap().len();
        assert_eq!(versions, 2);
    }
    stage.service.check_log();
}
