//! Cost of deleting a skill with a longer history than any tenant's setting allows now.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::callers::{World, skill};
use crate::sql;

/// Number of versions of the skill, and of files in each version.
const LONG: (i32, i32) = (20_000, 64);

/// Gives the tenant's only skill a long history, in which each version has one file that no other version has.
fn age(slug: &str) {
    let (versions, files) = LONG;
    let of_tenant = format!("s.tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    let digest = "sha256(convert_to(n::text, 'UTF8'))";
    sql::execute(&format!(
        "insert into skill_resources (tenant_id, user_id, digest, content)
         select s.tenant_id, s.user_id, {digest}, convert_to(n::text, 'UTF8')
         from skills s, generate_series(1, {versions} + {files} - 1) n where {of_tenant} on conflict do nothing"
    ));
    sql::execute(&format!(
        "insert into skill_files (tenant_id, user_id, skill_id, digest, last_version)
         select s.tenant_id, s.user_id, s.skill_id, {digest}, case when n >= {versions} then 2147483647 else n end
         from skills s, generate_series(1, {versions} + {files} - 1) n where {of_tenant}"
    ));
    // Inserts in portions, because a statement of a test may run for half a minute.
    for from in (2..=versions).step_by(2_000) {
        let to = versions.min(from + 1_999);
        sql::execute(&format!(
            "insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, document_digest,
                 document_bytes, resources, created_at)
             select s.tenant_id, s.user_id, s.skill_id, v, 'save', 'test', s.digest, s.document_digest, s.document_bytes,
                    (select jsonb_agg(jsonb_build_object('path', 'a/' || n, 'media_type', 'text/plain', 'size', 5,
                                                         'digest', encode({digest}, 'hex')))
                     from generate_series(v, v + {files} - 1) n), now()
             from skills s, generate_series({from}, {to}) v where {of_tenant}"
        ));
    }
    sql::execute(&format!("update skills s set version = {versions} where {of_tenant}"));
    // Updates the statistics of the planner, which rows collected over years would have.
    for table in ["skill_versions", "skill_files", "skill_resources"] {
        sql::execute(&format!("analyze {table}"));
    }
    sql::execute(&format!(
        "update user_catalogs s set stored_bytes =
             (select sum(bytes) from skill_resources r where r.user_id = s.user_id)
             + (select sum(bytes) from skill_versions v where v.user_id = s.user_id)
         where {of_tenant} and skill_count = 1"
    ));
}

#[tokio::test]
#[ignore = "slow: make test-cost"]
async fn a_skill_of_20_000_versions_is_deleted_in_short_steps() {
    let World { alice, slug, .. } = &World::with(json!({
        "starter_skills": false, "archive_days": 0, "versions_per_skill": 10_000, "stored_bytes_per_user": 1_u64 << 40,
    }))
    .await;
    alice.create(skill("long")).await;
    age(slug);
    let began = Instant::now();
    alice.delete("/v1/skills/long").await.empty(204);
    let deleted = began.elapsed();
    alice.get("/v1/skills/long").await.refused(404, "not-found");
    alice.get("/v1/skills/long/versions").await.refused(404, "not-found");
    let left =
        format!("select from skill_versions where tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    assert_eq!(sql::execute(&left), 19_900);
    // Runs the steps of the job, each in a transaction.
    let (mut steps, mut longest, began) = (0, Duration::ZERO, Instant::now());
    let entry = left.replace("skill_versions", "archived_skills");
    while sql::execute(&entry) > 0 {
        let step = Instant::now();
        sql::execute(&format!(
            "select app.clear_deleted(tenant_id, user_id, now(), 100) from users
             where external_id = 'alice' and tenant_id = (select tenant_id from tenants where slug = '{slug}')"
        ));
        longest = longest.max(step.elapsed());
        steps += 1;
    }
    println!("deleted after {deleted:?}; {steps} steps, the longest {longest:?}, all {:?}", began.elapsed());
    assert!(deleted < Duration::from_secs(2) && longest < Duration::from_secs(2));
    let stored = "user_catalogs c join tenants t using (tenant_id) where stored_bytes <> 0";
    assert_eq!(sql::execute(&format!("select from {stored} and t.slug = '{slug}'")), 0);
}
