//! The audit log, filtered by actor, action, target and time, and exported as lines.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::sql;

async fn actions(admin: &Caller, query: &str) -> Vec<String> {
    pluck(&admin.get(&format!("/v1/admin/audit?limit=200&{query}")).await.ok(200)["items"], "action")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn entries_are_filtered_by_actor_action_target_and_time() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, .. } = &world;
    let backend = world.backend().await;
    alice.create_all(&["plan", "work"]).await;
    bob.create_all(&["plan"]).await;
    backend.acting_for("alice").create_all(&["from-key"]).await;
    alice.replace("plan", "First", "Last").await.ok(200);
    elsewhere.alice.create_all(&["plan"]).await;

    assert_eq!(actions(admin, "actor=user:alice&action=skill.*").await, ["skill.patch", "skill.save", "skill.save"]);
    // A name without a prefix also matches API keys that acted for the user.
    assert_eq!(actions(admin, "actor=alice&action=skill.save").await.len(), 3);
    assert_eq!(actions(admin, "actor=user:bob&action=skill.save").await, ["skill.save"]);
    assert_eq!(actions(admin, "target=plan").await, ["skill.patch", "skill.save", "skill.save"]);
    assert_eq!(actions(admin, "target=plan&user=bob").await, ["skill.save"]);
    assert_eq!(actions(admin, "target=alice&action=user.create").await, ["user.create"]);
    for nothing in ["actor=user:carol", "action=skill", "action=nothing*", "target=pla", "user=carol&action=skill.save"]
    {
        assert_eq!(actions(admin, nothing).await, [""; 0], "{nothing}");
    }
    let patch = &admin.get("/v1/admin/audit?action=skill.patch").await.ok(200)["items"][0];
    let at = patch["at"].as_str().unwrap().replace('+', "%2B");
    assert_eq!(actions(admin, &format!("since={at}&actor=user:alice")).await, ["skill.patch"]);
    assert_eq!(
        actions(admin, &format!("until={at}&actor=user:alice&action=skill.*")).await,
        ["skill.save", "skill.save"]
    );
    assert_eq!(actions(admin, "since=2099-01-01T00:00:00Z").await, [""; 0]);
    for bad in [
        "since=yesterday",
        "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "format=csv",
        "actor=%00",
        &format!("action={}", "a".repeat(65)),
        "since=1900-01-01T00:00:00Z",
        "actr=alice",
    ] {
        admin.get(&format!("/v1/admin/audit?{bad}")).await.refused(400, "malformed");
    }
    alice.get("/v1/admin/audit?actor=alice&format=jsonl").await.refused(403, "forbidden");
    assert_eq!(actions(&elsewhere.admin, "actor=alice&action=skill.*").await, ["skill.save"]);
}

/// The log is longer than one piece of a read. Pages and exports continue in the next piece.
#[tokio::test]
async fn a_long_log_is_exported_whole_and_read_in_pieces() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, admin, operator, slug, .. } = &world;
    alice.create_all(&["plan"]).await;
    elsewhere.alice.create_all(&["theirs"]).await;
    // Inserts 12,000 entries, one per millisecond from an hour ago on. Their ids are UUIDs of version 7 in the same
    // order.
    let made = sql::execute(&format!(
        "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
         select t.tenant_id, u.user_id, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 3600000 + n), 12, '0')
                || '7000a' || substr(md5(n::text), 1, 15))::uuid, now() - interval '1 hour' + n * interval '1 millisecond', 'user:' || u.user_id,
                case when n % 1000 = 0 then 'test.rare' else 'test.often' end, 'thing ' || n
         from tenants t join users u on u.tenant_id = t.tenant_id and u.external_id = 'alice', generate_series(1, 12000) n
         where t.slug = '{slug}'"
    ));
    assert_eq!(made, 12_000);
    let (mut query, mut found, mut pages) = ("action=test.rare".to_owned(), Vec::new(), 0);
    loop {
        let page = admin.get(&format!("/v1/admin/audit?limit=5&{query}")).await.ok(200);
        found.extend(pluck(&page["items"], "target"));
        pages += 1;
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("action=test.rare&cursor={cursor}");
    }
    let expected: Vec<String> = (1..=12).rev().map(|n| format!("thing {}", n * 1000)).collect();
    assert_eq!(found, expected);
    assert!(pages >= 3, "{pages}");

    let answer = admin.get("/v1/admin/audit?format=jsonl").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/jsonl"));
    let all = lines(&answer.text());
    assert!(all.len() > 12_000, "{}", all.len());
    assert!(all.iter().all(|entry| entry["tenant"] == json!(slug)) && !answer.text().contains("theirs"));
    let ids = pluck(&json!(all), "id");
    assert!(ids.is_sorted_by(|first, second| first > second), "newest first, each once");
    let rare = admin.get("/v1/admin/audit?format=jsonl&action=test.rare&actor=alice").await;
    assert_eq!(pluck(&json!(lines(&rare.text())), "target"), expected);
    // An export makes one audit entry, however long it is.
    assert_eq!(actions(admin, "action=audit.export").await.len(), 2);
    let by_operator = operator.get(&format!("/v1/admin/audit?format=jsonl&tenant={slug}&action=test.rare")).await;
    assert_eq!(lines(&by_operator.text()).len(), 12);
    assert_eq!(lines(&admin.get("/v1/admin/audit?format=jsonl&action=none").await.text()), Vec::<Value>::new());
}
