//! The chain of the audit log: a change of sealed entries in the database is detected.

use serde_json::Value;

use crate::callers::World;
use crate::service::{Service, poll_async, run};
use crate::sql::execute;

/// Returns the report on the tenant's audit log, and whether the log is intact.
fn verify(slug: &str) -> (Value, bool) {
    let output = run(&["audit", "verify", "--tenant", slug, "--json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    (serde_json::from_str(said.lines().next().unwrap()).unwrap(), output.status.success())
}

fn finding(slug: &str) -> String {
    let (said, is_well) = verify(slug);
    assert!(!is_well, "{said}");
    assert_eq!(said["broken"]["seal"], 1, "{said}");
    said["broken"]["finding"].as_str().unwrap().to_owned()
}

/// Adds entries that are two hours old, so that they can be sealed.
fn add_old_entries(slug: &str, user: &str) {
    execute(&format!(
        "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
         select t.tenant_id, '{user}', {}, now() - interval '2 hours', 'user:{user}', 'skill.save', 'plan-' || n,
                jsonb_build_object('n', n)
         from tenants t, generate_series(1, 30) n where t.slug = '{slug}'",
        old_id("n")
    ));
}

fn old_id(n: &str) -> String {
    format!(
        "(lpad(to_hex((extract(epoch from now() - interval '2 hours') * 1000)::bigint), 12, '0') || '70008000'
          || lpad(({n})::text, 12, '0'))::uuid"
    )
}

#[tokio::test]
async fn a_changed_or_removed_entry_is_detected() {
    let world = World::new().await;
    let World { alice, admin, slug, .. } = &world;
    assert!(alice.names().await.is_empty());
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].as_str().unwrap().to_owned();
    add_old_entries(slug, &user);
    let (before, is_well) = verify(slug);
    assert!(is_well && before["seals"] == 0 && before["lags"] == true, "{before}");
    let worker = Service::work(&[]);
    let sealed = poll_async("the entries to be sealed", async || {
        execute("select graphile_worker.add_job('seal_audit', '{}')");
        let (said, is_well) = verify(slug);
        (is_well && said["seals"] == 1).then_some(said)
    });
    let sealed = sealed.await;
    assert!(sealed["entries"] == 30 && sealed["lags"] == false && sealed["unvouched"] == 0, "{sealed}");
    assert_eq!(sealed["head"].as_str().unwrap().len(), 64);

    let tenant = format!("tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    let one = format!("{tenant} and target = 'plan-7'");
    for (change, back, found) in [
        ("actor = 'user:somebody'", format!("actor = 'user:{user}'"), "an entry was changed"),
        ("detail = '{\"n\": 8}'", "detail = '{\"n\": 7}'".to_owned(), "an entry was changed"),
        ("at = at + interval '1 second'", "at = at - interval '1 second'".to_owned(), "an entry was changed"),
    ] {
        assert_eq!(execute(&format!("update audit_log set {change} where {one}")), 1);
        assert_eq!(finding(slug), found, "{change}");
        execute(&format!("update audit_log set {back} where {one}"));
        assert!(verify(slug).1, "{back}");
    }
    // Content may be removed only from entries of erased users.
    let take = "erased_digest = app.content_of_entry(audit_log), target = '', detail = '{}', salt = null";
    execute(&format!(
        "begin; create temporary table kept on commit preserve rows as select * from audit_log where {one}; commit"
    ));
    execute(&format!("update audit_log set {take} where {one}"));
    assert!(finding(slug).contains("was not erased"));
    execute(&format!(
        "update audit_log set erased_digest = null, target = 'plan-7', detail = '{{\"n\": 7}}' where {tenant} and erased_digest is not null"
    ));
    assert_eq!(finding(slug), "an entry was changed", "its salt is gone for good");
    assert_eq!(execute(&format!("delete from audit_log where {one}")), 1);
    assert_eq!(finding(slug), "entries were removed");
    drop(worker);
}

#[tokio::test]
async fn changed_seals_are_detected_and_erasures_break_no_seal() {
    let world = World::new().await;
    let World { alice, admin, slug, .. } = &world;
    assert!(alice.names().await.is_empty());
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].as_str().unwrap().to_owned();
    add_old_entries(slug, &user);
    let _worker = Service::work(&[]);
    poll_async("the entries to be sealed", async || {
        execute("select graphile_worker.add_job('seal_audit', '{}')");
        (verify(slug).0["seals"] == 1).then_some(())
    })
    .await;
    admin.delete("/v1/admin/users/alice?reason=asked%20for%20by%20the%20user").await.ok(202);
    poll_async("the erasure to end", async || {
        let page = admin.get("/v1/admin/erasures").await.ok(200);
        page["items"][0]["finished_at"].is_string().then_some(())
    })
    .await;
    let (said, is_well) = verify(slug);
    assert!(is_well && said["entries"] == 30, "{said}");

    let tenant = format!("tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    let entry = format!(
        "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
         select tenant_id, '{user}', (left(min(audit_id::text), 34) || '1f')::uuid, now(), 'user:x', 'skill.save', 'x'
         from audit_log where {tenant} and action = 'skill.save' group by tenant_id"
    );
    execute(&entry);
    assert_eq!(finding(slug), "entries were added");
    execute(&format!("delete from audit_log where {tenant} and actor = 'user:x'"));
    assert!(verify(slug).1);
    // Verification detects new content in an erased entry.
    let erased = format!("{tenant} and erased_digest is not null and action = 'skill.save'");
    assert_eq!(execute(&format!("update audit_log set target = 'forged' where {erased}")), 30);
    assert!(finding(slug).contains("was not erased"));
    execute(&format!("update audit_log set target = '' where {erased}"));
    assert!(verify(slug).1);
    // Verification detects a changed number of entries or a changed time of a seal.
    for (change, back) in [
        ("entries = entries - 1", "entries = entries + 1"),
        ("first_at = first_at - interval '1000 days'", "first_at = first_at + interval '1000 days'"),
    ] {
        execute(&format!("update audit_seals set {change} where {tenant}"));
        assert_eq!(finding(slug), "the seal was changed", "{change}");
        execute(&format!("update audit_seals set {back} where {tenant}"));
    }
    assert!(verify(slug).1);
    execute(&format!("update audit_seals set mac = sha256('forged') where {tenant}"));
    assert_eq!(finding(slug), "the seal was not made by this deployment");
}
