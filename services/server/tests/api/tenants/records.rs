//! The audit log, and deleted skills that an admin restores.

use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{World, skill};

#[tokio::test]
async fn every_change_makes_an_audit_entry_without_content() {
    let world = World::new().await;
    let World { alice, bob, admin, operator, slug, .. } = &world;
    let mut secret = skill("plan");
    secret["content"] = json!("# the-content-itself\n");
    alice.create(secret).await;
    alice.replace("plan", "the-content", "their-content").await.ok(200);
    alice.delete("/v1/skills/plan").await.empty(204);
    bob.create_all(&["other"]).await;
    let page = admin.get("/v1/admin/audit?user=alice").await.ok(200);
    assert_eq!(pluck(&page["items"], "action"), ["skill.delete", "skill.patch", "skill.save", "user.create"]);
    let entry = &page["items"][0];
    let expected =
        ["action", "actor", "address", "at", "before", "detail", "id", "request_id", "target", "tenant", "user"];
    assert_eq!(members(entry), expected);
    assert_eq!(
        (&entry["actor"], &entry["target"], &entry["user"]),
        (&json!("user:alice"), &json!("plan"), &json!("alice"))
    );
    assert!(!page.to_string().contains("content-itself"));
    let all = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    assert!(pluck(&all["items"], "action").contains(&"tenant.create".to_owned()));
    assert!(pluck(&all["items"], "action").contains(&"issuer.create".to_owned()));
    // Reading the audit log makes an entry too.
    let his = operator.get(&format!("/v1/admin/audit?limit=200&tenant={slug}")).await.ok(200);
    let ids = |page: &Value| pluck(&page["items"], "id");
    assert!(his["items"][0]["action"] == "audit.read" && ids(&his)[1..] == ids(&all), "{his}");
    let mut seen = Vec::new();
    let last = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    let mut path = "/v1/admin/audit?limit=2".to_owned();
    loop {
        let page = admin.get(&path).await.ok(200);
        seen.extend(pluck(&page["items"], "id"));
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/admin/audit?limit=2&cursor={next}");
    }
    assert_eq!(seen[1..], ids(&last));
    alice.get("/v1/admin/audit").await.refused(403, "forbidden");
    for bad in ["user=%00", "user=", "cursor=x", "limit=0"] {
        admin.get(&format!("/v1/admin/audit?{bad}")).await.refused(400, "malformed");
    }
    assert!(admin.get("/v1/admin/audit?user=nobody").await.ok(200)["items"].as_array().unwrap().is_empty());
}

/// Acceptance case 5: an admin restores a deleted skill with all its versions and files.
#[tokio::test]
async fn a_deleted_skill_is_restored_with_its_history() {
    let world = World::new().await;
    let World { alice, bob, admin, slug, .. } = &world;
    let id = alice.create(skill("plan")).await["id"].clone();
    alice.replace("plan", "First", "Last").await.ok(200);
    alice.send(reqwest::Method::PUT, "/v1/skills/plan/resources/references/a.md").body("a/b", "alpha").await.ok(200);
    let before = alice.get("/v1/skills/plan/SKILL.md").await.body;
    alice.delete("/v1/skills/plan").await.empty(204);
    bob.create_all(&["plan"]).await;
    let page = admin.get("/v1/admin/archive").await.ok(200);
    let entry = &page["items"][0];
    let expected =
        ["absorbed_into", "deleted_at", "deleted_by", "id", "name", "purge_at", "tenant", "user", "versions"];
    assert_eq!(members(entry), expected);
    assert_eq!((&entry["user"], &entry["name"], &entry["versions"]), (&json!("alice"), &json!("plan"), &json!(3)));
    assert!(admin.get("/v1/admin/archive?user=bob").await.ok(200)["items"].as_array().unwrap().is_empty());
    let restore = format!("/v1/admin/archive/{}/restore", entry["id"].as_str().unwrap());
    for reason in ["", "  ", "a\0b", &"r".repeat(501)] {
        admin.post(&restore, json!({"reason": reason})).await.invalid("/reason", "");
    }
    admin.post(&restore, json!({})).await.refused(422, "invalid");
    alice.post(&restore, json!({"reason": "mine"})).await.refused(403, "forbidden");
    World::new().await.admin.post(&restore, json!({"reason": "foreign"})).await.refused(404, "not-found");
    let restored = admin.post(&restore, json!({"reason": "by mistake"})).await.ok(200);
    assert_eq!(restored, json!({"name": "plan", "tenant": slug}));
    admin.post(&restore, json!({"reason": "again"})).await.refused(404, "not-found");
    let back = alice.peek("plan").await;
    assert_eq!((&back["id"], &back["version"]), (&id, &json!(3)));
    assert_eq!(alice.get("/v1/skills/plan/SKILL.md").await.body, before);
    assert_eq!(alice.get("/v1/skills/plan/resources/references/a.md").await.text(), "alpha");
    assert_eq!(pluck(&alice.get("/v1/skills/plan/versions").await.ok(200)["items"], "version"), ["3", "2", "1"]);
    let entry = &admin.get("/v1/admin/audit?limit=1").await.ok(200)["items"][0];
    assert_eq!((&entry["action"], &entry["detail"]["reason"]), (&json!("skill.restore"), &json!("by mistake")));
    assert_eq!(admin.get("/v1/admin/users/alice").await.ok(200)["skill_count"], 1);
}

#[tokio::test]
async fn a_restore_does_not_overwrite_a_new_skill_of_that_name() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    alice.delete("/v1/skills/plan").await.empty(204);
    alice.create_all(&["plan"]).await;
    let archive = admin.get("/v1/admin/archive").await.ok(200);
    let restore = format!("/v1/admin/archive/{}/restore", archive["items"][0]["id"].as_str().unwrap());
    admin.post(&restore, json!({"reason": "r"})).await.refused(409, "name-taken");
    alice.delete("/v1/skills/plan").await.empty(204);
    admin.post(&restore, json!({"reason": "r"})).await.ok(200);
    admin.post("/v1/admin/archive/x/restore", json!({"reason": "r"})).await.refused(400, "malformed");
}

#[tokio::test]
async fn an_absorbed_skill_has_its_own_name_again_once_restored() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create_all(&["old", "new"]).await;
    alice.delete("/v1/skills/old").json(&json!({"absorbed_into": "new"})).await.empty(204);
    let archive = admin.get("/v1/admin/archive").await.ok(200);
    assert_eq!(archive["items"][0]["absorbed_into"], "new");
    let restore = format!("/v1/admin/archive/{}/restore", archive["items"][0]["id"].as_str().unwrap());
    admin.post(&restore, json!({"reason": "r"})).await.ok(200);
    let loaded = alice.get("/v1/skills/old").await.ok(200);
    assert_eq!((&loaded["name"], &loaded["moved_from"]), (&json!("old"), &Value::Null));
}

#[tokio::test]
async fn a_tenant_without_an_archive_keeps_no_deleted_skill() {
    let world = World::with(json!({"starter_skills": false, "archive_days": 0})).await;
    world.alice.create_all(&["plan"]).await;
    world.alice.delete("/v1/skills/plan").await.empty(204);
    assert!(world.admin.get("/v1/admin/archive").await.ok(200)["items"].as_array().unwrap().is_empty());
}
