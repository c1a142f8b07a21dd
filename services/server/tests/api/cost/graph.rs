//! Time that the reconciler needs to index a large library for the graph.

use std::time::Instant;

use serde_json::json;

use super::recall::fill;
use crate::callers::World;
use crate::service::knowhow;
use crate::sql::execute_at;
use crate::worker::Ground;

const SKILLS: usize = 10_000;

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn the_reconciler_reads_a_large_library_once() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    // Enrichment is off, because it also reads the relations of a skill, which would not count as a repair.
    let world = World::at(&service, &service, json!({"starter_skills": false, "enrich": false})).await;
    fill(&world.alice, SKILLS, 20).await;
    execute_at(&ground.owner, "delete from graphile_worker._private_jobs; delete from entities");
    execute_at(&ground.owner, "update user_catalogs set related_rules = 0");
    let counts = async || world.operator.get("/v1/admin/stats").await.ok(200)["graph"].clone();
    let backfill = || {
        let began = Instant::now();
        let output = knowhow(&["backfill"]).env("KNOWHOW_DATABASE_URL", ground.login()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        began.elapsed()
    };
    let _worker = ground.work(&[]);
    println!("{SKILLS} skills read for the graph, 50 at a time: {:?}", backfill());
    println!("a second run: {:?}", backfill());
    assert_eq!(counts().await, json!({"indexed": SKILLS, "reconciled": 0, "removed": 0}));
}
