//! The reconciler, which repairs the graph, and workers that are killed while they read texts.

use std::process::Output;

use serde_json::{Value, json};

use super::{relations, remember, saying};
use crate::answers::pluck;
use crate::background::WITH_WORKER;
use crate::callers::{World, skill};
use crate::service::{knowhow, poll};
use crate::sql::execute_at;
use crate::worker::{Ground, world};

fn backfill(ground: &Ground, arguments: &[&str]) -> Output {
    let mut command = knowhow(&[&["backfill"], arguments].concat());
    command.env("KNOWHOW_DATABASE_URL", ground.login()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `knowhow backfill` and checks that it reports all skills as being in the graph.
fn reconcile(ground: &Ground) {
    let output = backfill(ground, &[]);
    assert!(output.status.success() && said(&output).ends_with("all skills are in the graph\n"), "{}", said(&output));
}

#[tokio::test]
async fn the_reconciler_repairs_the_graph_once() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let world = world(&service).await;
    let (alice, operator) = (&world.alice, &world.operator);
    alice.create_all(&["a-base", "b-base"]).await;
    alice.create(saying("c-top", "Requires a-base.")).await;
    ground.idle();
    reconcile(&ground);
    let counts = async || operator.get("/v1/admin/stats").await.ok(200)["graph"].clone();
    let before = counts().await;
    // One entity is missing, one skill counts as unread, and one entity belongs to a deleted skill.
    execute_at(&ground.owner, "delete from entities where name = 'b-base'");
    execute_at(&ground.owner, "update entities set read_by = 0 where name = 'c-top'");
    execute_at(&ground.owner, "delete from relations");
    execute_at(
        &ground.owner,
        "insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
         select tenant_id, user_id, gen_random_uuid(), 'skill', 'gone one', 'gone-one', 1, now() from users
         where external_id = 'alice'",
    );
    reconcile(&ground);
    let after = counts().await;
    let grown = |member: &str| after[member].as_i64().unwrap() - before[member].as_i64().unwrap();
    assert_eq!((grown("indexed"), grown("reconciled"), grown("removed")), (1, 1, 1), "{before} {after}");
    assert_eq!(relations(alice, "c-top").await, ["out requires a-base extracted"]);
    assert_eq!(ground.count("entities where kind = 'skill'"), 3);
    // A second run changes nothing.
    reconcile(&ground);
    assert_eq!(counts().await, after);
}

/// More skills than one transaction reads.
const SEVERAL_BATCHES: usize = 60;

#[tokio::test]
async fn skills_read_before_a_failure_are_counted() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    // Enrichment would also read the relations, and these would not count as repaired.
    let world = World::at(&service, &service, json!({"starter_skills": false, "enrich": false})).await;
    let names: Vec<String> = (0..SEVERAL_BATCHES).map(|n| format!("skill-{n:02}")).collect();
    world.alice.create_all(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    execute_at(&ground.owner, "delete from graphile_worker._private_jobs; delete from entities");
    execute_at(&ground.owner, "update user_catalogs set related_rules = 0");
    // A trigger makes the write of the last skill fail for a while.
    execute_at(
        &ground.owner,
        "create function public.refuse() returns trigger language plpgsql as $$ begin
             if new.name = 'skill-59' then raise exception 'not now'; end if; return new;
         end $$",
    );
    execute_at(
        &ground.owner,
        "create trigger refuse before insert on entities for each row execute function public.refuse()",
    );
    let worker = ground.work(&[]);
    assert!(backfill(&ground, &["--no-wait"]).status.success());
    poll("the job to fail", || {
        (ground.count("graphile_worker._private_jobs where last_error is not null") > 0).then_some(())
    });
    execute_at(&ground.owner, "drop trigger refuse on entities");
    reconcile(&ground);
    let counts = world.operator.get("/v1/admin/stats").await.ok(200)["graph"].clone();
    assert_eq!(counts, json!({"indexed": SEVERAL_BATCHES, "reconciled": 0, "removed": 0}));
    let errors = worker.errors();
    assert!(!errors.is_empty() && errors.iter().all(|error| error.contains("not now")), "{errors:?}");
}

#[tokio::test]
async fn backfill_reports_its_progress() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = world(&service).await;
    world.alice.create_all(&["a-base"]).await;
    world.alice.create(saying("c-top", "Requires a-base.")).await;
    let left = backfill(&ground, &["--no-wait"]);
    assert!(left.status.success(), "{}", said(&left));
    assert_eq!(said(&left), "remaining: skills of 1 users; waiting jobs: 1\n");
    // A second run adds no second job.
    assert_eq!(said(&backfill(&ground, &["--no-wait"])), said(&left));
    let _worker = ground.work(&[]);
    reconcile(&ground);
    assert_eq!(relations(&world.alice, "c-top").await, ["out requires a-base extracted"]);
}

/// Unchanged starters have no text of their own to read, so the reconciler must not find them again each minute.
#[tokio::test]
async fn unchanged_starters_are_not_indexed() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = World::at(&service, &service, json!({})).await;
    remember(&world.alice, "it helped", json!([{"name": "memory-systems", "kind": "skill"}])).await;
    assert_eq!(ground.count("entities where kind = 'skill' and read_by = 0"), 1);
    assert_eq!(said(&backfill(&ground, &["--no-wait"])), "all skills are in the graph\n");
}

const KILLS: usize = 3;

#[tokio::test]
async fn a_worker_killed_while_it_reads_makes_each_relation_once() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = world(&service).await;
    world.alice.create_all(&["a-base"]).await;
    // A trigger makes each write of a relation wait while this table has a row.
    execute_at(
        &ground.owner,
        "create table holds (); insert into holds default values; grant select on holds to knowhow_tenant;
         create function wait_while_held() returns trigger language plpgsql as $$
         begin
             while exists (select from public.holds) loop perform pg_sleep(0.02); end loop;
             return new;
         end $$;
         create trigger held before insert on relations for each row execute function wait_while_held()",
    );
    world.alice.create(saying("c-top", "Requires a-base, and works well with a-base.")).await;
    for _ in 0..KILLS {
        let mut worker = ground.work(&[("KNOWHOW_WORKER_CONCURRENCY", "1"), ("KNOWHOW_WORKER_RECOVERY_S", "1")]);
        poll("a relation that is being written", || {
            (ground.count("pg_stat_activity where wait_event = 'PgSleep'") > 0).then_some(())
        });
        worker.kill();
    }
    execute_at(&ground.owner, "delete from holds");
    let _worker = ground.work(&[("KNOWHOW_WORKER_RECOVERY_S", "1")]);
    ground.idle();
    let expected = ["both complements a-base extracted", "out requires a-base extracted"];
    assert_eq!(relations(&world.alice, "c-top").await, expected);
    let said: Value = world.alice.get("/v1/skills/c-top/relations").await.ok(200)["items"].clone();
    assert!(said.as_array().unwrap().iter().all(|one| one["mentions"] == 1), "{said}");
    // The entity of the new skill exists once, too.
    assert_eq!(pluck(&world.alice.get("/v1/entities?kind=skill").await.ok(200)["items"], "name").len(), 2);
    world.alice.create(skill("later")).await;
    assert_eq!(world.alice.get("/v1/skills").await.ok(200)["items"].as_array().unwrap().len(), 3);
    assert_eq!(json!(relations(&world.alice, "later").await), json!([]));
}
